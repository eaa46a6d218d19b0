import Dispatch
import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@Suite("ManualTime", .inTurn, .timeLimit(.minutes(1)))
struct ManualTimeTests {
    private let woken = Observed<[String]>([])

    private func sleeper(_ name: String, _ time: ManualTime, for duration: Duration) -> Task<Void, any Error> {
        Task { [woken] in
            try await time.sleep(for: duration)
            woken.update { $0.append(name) }
        }
    }

    @Test("Actions run in the order in which their waits end")
    func order() async {
        let time = ManualTime()
        let queue = DispatchQueue(label: "order")
        for seconds in [3, 1, 2, 1] {
            time.schedule(after: .seconds(seconds), on: queue) { [woken] in
                woken.update { $0.append("\(seconds)") }
            }
        }
        time.advance(by: .seconds(5))
        #expect(await woken.wait { $0 == ["1", "1", "2", "3"] })
    }

    @Test("A cancellation at any moment ends a wait exactly once")
    func cancelsAnytime() async {
        let time = ManualTime()
        for _ in 0..<500 {
            let task = Task { try await time.sleep(for: .seconds(1)) }
            async let cancelled: Void = task.cancel()
            time.advance(by: .seconds(2))
            await cancelled
            // The task is woken or cancelled, but it ends.
            _ = await task.result
        }
    }

    @Test("With `leaps`, the clock leaps to the end of the earliest wait when all work waits")
    func leaps() async throws {
        let (time, begin) = (ManualTime(leaps: true), ContinuousClock.now)
        let before = time.now
        let late = sleeper("late", time, for: .seconds(7200))
        let early = sleeper("early", time, for: .seconds(3600))
        try await early.value
        #expect(time.now - before >= .seconds(3600))
        try await late.value
        #expect(time.now - before >= .seconds(7200))
        #expect(woken.value == ["early", "late"])
        #expect(ContinuousClock.now - begin < .seconds(60))
    }

    @Test("With `leaps`, the clock does not leap while real work is under way")
    func busy() async throws {
        let time = ManualTime(leaps: true)
        let before = time.now
        time.begin()
        // The clock also follows the real time, so the short wait ends after 30 ms without a leap.
        let task = sleeper("late", time, for: .seconds(3600))
        let short = sleeper("short", time, for: .milliseconds(30))
        try await short.value
        #expect(time.now - before < .seconds(60))
        time.end()
        try await task.value
        #expect(time.now - before >= .seconds(3600))
    }

    @Test("With `leaps`, the clock also leaps for blocked threads and scheduled actions")
    func leapsForAll() async {
        let time = ManualTime(leaps: true)
        time.schedule(after: .seconds(3600), on: .global()) { [woken] in woken.update { $0.append("action") } }
        #expect(await woken.wait { $0 == ["action"] })
        Thread.detachNewThread { [woken] in
            time.block(for: .seconds(3600))
            woken.update { $0.append("thread") }
        }
        #expect(await woken.wait { $0 == ["action", "thread"] })
    }
}
