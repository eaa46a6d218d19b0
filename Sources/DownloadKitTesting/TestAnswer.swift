import DownloadCore
import Foundation
import HTTPTypes

/// A request that a session made to a transport of ``SessionTransport/answering(_:)``.
public struct TestRequest: Sendable {
    /// The number of the request. The first request of the transport has number 1.
    public let number: Int
    /// The URL without its fragment.
    public let url: URL
    /// The method, such as `GET`.
    public let method: String
    /// The header fields, with their names in lower case. Cookies and credentials are not among them, because a real
    /// session leaves these to libcurl.
    public let headers: [String: String]
    /// The body; nil for none.
    public let body: Data?

    init(_ request: TransferRequest, number: Int) {
        self.number = number
        url = URL(request.url) ?? URL(fileURLWithPath: "/")
        method = request.method.rawValue
        body = request.options.body.map { Data($0) }
        var headers: [String: String] = [:]
        for field in request.options.fields { headers[field.name.canonicalName] = field.value }
        if let range = request.range { headers["range"] = "bytes=\(range)" }
        self.headers = headers
    }
}

/// An answer to a ``TestRequest``.
public struct TestAnswer: Sendable {
    /// The status code.
    public var status: Int
    /// The header fields. `Content-Length` is added.
    public var headers: [String: String]
    /// The whole body. An answer with status 200 to a request for a range has the status 206 and only this range.
    public var body: Data
    /// Whether requests for ranges get ranges. Otherwise they get the whole body.
    public var supportsRanges = true
    /// The time until the answer begins, and the time before each 16 KiB of its body.
    public var delay = Duration.zero
    /// The number of bytes that come before the failure; nil to send the head and the whole body without a failure.
    private var cut: Int?
    /// The failure after the cut; nil for silence.
    private var failure: NetworkFailure?

    /// Makes an answer.
    public init(status: Int = 200, headers: [String: String] = [:], body: Data = Data()) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// Returns an answer that fails before its head.
    public static func failure(_ failure: NetworkFailure) -> TestAnswer { TestAnswer().failing(failure, after: -1) }

    /// Returns this answer with a failure.
    /// - Parameters:
    ///   - failure: The failure; nil for silence, which fails after the stall timeout of the request.
    ///   - count: The number of bytes of the answer that come before.
    public func failing(_ failure: NetworkFailure?, after count: Int) -> TestAnswer {
        var answer = self
        (answer.failure, answer.cut) = (failure, count)
        return answer
    }

    /// Returns the calls for the sink of a transfer.
    func playback(_ request: TransferRequest, _ asked: TestRequest) -> Playback {
        var playback = Playback()
        if let cut {
            playback.ending = failure.map {
                .failed(.networkFailed($0, TransportDiagnosis(code: 0, message: "the answer of the test")))
            }
            if cut < 0 { return playback }
        }
        let fields = headers.map { (name: $0.key, value: $0.value) }
        playback.head = ResponseHead(status: status, fields: fields, from: request.url)
        var part = 0..<body.count
        if status == 200, supportsRanges {
            playback.head?.fields[.acceptRanges] = "bytes"
            if isCurrent(asked.headers["if-range"]), let range = request.range { part = select(range, &playback.head) }
        }
        if playback.head?.fields[.contentLength] == nil { playback.head?.fields[.contentLength] = "\(part.count)" }
        if asked.method == "HEAD" { part = 0..<0 }
        let (size, sent) = (Int(Playback.pieceSize), min(part.count, cut ?? part.count))
        playback.pieceCount = (sent + size - 1) / size
        let start = body.startIndex + part.lowerBound
        playback.piece = { [body] index in
            [UInt8](body[start + index * size..<start + min((index + 1) * size, sent)])
        }
        return playback
    }

    private func isCurrent(_ condition: String?) -> Bool {
        guard let condition else { return true }
        return headers.contains { ["etag", "last-modified"].contains($0.key.lowercased()) && $0.value == condition }
    }

    /// Returns the part of the body for a range such as `0-` or `100-199`, and changes the head of the whole body.
    private func select(_ range: String, _ head: inout ResponseHead?) -> Range<Int> {
        let ends = range.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard ends.count == 2, let first = ends[0] else { return 0..<body.count }
        guard first < body.count else {
            head?.status = 416
            head?.fields[.contentRange] = "bytes */\(body.count)"
            return 0..<0
        }
        let last = min(ends[1] ?? .max, body.count - 1)
        head?.status = 206
        head?.fields[.contentRange] = "bytes \(first)-\(last)/\(body.count)"
        return first..<max(first, last + 1)
    }
}
