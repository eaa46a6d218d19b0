import DownloadCore
import DownloadTestSupport
import Testing

@testable import CurlTransport

/// Nested rate limits: all downloads, a host, a download. The tests pass the time to the limiter. The name of a member
/// is `download/connection`.
@Suite("BandwidthLimiter: nested limits", .inTurn)
struct BandwidthHierarchyTests {
    private func isNear(_ value: Int, _ expected: Int) -> Bool { abs(value - expected) <= expected / 30 }

    /// Returns the connections of one download as members, with the limits that hold for them.
    private func members(_ name: String, _ count: Int, _ path: [RateLimit]) -> [String: [RateLimit]] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ("\(name)/\($0)", path) })
    }

    private func merged(_ parts: [String: [RateLimit]]...) -> [String: [RateLimit]] {
        parts.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }

    @Test("A session's limit and a download's own limit both hold, and the other download gets the rest")
    func twoLimits() {
        let session = RateLimit(1_000_000)
        var crowd = BandwidthCrowd()
        crowd.run(["a": [session, RateLimit(100_000)], "b": [session, RateLimit()]], ms: 10_000)
        #expect(isNear(crowd.sum("a"), 1_000_000), "\(crowd.taken)")
        #expect(isNear(crowd.sum("b"), 9_000_000), "\(crowd.taken)")
    }

    @Test("Each download gets the same rate, however many connections it has")
    func byDownload() {
        let session = RateLimit(1_000_000)
        var crowd = BandwidthCrowd()
        crowd.run(
            merged(members("a", 8, [session, RateLimit()]), members("b", 1, [session, RateLimit()])), ms: 10_000)
        #expect(isNear(crowd.sum("a"), 5_000_000), "\(crowd.taken)")
        #expect(isNear(crowd.sum("b"), 5_000_000), "\(crowd.taken)")
        #expect(crowd.taken.filter { $0.key.hasPrefix("a") }.allSatisfy { isNear($0.value, 625_000) }, "\(crowd.taken)")
    }

    @Test(
        "The limits for all, for a host and for a download all hold; the unused rate goes to other downloads")
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

    @Test("The total stays within the limit for all, and no tenth of a second has more than the bytes of three tenths")
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
            // A member may use bytes a little after they were dealt. One tenth of a second can therefore contain the
            // bytes of three tenths.
            #expect(crowd.total - last <= 300_000)
            last = crowd.total
        }
        #expect(crowd.total <= 11_000_000)
        #expect(crowd.total >= 10_700_000)
    }

    @Test("When one of two downloads stops, the other gets the whole rate; when the first resumes, each gets half")
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

    @Test("A download's own limit holds for the download as a whole, even if it fetches from two hosts")
    func twoHosts() {
        let all = RateLimit(10_000_000)
        let own = RateLimit(400_000)
        var crowd = BandwidthCrowd()
        crowd.run(["a": [all, RateLimit(300_000), own], "b": [all, RateLimit(), own]], ms: 10_000)
        #expect(crowd.total <= 4_040_000)
        #expect(crowd.total >= 3_900_000, "\(crowd.taken)")
        #expect(crowd.sum("a") <= 3_000_000, "\(crowd.taken)")
    }

    @Test("The limit of each level can be changed, lifted and set again while members wait below it")
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

    @Test("A limit without a rate only groups members, and nobody waits if no limit has a rate")
    func noRate() {
        var limiter = BandwidthLimiter<String>()
        for number in 0..<100 {
            #expect(limiter.take(1 << 20, for: "\(number)", under: [RateLimit(), RateLimit()], now: 0) == 1 << 20)
        }
        #expect(limiter.buckets.isEmpty)
    }
}
