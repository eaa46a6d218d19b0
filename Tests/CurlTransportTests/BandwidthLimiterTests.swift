import DownloadCore
import DownloadTestSupport
import Testing

@testable import CurlTransport

/// The arithmetic of one rate limit. The tests pass the time to the limiter. The members are named by letters or
/// numbers, and each piece has 16 KiB unless a test says otherwise.
@Suite("BandwidthLimiter: one limit", .inTurn)
struct BandwidthLimiterTests {
    /// One limit and its limiter, called step by step.
    private final class Single {
        let limit: RateLimit
        private var limiter = BandwidthLimiter<String>()

        init(_ rate: Int64?) { limit = RateLimit(rate) }

        var count: Int { limiter.buckets.count }

        func take(_ member: String, _ count: Int = 16384, at now: Int64) -> Int {
            limiter.take(count, for: member, under: [limit], now: now)
        }

        func giveBack(_ member: String, _ count: Int, at now: Int64) {
            limiter.giveBack(count, from: member, now: now)
        }

        func deal(at now: Int64) { limiter.deal(now: now) }

        func waits(_ member: String) -> Bool { limiter.isWaiting(member) }

        func forget(_ member: String) { limiter.forget(member) }
    }

    private func isNear(_ value: Int, _ expected: Int, within: Int) -> Bool { abs(value - expected) <= within }

    @Test(
        "Any rate is kept, with one member and with several, and each member gets the same share",
        arguments: [20_000, 100_000, 1_000_000, 50_000_000, 500_000_000] as [Int64], [1, 8])
    func rate(rate: Int64, members: Int) {
        let limit = RateLimit(rate)
        var crowd = BandwidthCrowd()
        let names = (0..<members).map { "\($0)" }
        crowd.run(Dictionary(uniqueKeysWithValues: names.map { ($0, [limit]) }), ms: 4000)
        #expect(crowd.total <= Int(rate) * 4)
        #expect(crowd.total >= Int(rate) * 4 * 95 / 100)
        let counts = names.map { crowd.taken[$0] ?? 0 }
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= Int(rate) / 10)
    }

    @Test(
        "A rate far too low for 64 members still gives every member some bytes in every period",
        arguments: [50, 1000] as [Int64])
    func slow(rate: Int64) {
        let limit = RateLimit(rate)
        var crowd = BandwidthCrowd()
        let members = Dictionary(uniqueKeysWithValues: (0..<64).map { ("\($0)", [limit]) })
        let seconds = Int(200 * 64 / rate + 1)
        for _ in 0..<2 {
            crowd.taken = [:]
            crowd.run(members, ms: Int64(seconds) * 1000, tick: 100)
            #expect(crowd.total <= seconds * Int(rate) + 64)
            #expect(crowd.taken.count == 64)
            #expect((crowd.taken.values.min() ?? 0) >= 150)
        }
    }

    @Test("A member that asks for small pieces gets the same rate as a member that asks for large pieces")
    func pieces() {
        let limit = RateLimit(200_000)
        var crowd = BandwidthCrowd()
        crowd.run(["a": [limit], "b": [limit]], ms: 20_000, piece: { $0 == "a" ? 1000 : 16384 })
        #expect(isNear(crowd.taken["a"] ?? 0, 2_000_000, within: 50_000), "\(crowd.taken)")
        #expect(isNear(crowd.taken["b"] ?? 0, 2_000_000, within: 50_000), "\(crowd.taken)")
    }

    @Test("Other members get what a slow member does not use")
    func slowMember() {
        let limit = RateLimit(10_000_000)
        var crowd = BandwidthCrowd()
        // "a" receives 16 KiB each 10 ms, which is 1.6 MB/s of its share of 5 MB/s.
        crowd.run(["a": [limit], "b": [limit]], ms: 10_000, most: ["a": 16384])
        #expect(isNear(crowd.taken["a"] ?? 0, 16_384_000, within: 400_000), "\(crowd.taken)")
        #expect(isNear(crowd.total, 100_000_000, within: 2_000_000), "\(crowd.taken)")
    }

    @Test("At most the bytes of a tenth of a second are saved up, however many members there are")
    func burst() {
        let limit = RateLimit(10_000_000)
        var crowd = BandwidthCrowd()
        let members = Dictionary(uniqueKeysWithValues: (0..<50).map { ("\($0)", [limit]) })
        crowd.run(members, ms: 1000)
        crowd.now += 60_000
        crowd.taken = [:]
        crowd.run(members, ms: 10)
        #expect(crowd.total >= 800_000)
        #expect(crowd.total <= 1_000_000)
    }

    @Test("No part of the rate is lost if an engine asks up to a tenth of a second late")
    func lateTicks() {
        let limit = RateLimit(1_000_000)
        var crowd = BandwidthCrowd()
        crowd.run(["a": [limit], "b": [limit]], ms: 10_000, tick: 97)
        #expect(isNear(crowd.total, 10_000_000, within: 250_000), "\(crowd.total)")
    }

    @Test("A higher or lower rate holds at once, and shares dealt at the old rate are taken back")
    func change() {
        let limit = RateLimit(500_000_000)
        var crowd = BandwidthCrowd()
        let members = ["a": [limit], "b": [limit]]
        // "a" leaves megabytes of its share unused.
        crowd.run(members, ms: 1000, most: ["a": 16384])
        limit.bytesPerSecond = 100_000
        crowd.taken = [:]
        crowd.run(members, ms: 10_000)
        #expect(isNear(crowd.total, 1_000_000, within: 30_000), "\(crowd.taken)")
        limit.bytesPerSecond = 50_000_000
        crowd.taken = [:]
        crowd.run(members, ms: 1000)
        #expect(isNear(crowd.total, 50_000_000, within: 2_000_000), "\(crowd.taken)")
    }

    @Test("When a limit is lifted, every waiting member continues at the next deal")
    func lifted() {
        let single = Single(1)
        for member in ["a", "b", "c"] { #expect(single.take(member, at: 1) == 0) }
        single.deal(at: 100)
        #expect(["a", "b", "c"].allSatisfy(single.waits))
        single.limit.bytesPerSecond = nil
        single.deal(at: 60_001)
        #expect(!["a", "b", "c"].contains(where: single.waits))
        #expect(single.take("a", at: 60_001) == 16384)
        #expect(single.take("a", 1 << 30, at: 60_001) == 1 << 30)
        #expect(single.count == 0)
    }

    @Test("A member can at once use bytes that it has given back; later they go to the other members")
    func giveBack() {
        let single = Single(16384)
        #expect(single.take("a", at: 0) == 0)
        single.deal(at: 1000)
        #expect(!single.waits("a"))
        let part = single.take("a", at: 1000)
        #expect(part == 1638)
        for now in 1000..<1005 as Range<Int64> {
            single.giveBack("a", part, at: now)
            #expect(single.take("a", at: now) == part)
        }
        single.giveBack("a", part, at: 1010)
        #expect(single.take("b", at: 1010) == 0)
        for now in stride(from: 1020, to: 1210, by: 10) as StrideTo<Int64> {
            single.deal(at: now)
            #expect(single.waits("b"))
        }
        // "b" gets the tenth of a second that "a" did not use, and the two tenths that have passed since then.
        single.deal(at: 1210)
        #expect(!single.waits("b"))
        #expect(isNear(single.take("b", at: 1210), 16384 * 30 / 100, within: 200))
        #expect(single.take("a", at: 1210) == 0)
    }

    @Test("When a member ends, its turn and its credit go to the other members")
    func forget() {
        let single = Single(10_000)
        #expect(single.take("a", 1000, at: 0) == 0)
        single.deal(at: 100)
        #expect(single.take("a", 10, at: 100) == 10)
        #expect(single.take("b", 990, at: 100) == 0)
        #expect(single.take("c", 990, at: 100) == 0)
        single.forget("c")
        single.forget("a")
        single.deal(at: 100)
        #expect(!single.waits("b") && !single.waits("c"))
        #expect(single.take("b", 990, at: 100) == 990)
    }

    @Test("A new member waits behind the members that wait already")
    func newcomer() {
        let single = Single(1000)
        #expect(single.take("a", at: 0) == 0)
        #expect(single.take("b", 100, at: 1000) == 0)
        single.deal(at: 1000)
        #expect(isNear(single.take("a", at: 1000), 500, within: 1))
    }

    @Test("A limit that nobody else refers to is forgotten, and a new limit starts with no credit")
    func abandoned() {
        var limiter = BandwidthLimiter<Int>()
        let kept = RateLimit(1_000_000)
        for number in 0..<100 {
            #expect(limiter.take(1, for: number, under: [kept, RateLimit(1000)], now: 0) == 0)
            limiter.deal(now: 1)
            limiter.forget(number)
        }
        #expect(limiter.buckets.count <= 16)
        #expect(limiter.take(1000, for: 0, under: [kept], now: 1000) == 1000)
    }
}

/// Members that take all bytes that they can get. Each member asks every `tick` ms, as the engines do.
struct BandwidthCrowd {
    private var limiter = BandwidthLimiter<String>()
    var taken: [String: Int] = [:]
    var now: Int64 = 1000

    init() {}

    mutating func run(
        _ limits: [String: [RateLimit]], ms: Int64, tick: Int64 = 10, piece: (String) -> Int = { _ in 16384 },
        most: [String: Int] = [:]
    ) {
        let end = now + ms
        let names = limits.keys.sorted()
        var left: [String: Int] = [:]
        while now < end {
            limiter.deal(now: now)
            for member in names {
                // Bytes that did not arrive in this tick arrive in the next one.
                var budget = most[member].map { $0 + left[member, default: 0] } ?? .max
                while budget > 0, !limiter.isWaiting(member) {
                    let part = limiter.take(
                        min(budget, piece(member)), for: member, under: limits[member] ?? [], now: now)
                    taken[member, default: 0] += part
                    budget -= part
                }
                left[member] = budget
            }
            now += tick
        }
    }

    mutating func forget(_ member: String) { limiter.forget(member) }

    var total: Int { taken.values.reduce(0, +) }

    func sum(_ prefix: String) -> Int { taken.filter { $0.key.hasPrefix(prefix) }.values.reduce(0, +) }
}
