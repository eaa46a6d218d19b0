import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("ConnectionBudget: the connections of several downloads with one host", .inTurn)
struct ConnectionBudgetTests {
    @Test("A single download has the connections it wants, up to the limit")
    func alone() {
        var budget = ConnectionBudget(limit: 16)
        let only = budget.join(isFixed: false)
        #expect(budget.grant(only, has: 1, wants: 6) == 6)
        #expect(budget.grant(only, has: 6, wants: 64) == 16)
        #expect(budget.grant(only, has: 16, wants: 2) == 2)
    }

    @Test("Downloads that want many connections get equal shares; downloads that want few get what they want")
    func fair() {
        var budget = ConnectionBudget(limit: 16)
        let all = (0..<5).map { _ in budget.join(isFixed: false) }
        #expect(all.map { budget.grant($0, has: 1, wants: 1) } == [1, 1, 1, 1, 1])
        // The other downloads want no more yet.
        #expect(budget.grant(all[4], has: 1, wants: 16) == 12)
        #expect(budget.grant(all[0], has: 1, wants: 16) == 1)
        // When the download asks again, it gets its smaller share, and must close its other connections.
        #expect(budget.grant(all[4], has: 12, wants: 16) == 6)
        #expect(budget.grant(all[0], has: 1, wants: 16) == 1)
        #expect(budget.grant(all[4], has: 6, wants: 16) == 6)
        #expect(budget.grant(all[0], has: 1, wants: 16) == 7)
        for id in all { _ = budget.grant(id, has: 1, wants: 16) }
        #expect(all.map { budget.grant($0, has: 3, wants: 16) }.reduce(0, +) <= 16)
    }

    @Test(
        "In any order of events, the connections exceed the limit by at most one for each download",
        arguments: 1...20 as ClosedRange<UInt64>)
    func never(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var budget = ConnectionBudget(limit: 16)
        var open: [Int: Int] = [:]
        var excess = 0
        for _ in 0..<2000 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0 where open.count < 20: open[budget.join(isFixed: false)] = 1
            case 1:
                guard let id = open.keys.sorted().randomElement(using: &random) else { continue }
                open[id] = nil
                budget.leave(id)
            default:
                guard let id = open.keys.sorted().randomElement(using: &random), let has = open[id] else { continue }
                let granted = budget.grant(id, has: has, wants: .random(in: 1...20, using: &random))
                // Excess connections are closed one after the other.
                open[id] = granted >= has ? granted : Int.random(in: granted...has, using: &random)
            }
            // A new download has its first connection while others still have their larger shares.
            excess = max(excess, open.values.reduce(0, +) - 16 - open.count)
        }
        #expect(excess <= 0)
        // When all downloads have asked three times, they have closed their excess connections.
        for _ in 0..<3 {
            for (id, has) in open.sorted(by: { $0.key < $1.key }) { open[id] = budget.grant(id, has: has, wants: 20) }
        }
        let counts = open.values.sorted()
        #expect(counts.reduce(0, +) <= max(16, open.count))
        if open.count <= 16, let least = counts.first, let most = counts.last { #expect(most - least <= 1) }
    }

    @Test("A download with a higher limit raises the limit, unless the host has refused connections")
    func raised() {
        var budget = ConnectionBudget()
        let (usual, more) = (budget.join(isFixed: false), budget.join(isFixed: false))
        #expect(budget.grant(usual, has: 1, wants: 6) == 5)
        budget.raise(to: 16)
        #expect(budget.grant(more, has: 1, wants: 16) == 10)
        #expect(budget.refused(more, serving: 4) == 9)
        budget.raise(to: 16)
        #expect(budget.limit == 9)
    }

    @Test("A fixed number of connections is not cut, and the other downloads share the rest")
    func fixed() {
        var budget = ConnectionBudget(limit: 16)
        let given = budget.join(isFixed: true)
        let other = budget.join(isFixed: false)
        #expect(budget.grant(given, has: 12, wants: 12) == .max)
        #expect(budget.grant(other, has: 1, wants: 16) == 4)
        #expect(budget.grant(given, has: 40, wants: 40) == .max)
        #expect(budget.grant(other, has: 4, wants: 16) == 1)
        budget.leave(given)
        #expect(budget.grant(other, has: 1, wants: 16) == 16)
    }

    @Test("If the host refuses connections of one download, the other downloads do not request more, either")
    func refused() {
        var budget = ConnectionBudget(limit: 16)
        let (one, other) = (budget.join(isFixed: false), budget.join(isFixed: false))
        #expect(budget.grant(one, has: 1, wants: 6) == 6)
        #expect(budget.refused(one, serving: 3) == 4)
        #expect(budget.grant(other, has: 1, wants: 6) == 1)
        #expect(budget.grant(one, has: 3, wants: 3) == 2)
        #expect(budget.grant(one, has: 2, wants: 3) == 2)
        #expect(budget.grant(other, has: 1, wants: 6) == 2)
        budget.leave(one)
        #expect(budget.grant(other, has: 2, wants: 6) == 4)
        #expect(budget.refused(other, serving: 0) == 1)
        #expect(budget.grant(other, has: 0, wants: 6) == 1)
    }

    @Test("Downloads share six connections with a host, or more if one of them may have more")
    func limits() {
        let memory = HostMemory()
        let (host, now) = ("https://a.example:443", Date(timeIntervalSince1970: 1_000_000))
        let usual = memory.share(of: host, isFixed: false, at: now)
        #expect(usual.grant(has: 1, wants: 16) == 6)
        usual.settle(has: 1)
        let more = memory.share(of: host, isFixed: false, limit: 16, at: now)
        #expect(more.grant(has: 1, wants: 16) == 8)
    }

    @Test("Hosts are remembered, and a released share is free")
    func memory() {
        let memory = HostMemory()
        let (host, now) = ("https://a.example:443", Date(timeIntervalSince1970: 1_000_000))
        var first: ConnectionShare? = memory.share(of: host, isFixed: false, limit: 16, at: now)
        let second = memory.share(of: host, isFixed: false, limit: 16, at: now)
        // The second download has one connection and wants no more yet, so the first may have all other connections.
        #expect(first?.grant(has: 1, wants: 16) == 15)
        #expect(second.grant(has: 1, wants: 16) == 1)
        #expect(
            memory.share(of: "https://b.example:443", isFixed: false, limit: 16, at: now).grant(has: 1, wants: 16) == 16
        )
        first = nil
        #expect(second.grant(has: 1, wants: 16) == 16)

        #expect(second.refused(serving: 5, at: now) == HostKnowledge(best: 5, cap: 5, learned: now))
        // A higher number of useful connections does not raise the cap, and the cap keeps its age.
        #expect(second.learn(best: 8, at: now + 60) == HostKnowledge(best: 5, cap: 5, learned: now))
        let later = now + 2 * 24 * 3600
        #expect(memory.knowledge(of: host, at: later) == nil)
        #expect(second.learn(best: 8, at: later) == HostKnowledge(best: 8, cap: nil, learned: later))

        memory.recall(HostKnowledge(best: 3, cap: 3, learned: later), of: host)
        #expect(memory.knowledge(of: host, at: later)?.best == 8)
        memory.recall(HostKnowledge(best: 3, cap: 3, learned: later), of: "http://c.example:80")
        #expect(memory.share(of: "http://c.example:80", isFixed: false, at: later).grant(has: 1, wants: 16) == 3)
    }
}
