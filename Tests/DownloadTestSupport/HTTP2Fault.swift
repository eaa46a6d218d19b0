/// What a server does to a reply over HTTP/2 at some point of it.
package struct HTTP2Fault: Sendable {
    /// Bytes of the body before it; nil: before the head.
    package var after: Int64?
    /// Sent then, for the stream of the reply.
    package var frames: @Sendable (_ stream: UInt32) -> [HTTP2Frame]
    package var then: Sequel

    package enum Sequel: Sendable {
        /// The reply goes on as if nothing had been.
        case goesOn
        /// Nothing more for this stream.
        case streamEnds
        /// The end of the connection, with all that runs on it.
        case connectionEnds
    }

    package init(
        after: Int64?, then: Sequel, _ frames: @escaping @Sendable (_ stream: UInt32) -> [HTTP2Frame] = { _ in [] }
    ) {
        self.after = after
        self.frames = frames
        self.then = then
    }

    /// RST_STREAM.
    package static func reset(_ code: HTTP2ErrorCode, after: Int64?) -> HTTP2Fault {
        HTTP2Fault(after: after, then: .streamEnds) { [.reset(code, stream: $0)] }
    }

    /// GOAWAY that excludes the stream of the reply.
    package static func goAwayBelow(_ code: HTTP2ErrorCode, after: Int64?, then: Sequel) -> HTTP2Fault {
        HTTP2Fault(after: after, then: then) { [.goAway(code, lastStream: max(2, $0) - 2)] }
    }

    /// GOAWAY that lets what runs come to its end.
    package static func goAwayGracefully(after: Int64?, then: Sequel = .goesOn) -> HTTP2Fault {
        HTTP2Fault(after: after, then: then) { _ in [.goAway(.noError, lastStream: 0x7FFF_FFFF)] }
    }

    /// END_STREAM.
    package static func endStream(after: Int64) -> HTTP2Fault {
        HTTP2Fault(after: after, then: .streamEnds) { [.data([], stream: $0, ends: true)] }
    }
}
