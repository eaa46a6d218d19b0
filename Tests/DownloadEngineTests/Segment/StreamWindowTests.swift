import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("SegmentPlanner with a window: the bytes of a stream come nearly in order, and not too far ahead", .inTurn)
struct StreamWindowTests {
    private static let mib: Int64 = 1 << 20
    private static let size: Int64 = 4096 * mib

    private func planner(
        wish: Int?, lease: Int64? = nil, end: Int64 = 64 << 20, readerWaits: Bool = true
    ) -> SegmentPlanner {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<Self.size]), first: (0, 0..<(lease ?? 4 * Self.mib)), wish: wish, now: 0)
        planner.spool = StreamWindow(size: 64 * Self.mib, end: end, readerWaits: readerWaits)
        return planner
    }

    private func asked(_ decisions: [SegmentPlanner.Decision]) -> [Range<Int64>] {
        decisions.compactMap { if case .ask(_, let range) = $0 { range } else { nil } }
    }

    @Test("Each connection gets a short range, in the order of the file")
    func order() {
        var planner = planner(wish: 4)
        let ranges = asked(planner.handle(.tick, at: 0))
        #expect(ranges == [8, 16, 24].map { $0 * Self.mib..<($0 + 8) * Self.mib })
        // The first connection goes on to the end of its own range.
        #expect(
            asked(planner.handle(.ended(0, position: 4 * Self.mib, .complete), at: 1)) == [4 * Self.mib..<8 * Self.mib])
        #expect(
            asked(planner.handle(.ended(0, position: 8 * Self.mib, .complete), at: 2))
                == [32 * Self.mib..<40 * Self.mib])
    }

    @Test("Nothing is requested beyond the window, and requests follow the reader")
    func bound() {
        var planner = planner(wish: 16)
        var ends = asked(planner.handle(.tick, at: 0)).map(\.upperBound)
        #expect(!planner.isFull)
        for id in 0..<16 { planner.answered(id, after: 0.01, at: 0.1) }
        // All connections but the first end one after another, until the window has no more.
        var time = 0.2
        while let done = planner.connections.first(where: { $0.id != 0 && $0.isAsked && !$0.isClosing }) {
            time += 0.01
            planner.spool?.readerWaits = false
            ends += asked(planner.handle(.ended(done.id, position: done.end, .complete), at: time)).map(\.upperBound)
        }
        #expect(ends.max() == 64 * Self.mib)
        #expect(planner.isFull && planner.connections.count == 1)
        #expect(planner.handle(.tick, at: time).isEmpty)
        planner.spool?.end = 68 * Self.mib
        #expect(asked(planner.handle(.tick, at: time)) == [64, 66].map { $0 * Self.mib..<($0 + 2) * Self.mib })
    }

    @Test("If the reader waits for the first missing bytes, a connection without work takes a part of them")
    func urgent() {
        for readerWaits in [false, true] {
            var planner = planner(wish: 2, end: 32 * Self.mib, readerWaits: readerWaits)
            #expect(asked(planner.handle(.tick, at: 0)) == [16 * Self.mib..<32 * Self.mib])
            planner.answered(0, after: 0.01, at: 0.01)
            planner.answered(1, after: 0.01, at: 0.01)
            for tick in 1...10 {
                let part = Int64(tick) * Self.mib
                planner.progress([(0, part / 16), (1, 16 * Self.mib + part)], at: Double(tick) / 10)
            }
            let next = asked(planner.handle(.ended(1, position: 32 * Self.mib, .complete), at: 1.1))
            #expect(next.count == (readerWaits ? 1 : 0))
            #expect(next.allSatisfy { $0.upperBound <= 16 * Self.mib })
        }
    }

    @Test("One connection keeps its request for the whole file; when others come, it is cut, and goes on if they fail")
    func single() {
        var planner = planner(wish: nil, lease: Self.size)
        planner.answered(0, after: 0.01, at: 0.01)
        #expect(planner.handle(.tick, at: 0.01).isEmpty)
        var time = 0.01
        var decisions: [SegmentPlanner.Decision] = []
        while decisions.isEmpty, time < 3 {
            time += 0.05
            planner.progress([(0, Int64(time * 8 * Double(Self.mib)))], at: time)
            decisions = planner.handle(.tick, at: time)
        }
        guard case .cut(0, let end)? = decisions.first else {
            Issue.record("\(decisions)")
            return
        }
        #expect(asked(decisions).first?.lowerBound == end)
        #expect(end < 16 * Self.mib)
        for id in 1...3 {
            let position = planner.connections.first { $0.id == id }?.position ?? 0
            decisions = planner.handle(.ended(id, position: position, .refused), at: time)
        }
        #expect(decisions == [.cut(connection: 0, at: Self.size)])
    }

    @Test("While the window is full, the speed says nothing about the number of connections")
    func slowReader() {
        var planner = planner(wish: nil, lease: Self.size)
        planner.answered(0, after: 0.01, at: 0.01)
        for tick in 1...400 {
            let time = Double(tick) / 20
            planner.spool = StreamWindow(
                size: 64 * Self.mib, end: 64 * Self.mib + Int64(tick) * 4096, readerWaits: false)
            planner.progress([(0, 64 * Self.mib + Int64(tick) * 4096 - 60_000)], at: time)
            #expect(planner.handle(.tick, at: time).isEmpty)
        }
        #expect(planner.target == 1 && planner.learned == nil)
    }
}
