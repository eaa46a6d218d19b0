import DownloadCore
import HTTPTypes

/// Finds what a server sends after the `Content-Length` of a 200 over HTTP/1: libcurl drops it, or leaves it unread,
/// and calls the body complete. A 206 says its length twice and needs none of this.
///
/// Nothing tells how long to wait for bytes that should not come. A number that is too small ends somewhere within what
/// a server writes at once, so a look when the last byte is here finds most; large bodies, where that look costs
/// nothing, and empty ones, whose head may have been written alone, get a second one a little later. CR and LF alone
/// are not counted: scripts that end in a blank line send them after files that are whole.
struct BodyOverrun {
    private let announced: Int64
    /// The connection ends with the answer: libcurl closes it at once.
    private let closes: Bool
    /// Of the body, by libcurl.
    private var read: Int64 = 0
    private var hasStrayLineEnd = false
    private var looks = 0
    private(set) var isFound = false

    /// In ms, before the second look.
    static let patience: Int64 = 10
    /// In ms: where libcurl closes a connection without asking anybody, its end comes at once, or what should not come.
    private static let blockingPatience: Int32 = 2
    /// A body beyond this is large.
    private static let large: Int64 = 256 << 10

    /// Nil where the answer does not end with its `Content-Length`, or comes from dlm itself.
    init?(_ head: ResponseHead, _ request: TransferRequest) {
        guard head.status == 200, !head.isDecoded, head.httpVersion.hasPrefix("1"), request.method != .head,
            request.unixSocket == nil,
            let length = ResponseJudge.contentLength(head)
        else { return nil }
        announced = length
        closes = head.httpVersion == "1.0" || head.fields.value(.connection)?.lowercased() == "close"
    }

    var isEmpty: Bool { announced == 0 }

    /// What one read of libcurl brought of the body, and beyond it: the first one may have begun with the head.
    mutating func note(read bytes: UnsafeRawBufferPointer) {
        read += Int64(bytes.count)
        if read > announced { judge(bytes.suffix(Int(clamping: read - announced))) }
    }

    /// What libcurl says: of a body of no bytes it shows none of those that it drops.
    mutating func note(text: UnsafeRawBufferPointer) {
        if text.starts(with: Self.libcurlsWords), !hasStrayLineEnd { isFound = true }
    }

    private static let libcurlsWords = Array("Excess found".utf8)

    /// libcurl has delivered so many bytes of the body. True: look again, with the same number, after `patience`.
    /// - Parameter unread: the first bytes on the connection that libcurl has not read, waited for so many ms.
    mutating func look(behind delivered: Int64, unread: (Int32) -> [UInt8]) -> Bool {
        guard delivered == announced, !isFound, !hasStrayLineEnd else { return false }
        looks += 1
        judge(unread(isEmpty && closes ? Self.blockingPatience : 0))
        return looks == 1 && !isFound && !hasStrayLineEnd && (announced > Self.large || isEmpty && !closes)
    }

    /// The whole body was delivered, and the connection holds what comes after it.
    func isOver(behind delivered: Int64) -> Bool { delivered == announced && (isFound || hasStrayLineEnd) }

    private mutating func judge(_ excess: some Collection<UInt8>) {
        if excess.isEmpty { return }
        let isLineEnd = excess.allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        if isLineEnd { hasStrayLineEnd = true } else { isFound = true }
    }
}
