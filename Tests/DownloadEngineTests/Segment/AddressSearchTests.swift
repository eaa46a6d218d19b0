import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadEngine

/// The planner's choice among the addresses of the server's name. ``NetworkLawTests`` has simulations.
@Suite("SegmentPlanner: addresses of the server's name", .inTurn)
struct AddressSearchTests {
    private static let mib: Int64 = 1 << 20
    private static let size = 64 * mib

    /// Returns a planner of one connection with a speed in bytes per second, after the first second.
    private func single(speed: Int64, mayChoose: Bool = true) -> SegmentPlanner {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<Self.size]), first: (0, 0..<Self.size), wish: 1, mayChooseAddress: mayChoose,
            now: 0)
        planner.answered(0, after: 0.01, at: 0)
        planner.progress([(0, speed)], at: 1)
        return planner
    }

    @Test("The addresses are looked up once, and only if the rest of the file takes long")
    func lookup() {
        var fast = single(speed: 4 * Self.mib)
        #expect(fast.asksForAddresses() == false)
        var forbidden = single(speed: Self.mib, mayChoose: false)
        #expect(forbidden.asksForAddresses() == false)
        #expect(forbidden.tickInterval == nil)
        var slow = single(speed: Self.mib)
        #expect(slow.tickInterval != nil)
        #expect(slow.asksForAddresses() == true)
        #expect(slow.asksForAddresses() == false)
        slow.found(addresses: 1)
        #expect(slow.tickInterval == nil)
        #expect(slow.handle(.tick, at: 1.1).isEmpty)
    }

    /// Moves the single connection to the next address. Returns the position at which it does so.
    private func move(_ planner: inout SegmentPlanner, at time: Double) throws -> Int64 {
        planner.found(addresses: 3)
        let position = Self.mib
        try #require(planner.handle(.tick, at: time) == [.cut(connection: 0, at: position)])
        let decisions = planner.handle(.ended(0, position: position, .cut), at: time)
        try #require(decisions == [.ask(connection: 1, range: position..<Self.size)])
        #expect(planner.address(of: 1) == 1)
        return position
    }

    @Test("The only connection to a server that refuses further ones is never closed for another address")
    func refused() {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<Self.size]), first: (0, 0..<Self.size), wish: nil,
            knowledge: HostKnowledge(best: 1, cap: 1, learned: Date(timeIntervalSince1970: 0)),
            mayChooseAddress: true, now: 0)
        planner.answered(0, after: 0.01, at: 0)
        planner.found(addresses: 3)
        for second in 1...20 {
            planner.progress([(0, Int64(second) * Self.mib)], at: Double(second))
            #expect(planner.handle(.tick, at: Double(second)).isEmpty)
        }
    }

    @Test("A connection whose other address fails continues with the first one, which is never given up")
    func failed() throws {
        var planner = single(speed: Self.mib)
        let position = try move(&planner, at: 1)
        #expect(planner.leaveAddress(of: 1, isDeclined: true) == true)
        #expect(planner.address(of: 1) == 0)
        let decisions = planner.handle(.ended(1, position: position, .cut), at: 1.1)
        #expect(decisions == [.ask(connection: 1, range: position..<Self.size)])
        #expect(planner.leaveAddress(of: 1, isDeclined: true) == false)
    }

    @Test(
        "A connection returns from a slower address, and the next one is tried after a while", arguments: [true, false])
    func returns(isSlower: Bool) throws {
        var planner = single(speed: Self.mib)
        var position = try move(&planner, at: 1)
        planner.answered(1, after: 0.01, at: 1)
        var moved: Double?
        for step in 1...20 {
            let now = 1 + Double(step) / 2
            position += isSlower ? Self.mib / 8 : Self.mib / 2
            planner.progress([(1, position)], at: now)
            if planner.handle(.tick, at: now).contains(.cut(connection: 1, at: position)) {
                moved = now
                break
            }
        }
        if isSlower {
            #expect(moved.map { $0 <= 3 } == true, "\(moved ?? 0)")
            _ = planner.handle(.ended(1, position: position, .cut), at: moved ?? 0)
            #expect(planner.address(of: 2) == 0)
        } else {
            #expect(moved == 11, "\(moved ?? 0)")
            _ = planner.handle(.ended(1, position: position, .cut), at: 11)
            #expect(planner.address(of: 2) == 2)
        }
    }

    /// Returns a planner of six connections and three addresses, with the number of each connection's address.
    private func divided() -> (SegmentPlanner, [Int]) {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<Self.size]), first: (0, 0..<4 * Self.mib), wish: 6, mayChooseAddress: true, now: 0)
        planner.found(addresses: 3)
        let asked = planner.handle(.tick, at: 0).compactMap { if case .ask(let id, _) = $0 { id } else { nil } }
        return (planner, asked.map { planner.address(of: $0) })
    }

    @Test("An address gets one connection until bytes come from it, then its share")
    func division() throws {
        var (planner, addresses) = divided()
        #expect(addresses == [1, 2, 0, 0, 0])
        planner.answered(1, after: 0.01, at: 0)
        for (lost, expected) in [(3, 1), (4, 0)] {
            let start = try #require(planner.connections.first { $0.id == lost }).position
            let decisions = planner.handle(.ended(lost, position: start, .lost), at: 0.1)
            let id = decisions.compactMap { if case .ask(let id, _) = $0 { id } else { nil } }.first
            #expect(id.map { planner.address(of: $0) } == expected, "in place of \(lost)")
        }
    }

    @Test("An address that served may fail once, and a request that it declines is the server's refusal")
    func secondChance() {
        var (planner, _) = divided()
        planner.answered(1, after: 0.01, at: 0)
        #expect(planner.leaveAddress(of: 1, isDeclined: true) == false)
        #expect(planner.address(of: 1) == 1)
        #expect(planner.leaveAddress(of: 1, isDeclined: false) == true)
        // It has the fewest connections again.
        #expect(planner.address(of: 1) == 1)
        #expect(planner.leaveAddress(of: 1, isDeclined: true) == true)
        #expect(planner.address(of: 1) == 0)
    }
}
