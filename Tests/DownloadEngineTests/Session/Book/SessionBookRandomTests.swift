import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("SessionBook: random order of events", .inTurn, .timeLimit(.minutes(1)))
struct SessionBookRandomTests {
    @Test(
        "In any order of events, each download has one place, slots add up, and every caller is answered once",
        arguments: 1...4)
    func sequences(limit: Int) {
        var random = SeededGenerator(for: "Sessions of \(limit)")
        for _ in 0..<40 {
            var session = SimulatedSession(limit: limit, using: SplitMix64(seed: random.next()))
            for _ in 0..<150 where session.complaints.isEmpty { session.step() }
            if session.complaints.isEmpty { session.drain() }
            #expect(session.complaints.isEmpty)
            if !session.complaints.isEmpty { return }
        }
    }
}
