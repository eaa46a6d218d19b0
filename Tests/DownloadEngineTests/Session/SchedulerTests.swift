import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("Scheduler: what may start", .inTurn)
struct SchedulerTests {
    private func scheduler(_ candidates: [(DownloadID, String, Int)], all: Int = 100, origin: Int = 100) -> Scheduler {
        var scheduler = Scheduler(maxConcurrent: all, maxPerOrigin: origin)
        for (id, origin, priority) in candidates { scheduler.add(.init(id: id, origin: origin, priority: priority)) }
        return scheduler
    }

    private func startAll(_ scheduler: inout Scheduler) -> [DownloadID] {
        var started: [DownloadID] = []
        while let id = scheduler.start() { started.append(id) }
        return started
    }

    @Test("Downloads start by priority, then by id")
    func order() {
        var scheduler = scheduler([(4, "a", 0), (1, "a", 0), (9, "a", 7), (2, "b", 7), (3, "a", -1)])
        #expect(startAll(&scheduler) == [2, 9, 1, 4, 3])
        #expect(scheduler.candidates.isEmpty)
    }

    @Test("A busy origin does not hold up other origins")
    func perOrigin() {
        var scheduler = scheduler([(1, "a", 9), (2, "a", 9), (3, "a", 9), (4, "b", 0), (5, "b", 0)], all: 4, origin: 2)
        #expect(startAll(&scheduler) == [1, 2, 4, 5])
        #expect(scheduler.hasWaiting(for: "a"))
        scheduler.ended(4)
        #expect(scheduler.start() == nil)
        scheduler.ended(2)
        #expect(startAll(&scheduler) == [3])
    }

    @Test("Slots are passed on within an origin, in order, without changing their number")
    func passedOn() {
        var scheduler = scheduler(
            [(1, "a", 0), (2, "a", 0), (3, "a", 0), (4, "a", 0), (5, "b", 0), (6, "a", 0)], all: 2, origin: 1)
        #expect(startAll(&scheduler) == [1, 5])
        #expect(scheduler.next(2, of: nil) { _ in true } == [2, 3])
        #expect(scheduler.next(9, of: "b") { _ in true } == [])
        #expect(scheduler.next(9, of: "a") { $0 != 4 } == [])
        scheduler.pass(from: 1, to: 2)
        scheduler.ended(1)
        #expect(!scheduler.hasFreeSlot(for: "a"))
        #expect(scheduler.hasOneBefore(7, priority: 0))
        #expect(!scheduler.hasOneBefore(3, priority: 0))
        scheduler.ended(2)
        #expect(scheduler.hasFreeSlot(for: "a"))
        scheduler.begin(3, of: "a")
        #expect(scheduler.start() == nil)
        scheduler.hold("a", until: .now + .seconds(60))
        #expect(scheduler.next(9, of: "a") { _ in true } == [])
    }

    @Test("No slot is passed on while more downloads run than a reduced limit permits")
    func passedOnNoMore() {
        var scheduler = scheduler([(1, "a", 0), (2, "a", 0), (3, "a", 0), (4, "a", 0)], all: 2, origin: 2)
        #expect(startAll(&scheduler) == [1, 2])
        scheduler.maxPerOrigin = 1
        #expect(scheduler.next(9, of: nil) { _ in true } == [])
        scheduler.maxPerOrigin = 2
        scheduler.maxConcurrent = 1
        #expect(scheduler.next(9, of: nil) { _ in true } == [])
    }

    @Test("A second end, or the end of a download that never started, frees no slot")
    func endedTwice() {
        var scheduler = scheduler([(1, "a", 0), (2, "a", 0), (3, "a", 0), (4, "a", 0)], all: 2, origin: 2)
        #expect(startAll(&scheduler) == [1, 2])
        scheduler.ended(1)
        scheduler.ended(1)
        scheduler.ended(3)
        scheduler.ended(77)
        #expect(startAll(&scheduler) == [3])
    }

    @Test("A removed download does not start; a running one keeps its slot")
    func remove() {
        var scheduler = scheduler([(1, "a", 0), (2, "a", 0)], all: 1)
        #expect(scheduler.start() == 1)
        scheduler.remove(2)
        scheduler.remove(1)
        #expect(!scheduler.hasFreeSlot)
        scheduler.ended(1)
        #expect(scheduler.start() == nil)
        #expect(scheduler.candidates.isEmpty)
    }

    @Test("Limits below one count as one", arguments: [0, -5])
    func lowest(limit: Int) {
        var scheduler = scheduler([(1, "a", 0), (2, "b", 0)], all: limit, origin: limit)
        #expect(startAll(&scheduler) == [1])
    }

    @Test("Under random operations the limits hold and each download starts once", arguments: 0..<20)
    func property(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let (all, origin) = (Int.random(in: 1...6, using: &random), Int.random(in: 1...4, using: &random))
        var scheduler = Scheduler(maxConcurrent: all, maxPerOrigin: origin)
        var running: [DownloadID: String] = [:]
        var origins: [DownloadID: String] = [:]
        var started: [DownloadID] = []
        for _ in 0..<2000 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0 where origins.count < 300:
                let id = DownloadID(origins.count + 1)
                origins[id] = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
                scheduler.add(
                    .init(id: id, origin: origins[id] ?? "", priority: Int.random(in: -2...2, using: &random)))
            case 1:
                guard let id = scheduler.start() else { continue }
                running[id] = origins[id]
                started.append(id)
                #expect(running.count <= all)
                #expect(running.values.count { $0 == origins[id] } <= origin)
            default:
                guard let id = running.keys.randomElement(using: &random) else { continue }
                running[id] = nil
                scheduler.ended(id)
            }
        }
        for id in running.keys { scheduler.ended(id) }
        while let id = scheduler.start() {
            started.append(id)
            scheduler.ended(id)
        }
        #expect(started.sorted() == origins.keys.sorted())
    }

    @Test("`hold` keeps the downloads of an origin from starting until a time; of two calls, the later time counts")
    func holds() {
        var scheduler = scheduler([(1, "a", 9), (2, "b", 0), (3, "a", 0)])
        let now = ContinuousClock.now
        scheduler.hold("a", until: now + .seconds(5))
        scheduler.hold("a", until: now + .seconds(2))
        #expect(scheduler.saturatedOrigins == ["a"])
        #expect(startAll(&scheduler) == [2])
        #expect(!scheduler.canStart)
        var released = scheduler.releaseHolds(at: now + .seconds(4))
        #expect(!released)
        #expect(startAll(&scheduler) == [])
        released = scheduler.releaseHolds(at: now + .seconds(5))
        #expect(released)
        #expect(startAll(&scheduler) == [1, 3])
        released = scheduler.releaseHolds(at: now + .seconds(9))
        #expect(!released)
    }

    @Test("If many downloads of an origin wait for their next attempt, it starts no more, but other origins do")
    func retrying() {
        var scheduler = Scheduler(maxConcurrent: 8, maxPerOrigin: 8)
        let limit = DownloadID(Scheduler.retryingPerOriginAtMost)
        for id in 1...limit { scheduler.waits(id, for: "dead") }
        scheduler.waits(1, for: "dead")
        scheduler.add(.init(id: limit.advanced(by: 1), origin: "dead", priority: 0))
        #expect(!scheduler.canStart && scheduler.start() == nil)
        #expect(scheduler.saturatedOrigins == ["dead"])
        scheduler.add(.init(id: limit.advanced(by: 2), origin: "alive", priority: 0))
        #expect(scheduler.start() == limit.advanced(by: 2))
        scheduler.doesNotWait(limit.advanced(by: 1))
        #expect(scheduler.start() == nil, "this download was not waiting for its next attempt")
        scheduler.doesNotWait(7)
        scheduler.doesNotWait(7)
        #expect(scheduler.saturatedOrigins == [])
        #expect(scheduler.start() == limit.advanced(by: 1))
    }

    @Test("If very many downloads wait for their next attempt, nothing starts at any origin")
    func retryingEverywhere() {
        var scheduler = Scheduler(maxConcurrent: 8, maxPerOrigin: 8)
        for id in 1...DownloadID(Scheduler.retryingAtMost) { scheduler.waits(id, for: "host\(id)") }
        scheduler.add(.init(id: 9_999, origin: "alive", priority: 0))
        #expect(!scheduler.hasFreeSlot && scheduler.start() == nil)
        scheduler.doesNotWait(1)
        #expect(scheduler.start() == 9_999)
    }

    @Test("The scheduler limits the downloads of a host by its closest pattern")
    func hostLimits() {
        var scheduler = Scheduler(maxConcurrent: 100, maxPerOrigin: 2)
        if let pattern = HostPattern("*.example.org") { scheduler.hostLimits = [pattern: 1] }
        let origins = ["https://a.example.org:443", "https://example.org:443", "http://[::1]:80"]
        for id in 1...9 { scheduler.add(.init(id: DownloadID(id), origin: origins[id % 3], priority: 0)) }
        var started: [DownloadID] = []
        while let id = scheduler.start() { started.append(id) }
        #expect(started == [1, 2, 3, 4, 5])
        #expect(scheduler.saturatedOrigins == Set(origins))
        scheduler.ended(3)
        #expect(scheduler.start() == 6)
    }
}
