import DownloadCore
import DownloadTestSupport
import Testing

@testable import CurlTransport

/// Tests of limits below limits (all, host, download), with a clock of the test. Members are named download/connection.
@Suite("BandwidthLimiter: limits below limits", .inTurn)
struct BandwidthHierarchyTests {
    private func isNear(_ value: Int, _ expected: Int) -> Bool { abs(value - expected) <= expected / 30 }

    /// Returns the members for the connections of one download.
    private func members(_ name: String, _ count: Int, _ path: [RateLimit]) -> [String: [RateLimit]] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ("\(name)/\($0)", path) })
    }

    private func merged(_ parts: [String: [RateLimit]]...) -> [String: [RateLimit]] {
        parts.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }

    @Test("Of two limits both are kept: a download's within its session's, and the rest goes to the other download")
    func twoLimits() {
        let session = RateLimit(1_000_000)
        var crowd = BandwidthCrowd()
        crowd.run(["a": [session, RateLimit(100_000)], "b": [session, RateLimit()]], ms: 10_000)
        #expect(isNear(crowd.sum("a"), 1_000_000), "\(crowd.taken)")
        #expect(isNear(crowd.sum("b"), 9_000_000), "\(crowd.taken)")
    }

    @Test("Downloads get the same, whatever the number of their connections")
    func byDownload() {
        let session = RateLimit(1_000_000)
        var crowd = BandwidthCrowd()
        crowd.run(
            merged(members("a", 8, [session, RateLimit()]), members("b", 1, [session, RateLimit()])), ms: 10_000)
        #expect(isNear(crowd.sum("a"), 5_000_000), "\(crowd.taken)")
        #expect(isNear(crowd.sum("b"), 5_000_000), "\(crowd.taken)")
        #expect(crowd.taken.filter { $0.key.hasPrefix("a") }.allSatisfy { isNear($0.value, 625_000) }, "\(crowd.taken)")
    }

    @Test("All, host, download: each is kept, and what one branch cannot use the others get")
    func threeLevels() {
        let all = RateLimit(10_000_000)
        let (near, far) = (RateLimit(2_000_000), RateLimit())
        let path = { (host: RateLimit, own: Int64?) in [all, host, RateLimit(own)] }
        var crowd = BandwidthCrowd()
        crowd.run(
            merged(
                members("near1", 2, path(near, nil)), members("near2", 1, path(near, 500_000)),
                members("far1", 4, path(far, 3_000_000)), members("far2", 1, path(far, nil))),
            ms: 10_000)
        #expect(isNear(crowd.sum("near"), 20_000_000), "\(crowd.taken)")
        #expect(isNear(crowd.sum("near2"), 5_000_000), "\(crowd.taken)")
        #expect(isNear(crowd.sum("far1"), 30_000_000), "\(crowd.taken)")
        #expect(isNear(crowd.sum("far2"), 50_000_000), "\(crowd.taken)")
    }

    @Test("The sum is never above the limit in all, in no tenth of a second after another")
    func neverAbove() {
        let all = RateLimit(1_000_000)
        let hosts = [RateLimit(800_000), RateLimit(700_000)]
        var limits: [String: [RateLimit]] = [:]
        for number in 0..<20 {
            limits["\(number)"] = [all, hosts[number % 2], RateLimit(number.isMultiple(of: 3) ? 50_000 : nil)]
        }
        var crowd = BandwidthCrowd()
        crowd.run(limits, ms: 1000)
        var last = crowd.total
        for _ in 0..<100 {
            crowd.run(limits, ms: 100)
            // Tokens may be used a little after they are given out, so at most the bytes of two tenths of a second come
            // at once.
            #expect(crowd.total - last <= 300_000)
            last = crowd.total
        }
        #expect(crowd.total <= 11_000_000)
        #expect(crowd.total >= 10_700_000)
    }

    @Test("A branch that stops leaves all to the other, and gets its half again when it goes on")
    func comesAndGoes() {
        let session = RateLimit(1_000_000)
        let (first, second) = (
            members("a", 3, [session, RateLimit()]), members("b", 3, [session, RateLimit()])
        )
        var crowd = BandwidthCrowd()
        crowd.run(merged(first, second), ms: 2000)
        for member in second.keys { crowd.forget(member) }
        crowd.taken = [:]
        crowd.run(first, ms: 5000)
        #expect(isNear(crowd.sum("a"), 5_000_000), "\(crowd.taken)")
        crowd.taken = [:]
        crowd.run(merged(first, second), ms: 10_000)
        #expect(isNear(crowd.sum("a"), 5_000_000), "\(crowd.taken)")
        #expect(isNear(crowd.sum("b"), 5_000_000), "\(crowd.taken)")
    }

    @Test("A download's own limit is one limit, also where it fetches from two hosts")
    func twoHosts() {
        let all = RateLimit(10_000_000)
        let own = RateLimit(400_000)
        var crowd = BandwidthCrowd()
        crowd.run(["a": [all, RateLimit(300_000), own], "b": [all, RateLimit(), own]], ms: 10_000)
        #expect(crowd.total <= 4_040_000)
        #expect(crowd.total >= 3_900_000, "\(crowd.taken)")
        #expect(crowd.sum("a") <= 3_000_000, "\(crowd.taken)")
    }

    @Test("Each level can be changed, lifted and set again while others wait below it")
    func changes() {
        let (all, host, own) = (RateLimit(1_000_000), RateLimit(), RateLimit())
        let limits = ["a": [all, host, own], "b": [all, host, RateLimit()], "c": [all, RateLimit(), RateLimit()]]
        var crowd = BandwidthCrowd()
        func expect(_ a: Int, _ b: Int, _ c: Int) {
            crowd.run(limits, ms: 1000)
            crowd.taken = [:]
            crowd.run(limits, ms: 10_000)
            let isRight = isNear(crowd.sum("a"), a) && isNear(crowd.sum("b"), b) && isNear(crowd.sum("c"), c)
            #expect(isRight, "\(crowd.taken), not \(a), \(b), \(c)")
        }
        expect(2_500_000, 2_500_000, 5_000_000)
        own.bytesPerSecond = 100_000
        expect(1_000_000, 4_000_000, 5_000_000)
        host.bytesPerSecond = 300_000
        expect(1_000_000, 2_000_000, 7_000_000)
        all.bytesPerSecond = 2_000_000
        expect(1_000_000, 2_000_000, 17_000_000)
        own.bytesPerSecond = nil
        expect(1_500_000, 1_500_000, 17_000_000)
        all.bytesPerSecond = 300_000
        expect(750_000, 750_000, 1_500_000)
    }

    @Test("A limit without a rate only groups, and where no limit has one nobody waits")
    func noRate() {
        var limiter = BandwidthLimiter<String>()
        for number in 0..<100 {
            #expect(limiter.take(1 << 20, for: "\(number)", under: [RateLimit(), RateLimit()], now: 0) == 1 << 20)
        }
        #expect(limiter.count == 0)
    }
}
