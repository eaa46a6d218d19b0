import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite("Signals", .inTurn, .timeLimit(.minutes(1)))
struct SignalTests {
    @Test("A signal that is sent before the wait is kept, and many signals are one")
    func kept() async {
        let signal = Signal()
        for _ in 0..<3 { signal.send() }
        await signal.wait()
        let task = Task { await signal.wait() }
        signal.send()
        await task.value
    }

    @Test("A cancelled task does not wait")
    func cancelled() async {
        let task = Task { await Signal().wait() }
        task.cancel()
        await task.value
    }
}
