import DownloadTestSupport
import Testing

@testable import CurlTransport

@Suite("EngineRoster: which engine takes a transfer", .inTurn)
struct EngineRosterTests {
    @Test("Transfers one after the other never need a second engine")
    func oneByOne() {
        var roster = EngineRoster()
        for origin in ["a", "a", "b", "a"] {
            #expect(roster.choose(origin, limit: 3) == 0)
            roster.ended(origin, on: 0)
        }
    }

    @Test("Concurrent transfers are spread evenly over at most the limit of engines", arguments: [1, 2, 3])
    func spread(limit: Int) {
        var roster = EngineRoster()
        let chosen = (0..<12).map { roster.choose($0.isMultiple(of: 2) ? "a" : "b", limit: limit) }
        #expect(Array(chosen.prefix(limit)) == Array(0..<limit))
        for engine in 0..<limit { #expect(chosen.count { $0 == engine } == 12 / limit) }
    }

    @Test("The next part of a file goes to the engine that has the idle connection")
    func leases() {
        var roster = EngineRoster()
        for _ in 0..<4 { _ = roster.choose("a", limit: 3) }
        for engine in [1, 0, 2, 2, 1, 0, 0] {
            roster.ended("a", on: engine)
            #expect(roster.choose("a", limit: 3) == engine)
        }
    }

    @Test("An engine with an idle connection is not chosen if it carries more transfers than another by far")
    func overloaded() {
        var roster = EngineRoster()
        #expect((0..<4).map { _ in roster.choose("a", limit: 1) } == [0, 0, 0, 0])
        for _ in 0..<2 { roster.ended("a", on: 0) }
        #expect(roster.choose("a", limit: 2) == 0)
        #expect(roster.choose("b", limit: 2) == 1)
        #expect(roster.choose("a", limit: 2) == 1)
    }

    @Test("With a limit lower than the number of engines, only the first engines are used")
    func fewer() {
        var roster = EngineRoster()
        for _ in 0..<3 { _ = roster.choose("a", limit: 3) }
        #expect((0..<4).allSatisfy { _ in roster.choose("b", limit: 2) < 2 })
    }

    @Test("If a new engine cannot be started, its transfer goes to another engine")
    func dropped() {
        var roster = EngineRoster()
        #expect(roster.choose("a", limit: 2) == 0)
        #expect(roster.choose("a", limit: 2) == 1)
        roster.dropLast()
        #expect(roster.choose("a", limit: 1) == 0)
    }

    @Test(
        "The cores decide how many engines parts, files and many files may use",
        arguments: [(1, [1, 1, 1]), (2, [1, 1, 2]), (3, [2, 2, 2]), (4, [3, 2, 2]), (64, [3, 2, 2])])
    func limits(cores: Int, most: [Int]) {
        let limits = EngineLimits(cores: cores)
        #expect(limits.most(isPart: true, active: 100) == most[0])
        #expect(limits.most(isPart: false, active: 7) == most[1])
        #expect(limits.most(isPart: false, active: 8) == most[2])
    }

    @Test("With two cores, a second engine takes transfers only while there are many")
    func crowd() {
        let limits = EngineLimits(cores: 2)
        var roster = EngineRoster()
        func next() -> Int { roster.choose("a", limit: limits.most(isPart: false, active: roster.active)) }
        #expect((0..<16).map { _ in next() } == [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
        for _ in 0..<4 { roster.ended("a", on: 0) }
        for _ in 0..<5 { roster.ended("a", on: 1) }
        #expect(roster.active == 7)
        #expect(next() == 0)
        #expect(next() == 1)
    }
}
