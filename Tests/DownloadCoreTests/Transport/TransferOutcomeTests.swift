import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite("TransferOutcome: the meaning of an ended transfer", .inTurn)
struct TransferOutcomeTests {
    private typealias Verdict = ResponseJudge.Verdict

    private static let lost = DownloadError.networkFailed(
        .connectionLost, TransportDiagnosis(code: 18, message: "lost"))
    private static let busy = DownloadError.serverRefused(status: 503, phrase: "busy")
    private static let body = Verdict.body(offset: 0, end: 9, total: 9)
    private static let newer = Verdict.newVersion(total: 9, why: "newer")

    private static func wrong(_ what: String) -> DownloadError { .protocolViolated(.wrongRange(what)) }

    private func outcome(
        _ ending: TransferResult.Ending, _ verdict: ResponseJudge.Verdict?, _ refusal: EndedTransfer.Refusal? = nil,
        change: (inout EndedTransfer) -> Void = { _ in }
    ) -> TransferOutcome {
        var ended = EndedTransfer(result: TransferResult(ending), verdict: verdict)
        ended.refusal = refusal
        change(&ended)
        return ended.outcome
    }

    @Test(
        "The outcome of a complete transfer depends on its head",
        arguments: [
            (body, .complete), (newer, .complete), (.changed(why: "newer"), .changed(why: "newer")),
            (.redirect(to: "u"), .redirected(to: "u")), (.failed(busy), .declined(busy)),
            (.current, .declined(wrong("the whole file instead of a part"))),
            (.askWithoutRange, .declined(wrong("the whole file instead of a part"))),
            (nil, .declined(.protocolViolated(.malformedReply("no response head")))),
        ] as [(ResponseJudge.Verdict?, TransferOutcome)])
    func ended(verdict: ResponseJudge.Verdict?, expected: TransferOutcome) {
        #expect(outcome(.complete, verdict) == expected)
    }

    @Test(
        "A refused transfer has the reason of its sink; a refused head has the meaning of the head",
        arguments: [
            (body, .cut, .cut), (body, .fileRefused, .fileRefused),
            (body, .tooLong, .failed(wrong("more bytes than announced"))),
            (body, .tooLarge, .failed(.verificationFailed(.tooLarge(limit: 5, size: nil)))),
            (body, .verdict, .declined(wrong("the whole file instead of a part"))),
            (newer, .verdict, .changed(why: "newer")), (.changed(why: "newer"), .verdict, .changed(why: "newer")),
            (.failed(busy), .verdict, .declined(busy)),
        ] as [(ResponseJudge.Verdict, EndedTransfer.Refusal, TransferOutcome)])
    func refused(verdict: ResponseJudge.Verdict, refusal: EndedTransfer.Refusal, expected: TransferOutcome) {
        #expect(outcome(.refused, verdict, refusal) { $0.maximumSize = 5 } == expected)
    }

    @Test("A cancelled transfer was cut by the attempt or stopped by the session")
    func cancelled() {
        #expect(outcome(.cancelled, Self.body) == .stopped)
        #expect(outcome(.cancelled, nil) == .stopped)
        #expect(outcome(.cancelled, Self.body) { $0.isCut = true } == .cut)
    }

    @Test("After a failed transfer the rest is requested, unless all bytes had come", arguments: [body, nil])
    func failed(verdict: ResponseJudge.Verdict?) {
        #expect(outcome(.failed(Self.lost), verdict) == .lost(Self.lost))
        #expect(outcome(.failed(Self.lost), verdict) { $0.hasAll = true } == .cut)
    }

    @Test("A body longer than its announced length is a failure, unless a digest has cleared it")
    func excess() {
        var result = TransferResult(.complete)
        result.exceedsLength = true
        var ended = EndedTransfer(result: result, verdict: Self.body)
        for hasAll in [true, false] {
            ended.hasAll = hasAll
            ended.excess = EndedTransfer.overlong
            #expect(ended.outcome == .failed(EndedTransfer.overlong))
            #expect(ended.ending == .failed(EndedTransfer.overlong))
            ended.excess = nil
            #expect(ended.outcome == .complete && ended.ending == .complete)
        }
    }
}
