import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadSystem

@Suite("SystemTime", .timeLimit(.minutes(1)))
struct SystemTimeTests {
    private let time = SystemTime()

    @Test("A wait lasts at least its time")
    func waits() async throws {
        let before = time.now
        try await time.sleep(for: .milliseconds(2))
        #expect(time.now - before >= .milliseconds(2))
        let middle = time.now
        time.block(for: .milliseconds(2))
        #expect(time.now - middle >= .milliseconds(2))
        time.block(for: .zero)
        try await time.sleep(until: before)
    }

    @Test("A cancelled wait ends at once")
    func cancels() async {
        let task = Task { [time] in try await time.sleep(for: .seconds(1000)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("An action runs after its delay")
    func schedules() async {
        let (before, done) = (time.now, Observed<ContinuousClock.Instant?>(nil))
        time.schedule(after: .milliseconds(2), on: .global()) { [time] in done.update { $0 = time.now } }
        #expect(await done.wait { $0 != nil })
        #expect((done.value ?? before) - before >= .milliseconds(2))
    }
}
