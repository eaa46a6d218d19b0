/// What a server does to a reply over HTTP/2 at one point of the reply.
package struct HTTP2Fault: Sendable {
    /// The number of bytes of the body that are sent before the fault. Nil means that the fault comes before the head.
    package var after: Int64?
    /// The frames that are sent at the fault, for the stream of the reply.
    package var frames: @Sendable (_ stream: UInt32) -> [HTTP2Frame]
    package var then: Sequel

    package enum Sequel: Sendable {
        /// The reply continues as if nothing had happened.
        case goesOn
        /// The server sends nothing more for this stream.
        case streamEnds
        /// The server ends the connection, with all other streams on it.
        case connectionEnds
    }

    package init(
        after: Int64?, then: Sequel, _ frames: @escaping @Sendable (_ stream: UInt32) -> [HTTP2Frame] = { _ in [] }
    ) {
        self.after = after
        self.frames = frames
        self.then = then
    }

    /// Resets the stream of the reply (RST_STREAM).
    package static func reset(_ code: HTTP2ErrorCode, after: Int64?) -> HTTP2Fault {
        HTTP2Fault(after: after, then: .streamEnds) { [.reset(code, stream: $0)] }
    }

    /// Sends a GOAWAY that excludes the stream of the reply.
    package static func goAwayBelow(_ code: HTTP2ErrorCode, after: Int64?, then: Sequel) -> HTTP2Fault {
        HTTP2Fault(after: after, then: then) { [.goAway(code, lastStream: max(2, $0) - 2)] }
    }

    /// Sends a GOAWAY that lets the running streams finish.
    package static func goAwayGracefully(after: Int64?, then: Sequel = .goesOn) -> HTTP2Fault {
        HTTP2Fault(after: after, then: then) { _ in [.goAway(.noError, lastStream: 0x7FFF_FFFF)] }
    }

    /// Ends the stream of the reply early (END_STREAM).
    package static func endStream(after: Int64) -> HTTP2Fault {
        HTTP2Fault(after: after, then: .streamEnds) { [.data([], stream: $0, ends: true)] }
    }
}
