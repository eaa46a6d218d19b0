import DownloadCore
import DownloadTestSupport
import Testing

@testable import DownloadEngine

@Suite("RoundEnd: how a transfer ends its attempt", .inTurn)
struct RoundEndTests {
    @Test("A failed transfer has its error; a complete transfer or a cut one has none")
    func errors() {
        let busy = DownloadError.serverRefused(status: 503, phrase: "Busy")
        for outcome in [TransferOutcome.complete, .cut] { #expect(outcome.error == nil) }
        guard case .stopped? = TransferOutcome.stopped.error as? RoundEnd else {
            Issue.record("a transfer that was stopped ends the attempt")
            return
        }
        guard case .changed("newer")? = TransferOutcome.changed(why: "newer").error as? RoundEnd else {
            Issue.record("another version ends the round")
            return
        }
        for outcome in [TransferOutcome.lost(busy), .declined(busy), .failed(busy)] {
            #expect(outcome.error as? DownloadError == busy)
        }
    }
}
