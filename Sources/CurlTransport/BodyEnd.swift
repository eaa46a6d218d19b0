import DownloadCore
import HTTPTypes

/// The checks of where a response's body ends: whether bytes follow the body, and whether the end of its TLS connection
/// is the end of the body.
struct BodyEnd {
    /// The check for bytes after the body; nil if there is none.
    var overrun: BodyOverrun?
    /// Whether the server has closed the TLS session with close_notify; nil unless the body ends only with its TLS
    /// connection.
    private var isTLSClosed: Bool?
    /// Whether the connection is encrypted. Set only if there is a check for bytes after the body.
    var isSecure = false

    init() {}

    init(_ head: borrowing ResponseHead, _ request: borrowing TransferRequest) {
        if Self.endsWithTLS(head, request) { isTLSClosed = false }
        overrun = BodyOverrun(head, request)
    }

    /// Returns whether the body ends only with its TLS connection. Then only close_notify distinguishes the end of
    /// the body from a connection that was cut (RFC 9112 section 9.8).
    private static func endsWithTLS(_ head: borrowing ResponseHead, _ request: borrowing TransferRequest) -> Bool {
        guard request.url.scheme == "https", request.method != .head, head.httpVersion.hasPrefix("1") else {
            return false
        }
        let isChunked = head.fields.value(.transferEncoding)?.lowercased().contains("chunked") ?? false
        return !isChunked && ResponseJudge.contentLength(head) == nil
    }

    var watchesTLSEnd: Bool { isTLSClosed != nil }
    var watchesNothing: Bool { overrun == nil && isTLSClosed == nil }

    /// Whether the connection ended without close_notify, so that the body may be cut short. libcurl before 8.15 takes
    /// any end of the connection for the end of the body.
    var isCutShort: Bool { isTLSClosed == false }

    /// Checks for bytes that follow the body. Does nothing before the whole body was delivered.
    mutating func look(behind delivered: Int64, _ easy: EasyHandle, _ socket: Int32?) {
        let isSecure = isSecure
        overrun?.look(behind: delivered) { easy.unread(socket, isSecure: isSecure) }
    }

    /// Records, after a read, whether the TLS session is closed.
    mutating func noteRead(_ easy: EasyHandle) {
        if isTLSClosed != nil { isTLSClosed = easy.tlsWasClosed }
    }
}
