import DownloadCore
import HTTPTypes

/// A check for bytes that a server sends after the `Content-Length` of a 200 over HTTP/1. libcurl drops these bytes,
/// or leaves them unread, and calls the body complete. A 206 needs no such check, because it states its length in
/// `Content-Range` too.
///
/// A message ends at its `Content-Length` (RFC 9112 section 6.3), so dlm never waits for more bytes. The check counts
/// only bytes that are here when the last byte of the body has come. These are the bytes that libcurl read together
/// with the body, the rest of the same TLS record, and the bytes that wait on the connection. If the `Content-Length`
/// is too small, the server usually writes the rest together with the last counted bytes, so the excess is found.
/// Bytes that arrive later are not found.
///
/// CR and LF alone do not count, because scripts that end in a blank line send them after files that are whole.
struct BodyOverrun {
    private let announced: Int64
    /// The number of bytes that libcurl has read of the body and after the body.
    private var read: Int64 = 0
    private var hasStrayLineEnd = false
    private(set) var isFound = false

    /// Returns nil if the end of the response need not be checked, or cannot be checked. A response through a Unix
    /// socket comes from another dlm process and need not be checked.
    init?(_ head: borrowing ResponseHead, _ request: borrowing TransferRequest) {
        guard head.status == 200, !head.isDecoded, head.httpVersion.hasPrefix("1"), request.method != .head,
            request.options.unixSocket == nil, let length = ResponseJudge.contentLength(head)
        else { return nil }
        announced = length
    }

    var isEmpty: Bool { announced == 0 }

    /// Records the bytes of one read by libcurl that belong to the body or come after the body. The first read may
    /// have begun with the head, which is not part of `bytes`.
    mutating func note(read bytes: UnsafeRawBufferPointer) {
        read += Int64(bytes.count)
        if read > announced { judge(bytes.suffix(Int(clamping: read - announced))) }
    }

    /// Records a message of libcurl. For an empty body, the message is the only sign of the bytes that libcurl drops.
    mutating func note(text: UnsafeRawBufferPointer) {
        if text.starts(with: Self.libcurlsWords), !hasStrayLineEnd { isFound = true }
    }

    private static let libcurlsWords = Array("Excess found".utf8)

    /// Checks the connection when the whole body has been delivered.
    /// - Parameter unread: returns the first bytes on the connection that libcurl has not read, without waiting.
    mutating func look(behind delivered: Int64, unread: () -> [UInt8]) {
        guard delivered == announced, !isFound, !hasStrayLineEnd else { return }
        judge(unread())
    }

    /// Returns whether the whole body was delivered and bytes after the body are known.
    func isOver(behind delivered: Int64) -> Bool { delivered == announced && (isFound || hasStrayLineEnd) }

    private mutating func judge(_ excess: some Collection<UInt8>) {
        if excess.isEmpty { return }
        let isLineEnd = excess.allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        if isLineEnd { hasStrayLineEnd = true } else { isFound = true }
    }
}
