import DownloadCore
import Testing

@testable import CurlTransport

/// The arithmetic of rate limits, with a clock of its own. Members are letters, pieces 16 KiB unless said otherwise.
@Suite("BandwidthLimiter")
struct BandwidthLimiterTests {
    /// Members that take all they can get, looked at every `tick` ms as the engines do.
    private struct Crowd {
        var limiter = BandwidthLimiter<String>()
        var taken: [String: Int] = [:]
        var now: Int64 = 1000

        mutating func run(
            _ limits: [String: [RateLimit]], ms: Int64, tick: Int64 = 10, piece: (String) -> Int = { _ in 16384 },
            most: [String: Int] = [:]
        ) {
            let end = now + ms
            while now < end {
                limiter.deal(now: now)
                for member in limits.keys.sorted() {
                    let size = piece(member)
                    var budget = most[member] ?? .max
                    while budget >= size, !limiter.isWaiting(member),
                        limiter.take(size, for: member, under: limits[member] ?? [], now: now)
                    {
                        taken[member, default: 0] += size
                        budget -= size
                    }
                }
                now += tick
            }
        }

        var total: Int { taken.values.reduce(0, +) }
    }

    /// One limit, call by call.
    private final class Single {
        let limit: RateLimit
        private var limiter = BandwidthLimiter<String>()

        init(_ rate: Int64) { limit = RateLimit(rate) }

        var isKnown: Bool { limiter.count > 0 }

        func takes(_ member: String, _ count: Int = 16384, at now: Int64) -> Bool {
            limiter.take(count, for: member, under: [limit], now: now)
        }

        func giveBack(_ member: String, _ count: Int = 16384) { limiter.giveBack(count, from: member, under: [limit]) }

        func deal(at now: Int64) { limiter.deal(now: now) }

        func waits(_ member: String) -> Bool { limiter.isWaiting(member) }

        func forget(_ member: String, at now: Int64) { limiter.forget(member, under: [limit], now: now) }
    }

    private func isNear(_ value: Int, _ expected: Int, within: Int) -> Bool { abs(value - expected) <= within }

    @Test(
        "A rate is kept, whatever it is, by one and by many",
        arguments: [20_000, 1_000_000, 500_000_000] as [Int64], [1, 8])
    func rate(rate: Int64, members: Int) {
        let limit = RateLimit(rate)
        var crowd = Crowd()
        let names = (0..<members).map { "\($0)" }
        crowd.run(Dictionary(uniqueKeysWithValues: names.map { ($0, [limit]) }), ms: 10_000)
        #expect(crowd.total <= Int(rate) * 10 + 16384)
        #expect(crowd.total >= Int(rate) * 10 - max(16384 * members, Int(rate) / 50))
        let counts = names.map { crowd.taken[$0] ?? 0 }
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= max(2 * 16384, Int(rate) / 10))
    }

    @Test("A member with small pieces gets as much as one with large ones")
    func pieces() {
        let limit = RateLimit(200_000)
        var crowd = Crowd()
        crowd.run(["a": [limit], "b": [limit]], ms: 20_000, piece: { $0 == "a" ? 1000 : 16384 })
        #expect(isNear(crowd.taken["a"] ?? 0, 2_000_000, within: 50_000), "\(crowd.taken)")
        #expect(isNear(crowd.taken["b"] ?? 0, 2_000_000, within: 50_000), "\(crowd.taken)")
    }

    @Test("What a slow member leaves, the others get")
    func slowMember() {
        let limit = RateLimit(10_000_000)
        var crowd = Crowd()
        // "a" receives 16 KiB each 10 ms, which is 1.6 MB/s of its share of 5 MB/s.
        crowd.run(["a": [limit], "b": [limit]], ms: 10_000, most: ["a": 16384])
        #expect(isNear(crowd.taken["a"] ?? 0, 16_384_000, within: 400_000), "\(crowd.taken)")
        #expect(isNear(crowd.total, 100_000_000, within: 2_000_000), "\(crowd.taken)")
    }

    @Test("What was not used is saved up for a tenth of a second, not longer")
    func burst() {
        let limit = RateLimit(10_000_000)
        var crowd = Crowd()
        crowd.run(["a": [limit]], ms: 1000)
        crowd.now += 60_000
        crowd.taken = [:]
        crowd.run(["a": [limit]], ms: 10)
        #expect(crowd.total >= 900_000)
        #expect(crowd.total <= 1_100_000 + 16384)
    }

    @Test("Engines that look late lose nothing, up to a tenth of a second")
    func lateTicks() {
        let limit = RateLimit(1_000_000)
        var crowd = Crowd()
        crowd.run(["a": [limit], "b": [limit]], ms: 10_000, tick: 97)
        #expect(isNear(crowd.total, 10_000_000, within: 150_000), "\(crowd.total)")
    }

    @Test("Of two limits both are kept: a download's within its session's")
    func twoLimits() {
        let session = RateLimit(1_000_000)
        let own = RateLimit(100_000)
        var crowd = Crowd()
        crowd.run(["a": [session, own], "b": [session]], ms: 10_000)
        #expect(isNear(crowd.taken["a"] ?? 0, 1_000_000, within: 50_000), "\(crowd.taken)")
        #expect(isNear(crowd.taken["b"] ?? 0, 9_000_000, within: 150_000), "\(crowd.taken)")
    }

    @Test("A new rate counts at once, higher or lower, and what was dealt at the old one is taken back")
    func change() {
        let limit = RateLimit(500_000_000)
        var crowd = Crowd()
        let members = ["a": [limit], "b": [limit]]
        // "a" leaves megabytes of what it is dealt.
        crowd.run(members, ms: 1000, most: ["a": 16384])
        limit.bytesPerSecond = 100_000
        crowd.taken = [:]
        crowd.run(members, ms: 10_000)
        #expect(isNear(crowd.total, 1_000_000, within: 60_000), "\(crowd.taken)")
        limit.bytesPerSecond = 50_000_000
        crowd.taken = [:]
        crowd.run(members, ms: 1000)
        #expect(isNear(crowd.total, 50_000_000, within: 6_000_000), "\(crowd.taken)")
    }

    @Test("A limit that is lifted lets everybody go with the next deal")
    func lifted() {
        let single = Single(1)
        #expect(single.takes("a", at: 0))
        for member in ["a", "b", "c"] { #expect(!single.takes(member, at: 1)) }
        single.deal(at: 60_000)
        #expect(["a", "b", "c"].allSatisfy(single.waits))
        single.limit.bytesPerSecond = nil
        single.deal(at: 60_001)
        #expect(!["a", "b", "c"].contains(where: single.waits))
        #expect(single.takes("a", 1 << 30, at: 60_001))
    }

    @Test("What is given back can be taken at once")
    func giveBack() {
        let single = Single(1)
        for _ in 0..<5 {
            #expect(single.takes("a", at: 0))
            single.giveBack("a")
        }
        #expect(single.takes("a", at: 0))
        #expect(!single.takes("a", 1, at: 0))
    }

    @Test("A member that ends, while it waits or with credit, leaves both to the others")
    func forget() {
        let single = Single(10_000)
        #expect(single.takes("a", 1, at: 0))
        #expect(!single.takes("b", at: 0))
        single.forget("a", at: 0)
        single.deal(at: 1)
        #expect(!single.waits("b"))
        #expect(single.takes("b", at: 1))
        #expect(!single.takes("b", 1000, at: 1))
        #expect(!single.takes("c", 1000, at: 1))
        single.forget("b", at: 1)
        #expect(!single.waits("b"))
        single.deal(at: 1700)
        #expect(!single.waits("c"))
        #expect(single.takes("c", 16384, at: 1700))
    }

    @Test("Members are served in the order in which they came")
    func order() {
        let single = Single(16384)
        #expect(single.takes("a", at: 0))
        for member in ["c", "a", "b"] { #expect(!single.takes(member, at: 0)) }
        var now: Int64 = 0
        for member in ["c", "a", "b", "c"] {
            now += 1000
            single.deal(at: now)
            #expect(["c", "a", "b"].filter { !single.waits($0) } == [member])
            #expect(single.takes(member, at: now))
            #expect(!single.takes(member, at: now))
        }
    }

    @Test("A limit that nobody uses is forgotten, but not before its debt is paid")
    func abandoned() {
        let single = Single(16384)
        var now: Int64 = 0
        // One short transfer after the other, as small files are fetched: each alone is within the burst.
        for member in (0..<10).map({ "\($0)" }) {
            while single.waits(member) || !single.takes(member, at: now) {
                now += 10
                single.deal(at: now)
            }
            single.forget(member, at: now)
            #expect(single.isKnown)
        }
        #expect(now >= 8900)
        single.forget("0", at: now + 2000)
        #expect(!single.isKnown)
    }
}
