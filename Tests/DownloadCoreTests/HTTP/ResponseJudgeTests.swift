import HTTPTypes
import DownloadTestSupport
import Testing

@testable import DownloadCore

/// The first answer: nothing is known of the file yet.
@Suite("ResponseJudge: the first answer", .inTurn)
struct ResponseJudgeTests {
    private typealias Fields = [(name: String, value: String)]

    private func judge(
        _ head: ResponseHead, start: Int64 = 0, end: Int64? = nil, asksRange: Bool = true
    ) -> ResponseJudge.Verdict {
        ResponseJudge(start: start, end: end, asksRange: asksRange).judge(head)
    }

    private func isWrongRange(_ verdict: ResponseJudge.Verdict) -> Bool {
        if case .failed(.protocolViolated(.wrongRange)) = verdict { true } else { false }
    }

    @Test(
        "200 is the whole file, and its size is known if the framing gives one",
        arguments: [
            ([("Content-Length", "1000")], 1000), ([("Content-Length", "0")], 0), ([], nil),
            ([("Transfer-Encoding", "chunked")], nil),
            ([("Transfer-Encoding", "chunked"), ("Content-Length", "1000")], nil),
            ([("Content-Length", "7"), ("Content-Length", "7")], 7),
            ([("Content-Length", "7, 7")], 7), ([("Content-Length", "8"), ("Transfer-Encoding", "chunked")], nil),
        ] as [([(name: String, value: String)], Int64?)])
    func whole(fields: [(name: String, value: String)], total: Int64?) {
        #expect(judge(.of(200, fields)) == .body(offset: 0, end: total, total: total))
        #expect(judge(.of(200, fields), asksRange: false) == .body(offset: 0, end: total, total: total))
        #expect(judge(.of(200, fields), end: 500) == .body(offset: 0, end: total, total: total))
    }

    @Test(
        "An unclear Content-Length is refused, because libcurl reads some of these as a number",
        arguments: [
            ["5", "6"], ["5, 6"], ["-5"], ["+5"], ["5x"], ["0x5"], [""], ["5,"], ["9223372036854775808"],
            ["18446744073709551621"],
        ])
    func unclearLength(values: [String]) {
        let listed = values.joined(separator: ", ")
        for known in [nil, ResponseJudge.Version(validators: Validators(), total: 5, contentType: nil)] {
            let judge = ResponseJudge(start: 0, end: nil, asksRange: true, known: known)
            let verdict = judge.judge(.of(200, values.map { ("Content-Length", $0) }))
            #expect(verdict == .failed(.protocolViolated(.malformedReply("Content-Length: \(listed)"))))
        }
    }

    @Test(
        "An empty body is refused if a Content-Range says that the file is not empty",
        arguments: [
            ("bytes 0-9/10", true), ("bytes 0-9/*", true), ("bytes */10", true), ("bytes */0", false),
            ("bytes */*", false), ("nonsense", false),
        ])
    func emptyBody(contentRange: String, isContradictory: Bool) {
        let fields = [("Content-Length", "0"), ("Content-Range", contentRange)]
        let refusal = "Content-Length: 0 with Content-Range: \(contentRange)"
        #expect(
            judge(.of(200, fields))
                == (isContradictory
                    ? .failed(.protocolViolated(.malformedReply(refusal))) : .body(offset: 0, end: 0, total: 0)))
        #expect(judge(.of(200, [("Content-Length", "10"), fields[1]])) == .body(offset: 0, end: 10, total: 10))
    }

    @Test("If a part has another length than its range, the whole file is requested", arguments: ["9", "11", "0"])
    func contradictoryPart(length: String) {
        let fields = [("Content-Range", "bytes 0-9/100"), ("Content-Length", length)]
        #expect(judge(.of(206, fields)) == .askWithoutRange)
    }

    @Test(
        "A part with an unclear length, or with several lengths, is refused",
        arguments: [["10", "9"], ["9", "10"], ["x"]])
    func unclearPart(lengths: [String]) {
        let fields = [("Content-Range", "bytes 0-9/100")] + lengths.map { ("Content-Length", $0) }
        let listed = lengths.joined(separator: ", ")
        #expect(
            judge(.of(206, fields)) == .failed(.protocolViolated(.malformedReply("Content-Length: \(listed)"))))
    }

    @Test(
        "206 is the requested range or its beginning",
        arguments: [
            (0, nil, 0..<1000, 0..<1000), (0, 400, 0..<400, 0..<400), (0, 400, 0..<10, 0..<10),
            (0, 4_000_000, 0..<1000, 0..<1000), (0, nil, 0..<10, 0..<10),
        ] as [(Int64, Int64?, Range<Int64>, Range<Int64>)])
    func part(start: Int64, end: Int64?, answer: Range<Int64>, taken: Range<Int64>) {
        #expect(
            judge(.part(answer, of: 1000), start: start, end: end)
                == .body(offset: taken.lowerBound, end: taken.upperBound, total: 1000))
    }

    @Test(
        "If the first 206 has another range, none, several, or an unreadable one, the whole file is requested",
        arguments: [
            [], [("Content-Range", "bytes 1-999/1000")], [("Content-Range", "bytes 0-400/1000")],
            [("Content-Range", "bytes 0-399")], [("Content-Range", "bytes=0-399/1000")],
            [("Content-Range", "bytes0-399/1000")], [("Content-Range", "items 0-399/1000")],
            [("Content-Range", "bytes 0-399/300")], [("Content-Range", "bytes 399-0/1000")],
            [("Content-Range", "bytes */1000")], [("Content-Range", "bytes 0-399/1000, bytes 500-600/1000")],
            [("Content-Type", "multipart/byteranges; boundary=x")],
            [("Content-Type", "multipart/byteranges; boundary=x"), ("Content-Range", "bytes 0-399/1000")],
            [("Content-Range", "bytes 0-399/1000"), ("Content-Range", "bytes 0-399/2000")],
        ] as [[(name: String, value: String)]])
    func wrongPart(fields: [(name: String, value: String)]) {
        #expect(judge(.of(206, fields), end: 400) == .askWithoutRange)
    }

    @Test("206 to a request for the whole file is accepted only if it says that it has the whole file")
    func partUnasked() {
        #expect(judge(.part(0..<1000, of: 1000), asksRange: false) == .body(offset: 0, end: 1000, total: 1000))
        for (range, total) in [(0..<1000 as Range<Int64>, 1001 as Int64?), (1..<1000, 1000), (0..<1000, nil)] {
            #expect(isWrongRange(judge(.part(range, of: total), asksRange: false)))
        }
        var longer = ResponseHead.part(0..<1000, of: 1000)
        longer.fields[.contentLength] = "1001"
        #expect(isWrongRange(judge(longer, asksRange: false)))
    }

    @Test("After 206 without a total size the whole file is requested, because the body's end would prove nothing")
    func partOfUnknownSize() {
        #expect(judge(.part(0..<1000, of: nil)) == .askWithoutRange)
        #expect(isWrongRange(judge(.part(10..<1000, of: nil), start: 10)))
    }

    @Test("416 at offset 0 may be an empty file; at any other offset it is refused")
    func unsatisfied() {
        #expect(judge(.of(416)) == .askWithoutRange)
        #expect(judge(.of(416, [("Content-Range", "bytes */0")])) == .askWithoutRange)
        #expect(isWrongRange(judge(.of(416), start: 10)))
        #expect(judge(.of(416), asksRange: false) == .failed(.serverRefused(status: 416, phrase: "")))
    }

    @Test(
        "If a server refuses the range, the file is requested once without a range",
        arguments: [400, 501])
    func dislikesRange(status: Int) {
        #expect(judge(.of(status)) == .askWithoutRange)
        #expect(judge(.of(status), asksRange: false) == .failed(.serverRefused(status: status, phrase: "")))
        var conditional = ResponseJudge(start: 0, end: 1, asksRange: true)
        conditional.isConditional = true
        #expect(conditional.judge(.of(status)) == .askWithoutRange)
    }

    @Test("A redirect without a target is refused", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) {
        var head = ResponseHead.of(status)
        #expect(judge(head) == .failed(.protocolViolated(.redirectWithoutLocation)))
        head.redirectURL = "http://example.org/x"
        #expect(judge(head) == .redirect(to: "http://example.org/x"))
    }

    @Test("401 and 407 are failures of authentication", arguments: [401, 407])
    func credentials(status: Int) {
        #expect(judge(.of(status)) == .failed(.authenticationFailed(status: status)))
    }

    @Test(
        "Every other status is a refusal with the server's words",
        arguments: [201, 202, 204, 205, 300, 304, 305, 402, 403, 404, 410, 429, 451, 500, 502, 503, 504, 599])
    func refusal(status: Int) {
        var head = ResponseHead.of(status)
        head.phrase = "No"
        #expect(judge(head) == .failed(.serverRefused(status: status, phrase: "No")))
    }

    @Test("304 answers only a conditional request")
    func notModified() {
        var conditional = ResponseJudge(start: 0, end: nil, asksRange: true)
        conditional.isConditional = true
        #expect(conditional.judge(.of(304)) == .current)
        #expect(conditional.judge(.whole(5)) == .body(offset: 0, end: 5, total: 5))
    }

    @Test(
        "The media type is read in lower case and without parameters",
        arguments: [
            ("text/html", "text/html"), ("Text/HTML; charset=utf-8", "text/html"), (" text/html ;x", "text/html"),
            ("text/html;", "text/html"), ("", ""),
        ])
    func mediaType(value: String, type: String) {
        #expect(ResponseJudge.mediaType(.of(200, [("Content-Type", value)])) == type)
        #expect(ResponseJudge.mediaType(.of(200)) == nil)
    }
}
