import DownloadCore
import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

/// Heads as no server should send them, in answer to requests of every kind.
@Suite("Fuzzing: judging heads", .inTurn)
struct JudgeFuzzTests {
    private static let fields = [
        "Content-Range: bytes 100-199/200", "Content-Range: bytes 0-199/200", "Content-Range: bytes 0-9/*",
        "Content-Range: bytes */300", "Content-Length: 200", "Content-Length: 100", "ETag: \"v1\"", "ETag: \"v2\"",
        "ETag: W/\"v1\"", "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "Date: Mon, 01 Jan 2024 10:00:00 GMT",
        "Content-Type: text/html", "Content-Type: multipart/byteranges; boundary=x", "Transfer-Encoding: chunked",
    ]
    private static let statuses = [
        0, 100, 200, 200, 204, 206, 206, 206, 301, 304, 400, 401, 416, 416, 501, 503, 999, -1,
    ]

    /// Returns a random request: its range, and what is known of the file.
    private static func judge(_ random: inout SplitMix64) -> ResponseJudge {
        let edges: [Int64] = [0, 1, 99, 100, 199, 200, 1 << 40, .max - 1]
        let start = edges.randomElement(using: &random) ?? 0
        let ends = edges.filter { $0 > start } + [.max]
        var judge = ResponseJudge(
            start: start, end: Bool.random(using: &random) ? ends.randomElement(using: &random) : nil,
            asksRange: Int.random(in: 0..<5, using: &random) > 0)
        judge.isConditional = Bool.random(using: &random)
        guard Bool.random(using: &random) else { return judge }
        let validators = Validators(
            etag: Bool.random(using: &random) ? EntityTag(opaque: "v1", isWeak: Bool.random(using: &random)) : nil,
            lastModified: Bool.random(using: &random) ? "Mon, 01 Jan 2024 00:00:00 GMT" : nil,
            lastModifiedIsStrong: Bool.random(using: &random))
        judge.known = ResponseJudge.Version(
            validators: validators, total: Bool.random(using: &random) ? 200 : nil, contentType: nil)
        return judge
    }

    private static func head(_ lines: [UInt8], _ random: inout SplitMix64) -> ResponseHead {
        var head = ResponseHead(status: statuses.randomElement(using: &random) ?? 0)
        for line in lines.split(separator: 0x0A) {
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            guard parts.count == 2, let name = HTTPField.Name(String(decoding: parts[0], as: UTF8.self)) else {
                continue
            }
            let value = String(decoding: parts[1].drop { $0 == 0x20 }, as: UTF8.self)
            head.fields.append(HTTPField(name: name, value: value))
        }
        return head
    }

    @Test("No answer is accepted with bytes beyond the request or the file, or with bytes of another version")
    func judge() {
        var random = SplitMix64(seed: 4)
        // An input is several fields of a head, one in each line.
        let corpus = (0..<200).map { _ in
            (0..<4).map { _ in Self.fields.randomElement(using: &random) ?? "" }.joined(separator: "\n")
        }
        Fuzzing("Heads", corpus: corpus, words: Self.fields.map { $0 + "\n" }).run(scale: 5) { input in
            // The choice depends on the input only, so that the fuzzer can shorten the input.
            var choice = SplitMix64(seed: input.reduce(7) { $0 &* 31 &+ UInt64($1) })
            let judge = Self.judge(&choice)
            let head = Self.head(input, &choice)
            return Self.complaint(judge.judge(head), judge, head).map { "\($0) by \(judge) for \(head)" }
        }
    }

    private static func complaint(
        _ verdict: ResponseJudge.Verdict, _ judge: ResponseJudge, _ head: ResponseHead
    ) -> String? {
        switch verdict {
        case .body(let offset, let end, let total):
            if ![200, 206].contains(head.status) { return "a body of a \(head.status)" }
            if (total ?? 0) < 0 { return "a total of \(total ?? 0)" }
            if let end, let total, end > total { return "an end beyond the total" }
            if let was = judge.known?.validators.etag, let now = EntityTag(head: head), was.opaque != now.opaque {
                return "another ETag"
            }
            if let was = judge.known?.total, let total, was != total, judge.known?.validators.etag == nil {
                return "another size"
            }
            if head.status == 200 { return offset == 0 ? nil : "a whole file from \(offset)" }
            if !judge.asksRange { return offset == 0 && end == total ? nil : "a part that was not asked for" }
            guard offset <= judge.start, offset >= judge.start - 1 << 20 else {
                return "a part from \(offset)"
            }
            guard let end, end > judge.start, end <= judge.end ?? .max else { return "an end that was not asked for" }
            return total == nil ? "a part of a file of unknown size" : nil
        case .newVersion(let total, _):
            return judge.known != nil && (head.status == 200 || !judge.asksRange) && (total ?? 0) >= 0
                ? nil : "new without a known version"
        case .changed: return judge.known == nil ? "a change without a known version" : nil
        case .current: return judge.isConditional && head.status == 304 ? nil : "304 without a condition"
        case .redirect: return "a redirect to nowhere"
        case .askWithoutRange: return judge.asksRange ? nil : "a second request without a range"
        case .failed: return nil
        }
    }

    @Test("The value for If-Range has no line break")
    func ifRange() {
        let fuzzing = Fuzzing("Validators", corpus: [Self.fields.joined(separator: "\n")])
        fuzzing.run { input in
            var random = SplitMix64(seed: 1)
            let validators = Validators(head: Self.head(input, &random), now: Date())
            return validators.ifRange?.utf8.contains { $0 == 13 || $0 == 10 || $0 == 0 } ?? false ? "a line break" : nil
        }
    }
}
