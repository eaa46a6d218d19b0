/// A fault at some point of a reply over HTTP/2.
package struct HTTP2Fault: Sendable {
    /// The number of bytes of the body before the fault; nil for a fault before the head.
    package var after: Int64?
    /// Returns the frames to send at that point, for the stream of the reply.
    package var frames: @Sendable (_ stream: UInt32) -> [HTTP2Frame]
    package var then: Sequel

    package enum Sequel: Sendable {
        /// The reply continues normally.
        case goesOn
        /// Nothing more is sent for this stream.
        case streamEnds
        /// The connection ends, with all its streams.
        case connectionEnds
    }

    package init(
        after: Int64?, then: Sequel, _ frames: @escaping @Sendable (_ stream: UInt32) -> [HTTP2Frame] = { _ in [] }
    ) {
        self.after = after
        self.frames = frames
        self.then = then
    }

    /// Returns an RST_STREAM.
    package static func reset(_ code: HTTP2ErrorCode, after: Int64?) -> HTTP2Fault {
        HTTP2Fault(after: after, then: .streamEnds) { [.reset(code, stream: $0)] }
    }

    /// Returns a GOAWAY that excludes the stream of the reply.
    package static func goAwayBelow(_ code: HTTP2ErrorCode, after: Int64?, then: Sequel) -> HTTP2Fault {
        HTTP2Fault(after: after, then: then) { [.goAway(code, lastStream: max(2, $0) - 2)] }
    }

    /// Returns a GOAWAY that lets running streams end normally.
    package static func goAwayGracefully(after: Int64?, then: Sequel = .goesOn) -> HTTP2Fault {
        HTTP2Fault(after: after, then: then) { _ in [.goAway(.noError, lastStream: 0x7FFF_FFFF)] }
    }

    /// Returns an END_STREAM.
    package static func endStream(after: Int64) -> HTTP2Fault {
        HTTP2Fault(after: after, then: .streamEnds) { [.data([], stream: $0, ends: true)] }
    }
}
