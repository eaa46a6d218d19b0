import HTTPTypes
import DownloadTestSupport
import Testing

@testable import DownloadCore

/// Some bytes are on disk, so an answer must prove that it belongs to these bytes.
@Suite("ResponseJudge: answers to a resumed download", .inTurn)
struct ResponseJudgeResumeTests {
    private typealias Verdict = ResponseJudge.Verdict
    private static let old = "Tue, 01 Jan 2030 00:00:00 GMT"
    private static let new = "Wed, 02 Jan 2030 00:00:00 GMT"
    private static let later = "Thu, 03 Jan 2030 00:00:00 GMT"

    /// The known facts about the file.
    enum Known: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case strong, weak, date, weakDate, both, nothing

        var testDescription: String { rawValue }

        var validators: Validators {
            switch self {
            case .strong: Validators(etag: EntityTag(opaque: "a"))
            case .weak: Validators(etag: EntityTag(opaque: "a", isWeak: true))
            case .date: Validators(lastModified: old, lastModifiedIsStrong: true)
            case .weakDate: Validators(lastModified: old, lastModifiedIsStrong: false)
            case .both: Validators(etag: EntityTag(opaque: "a"), lastModified: old, lastModifiedIsStrong: true)
            case .nothing: Validators()
            }
        }

        /// The fields of an answer of the same version.
        var same: [(name: String, value: String)] {
            switch self {
            case .strong: [("ETag", "\"a\"")]
            case .weak: [("ETag", "W/\"a\"")]
            case .date: [("Last-Modified", old), ("Date", later)]
            case .weakDate: [("Last-Modified", old)]
            case .both: [("ETag", "\"a\""), ("Last-Modified", old)]
            case .nothing: []
            }
        }

        /// The fields of an answer of another version. Nil if no field would differ.
        var different: [(name: String, value: String)]? {
            switch self {
            case .strong: [("ETag", "\"b\"")]
            case .weak: [("ETag", "W/\"b\"")]
            case .date, .weakDate: [("Last-Modified", new)]
            case .both: [("ETag", "\"b\""), ("Last-Modified", old)]
            case .nothing: nil
            }
        }

        /// Whether the fields of an answer prove that the version is the same.
        var proves: Bool { self == .strong || self == .date || self == .both }
    }

    private func judge(
        _ head: ResponseHead, _ known: Known, total: Int64? = 1000, type: String? = "application/zip", end: Int64? = nil
    ) -> Verdict {
        ResponseJudge(
            start: 400, end: end, asksRange: true,
            known: .init(validators: known.validators, total: total, contentType: type)
        ).judge(head)
    }

    private func isChanged(_ verdict: Verdict) -> Bool { if case .changed = verdict { true } else { false } }
    private func isNewVersion(_ verdict: Verdict, _ total: Int64?) -> Bool {
        if case .newVersion(total, _) = verdict { true } else { false }
    }
    private func isWrongRange(_ verdict: Verdict) -> Bool {
        if case .failed(.protocolViolated(.wrongRange)) = verdict { true } else { false }
    }
    private func lacks(_ verdict: Verdict) -> Bool {
        if case .failed(.verificationFailed(.changed)) = verdict { true } else { false }
    }

    // MARK: An empty body

    @Test("An empty body is accepted only if the fields say that the file has changed", arguments: Known.allCases)
    func emptied(known: Known) {
        let empty = [(name: "Content-Length", value: "0")]
        let refusal = DownloadError.protocolViolated(
            .malformedReply("Content-Length: 0 for a file of 1000 bytes, and nothing says that the file has changed"))
        #expect(judge(.of(200, empty + known.same), known) == .failed(refusal))
        #expect(judge(.of(200, empty), known) == .failed(refusal))
        if let different = known.different {
            #expect(isNewVersion(judge(.of(200, empty + different), known), 0))
        }
        for total in [nil, 0] as [Int64?] {
            let verdict = judge(.of(200, empty + known.same), known, total: total)
            if case .failed(.protocolViolated) = verdict { Issue.record("\(verdict)") }
        }
    }

    // MARK: 206

    @Test("206 of the same version continues the file", arguments: Known.allCases)
    func same(known: Known) {
        #expect(judge(.part(400..<1000, of: 1000, known.same), known) == .body(offset: 400, end: 1000, total: 1000))
        #expect(
            judge(.part(400..<600, of: 1000, known.same), known, end: 600)
                == .body(offset: 400, end: 600, total: 1000))
        #expect(judge(.part(400..<1000, of: nil, known.same), known) == .body(offset: 400, end: 1000, total: 1000))
        #expect(
            judge(.part(400..<1000, of: 1000, known.same), known, total: nil)
                == .body(offset: 400, end: 1000, total: 1000))
    }

    @Test("An answer with another content coding is refused, whatever its validators are", arguments: Known.allCases)
    func otherCoding(known: Known) {
        #expect(lacks(judge(.part(400..<1000, of: 1000, known.same + [("Content-Encoding", "gzip")]), known)))
        #expect(lacks(judge(.whole(1000, known.same + [("Content-Encoding", "br")]), known)))
        let identity = known.same + [("Content-Encoding", "identity")]
        #expect(judge(.part(400..<1000, of: 1000, identity), known) == .body(offset: 400, end: 1000, total: 1000))
    }

    @Test("206 with another validator or size is another version", arguments: Known.allCases)
    func different(known: Known) {
        if let fields = known.different {
            #expect(isChanged(judge(.part(400..<1000, of: 1000, fields), known)))
            #expect(isChanged(judge(.part(400..<2000, of: 2000, fields), known)))
        }
        #expect(isChanged(judge(.part(400..<999, of: 999, known.same), known)))
        #expect(isChanged(judge(.part(400..<1001, of: 1001, known.same), known)))
    }

    @Test("206 without the known ETag is refused; a date may be missing (RFC 9110 section 15.3.7)")
    func bare() {
        for known in [Known.strong, .weak, .both] { #expect(lacks(judge(.part(400..<1000, of: 1000), known))) }
        for known in [Known.date, .weakDate, .nothing] {
            #expect(judge(.part(400..<1000, of: 1000), known) == .body(offset: 400, end: 1000, total: 1000))
        }
    }

    @Test("206 with another range is refused", arguments: Known.allCases)
    func otherRange(known: Known) {
        #expect(isWrongRange(judge(.part(401..<1000, of: 1000, known.same), known)))
        #expect(isWrongRange(judge(.part(400..<601, of: 1000, known.same), known, end: 600)))
        #expect(isWrongRange(judge(.of(206, known.same), known)))
        #expect(isWrongRange(judge(.part(400..<1000, of: nil, known.same), known, total: nil)))
    }

    @Test("206 may begin up to 1 MiB before the requested range", arguments: Known.allCases)
    func early(known: Known) {
        #expect(judge(.part(300..<1000, of: 1000, known.same), known) == .body(offset: 300, end: 1000, total: 1000))
        #expect(judge(.part(0..<1000, of: 1000, known.same), known) == .body(offset: 0, end: 1000, total: 1000))
        #expect(isWrongRange(judge(.part(300..<400, of: 1000, known.same), known)))
        let mebibyte: Int64 = 1 << 20
        for surplus in [mebibyte, mebibyte + 1] {
            let verdict = ResponseJudge(
                start: 2 * mebibyte, end: nil, asksRange: true,
                known: .init(validators: known.validators, total: 3 * mebibyte, contentType: nil)
            ).judge(.part(2 * mebibyte - surplus..<3 * mebibyte, of: 3 * mebibyte, known.same))
            #expect(isWrongRange(verdict) == (surplus > mebibyte))
        }
        let whole = ResponseJudge(
            start: 2 * mebibyte, end: nil, asksRange: true,
            known: .init(validators: known.validators, total: 3 * mebibyte, contentType: nil)
        ).judge(.part(0..<3 * mebibyte, of: 3 * mebibyte, known.same))
        #expect(whole == .askWithoutRange)
    }

    // MARK: 200

    @Test("200 of the same version is used from its first byte if the version is proved", arguments: Known.allCases)
    func whole(known: Known) {
        let verdict = judge(.whole(1000, known.same), known)
        if known.proves {
            #expect(verdict == .body(offset: 0, end: 1000, total: 1000))
        } else {
            #expect(isNewVersion(verdict, 1000))
        }
    }

    @Test("200 with another validator or size is a new version", arguments: Known.allCases)
    func wholeNew(known: Known) {
        if let fields = known.different { #expect(isNewVersion(judge(.whole(1000, fields), known), 1000)) }
        #expect(isNewVersion(judge(.whole(999, known.same), known), 999))
    }

    @Test("200 without the known validators is a failure after which dlm tries again", arguments: Known.allCases)
    func wholeBare(known: Known) {
        let verdict = judge(.whole(1000), known)
        if known == .nothing { #expect(isNewVersion(verdict, 1000)) } else { #expect(lacks(verdict)) }
    }

    @Test("200 without a length is proved by a strong ETag, and not by a date", arguments: Known.allCases)
    func wholeChunked(known: Known) {
        let verdict = judge(.of(200, known.same + [("Transfer-Encoding", "chunked")]), known)
        if known == .strong || known == .both {
            #expect(verdict == .body(offset: 0, end: 1000, total: 1000))
        } else {
            #expect(isNewVersion(verdict, nil))
        }
    }

    @Test("A web page instead of the file is refused, and does not count as a change", arguments: Known.allCases)
    func page(known: Known) {
        let html = [(name: "Content-Type", value: "text/html; charset=utf-8")]
        let error = Verdict.failed(.verificationFailed(.unexpectedType(was: "application/zip", is: "text/html")))
        #expect(judge(.whole(1000, html), known) == error)
        #expect(judge(.whole(50, html + known.same), known) == error)
        #expect(judge(.part(400..<1000, of: 1000, html + known.same), known) == error)
        #expect(
            judge(.part(400..<1000, of: 1000, html + known.same), known, type: "text/html")
                == .body(offset: 400, end: 1000, total: 1000))
    }

    // MARK: 416 and others

    @Test("416 with another size is another version, any other 416 is refused", arguments: Known.allCases)
    func unsatisfied(known: Known) {
        #expect(isChanged(judge(.of(416, [("Content-Range", "bytes */300")]), known)))
        #expect(isWrongRange(judge(.of(416, [("Content-Range", "bytes */1000")]), known)))
        #expect(isWrongRange(judge(.of(416, [("Content-Range", "bytes */*")]), known)))
        #expect(isWrongRange(judge(.of(416), known)))
    }

    @Test("A resumed download never asks without a range after an error status", arguments: [400, 501, 503, 404])
    func refusal(status: Int) {
        #expect(judge(.of(status), .strong) == .failed(.serverRefused(status: status, phrase: "")))
    }

    // MARK: Finer points

    @Test("A strong ETag that comes back weak neither proves nor disproves the version")
    func weakened() {
        let weak = [(name: "ETag", value: "W/\"a\"")]
        #expect(judge(.part(400..<1000, of: 1000, weak), .strong) == .body(offset: 400, end: 1000, total: 1000))
        #expect(isNewVersion(judge(.whole(1000, weak), .strong), 1000))
        #expect(isChanged(judge(.part(400..<1001, of: 1001, weak), .strong)))
    }

    @Test("An ETag outranks a date")
    func tagOverDate() {
        let fields = [(name: "ETag", value: "\"a\""), (name: "Last-Modified", value: Self.new)]
        #expect(judge(.part(400..<1000, of: 1000, fields), .both) == .body(offset: 400, end: 1000, total: 1000))
        #expect(judge(.whole(1000, fields), .both) == .body(offset: 0, end: 1000, total: 1000))
    }

    @Test("A malformed ETag counts as missing")
    func malformed() {
        #expect(lacks(judge(.part(400..<1000, of: 1000, [("ETag", "a")]), .strong)))
        #expect(lacks(judge(.whole(1000, [("ETag", "\"a")]), .strong)))
    }
}
