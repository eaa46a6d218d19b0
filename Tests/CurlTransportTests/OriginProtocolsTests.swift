import DownloadTestSupport
import Testing

@testable import CurlTransport

@Suite("OriginProtocols: one probe for each origin", .inTurn)
struct OriginProtocolsTests {
    private final class Some {}

    @Test("The first transfer probes while the others wait; then all use what it learned", arguments: [true, false])
    func learns(multiplexes: Bool) {
        var origins = OriginProtocols<Some>()
        let scout = Some()
        let (second, third, fourth) = (Some(), Some(), Some())
        #expect(origins.route("a", scout) == .scout)
        #expect(origins.route("a", second) == .held)
        #expect(origins.route("a", third) == .held)
        #expect(origins.route("b", fourth) == .scout)
        let released = origins.learned("a", from: scout, multiplexes: multiplexes)
        #expect(released.count == 2 && released[0] === second && released[1] === third)
        #expect(origins.route("a", second) == (multiplexes ? .multiplexed : .plain))
        #expect(origins.learned("a", from: scout, multiplexes: multiplexes).isEmpty)
        #expect(origins.scoutEnded("a", scout).isEmpty)
        #expect(origins.route("a", Some()) == (multiplexes ? .multiplexed : .plain))
    }

    @Test("While the probe runs, nothing is learned from other transfers")
    func onlyTheScout() {
        var origins = OriginProtocols<Some>()
        let (scout, other) = (Some(), Some())
        _ = origins.route("a", scout)
        _ = origins.route("a", other)
        #expect(origins.learned("a", from: other, multiplexes: true).isEmpty)
        #expect(origins.scoutEnded("a", other).isEmpty)
        #expect(origins.route("a", Some()) == .held)
    }

    @Test("A probe that ends without an answer releases the waiting transfers, and the next one probes")
    func scoutEnds() {
        var origins = OriginProtocols<Some>()
        let (scout, second) = (Some(), Some())
        _ = origins.route("a", scout)
        _ = origins.route("a", second)
        let released = origins.scoutEnded("a", scout)
        #expect(released.count == 1 && released[0] === second)
        #expect(origins.route("a", second) == .scout)
    }

    @Test("A parked transfer that is forgotten is not released")
    func forget() {
        var origins = OriginProtocols<Some>()
        let (scout, second, third) = (Some(), Some(), Some())
        for transfer in [scout, second, third] { _ = origins.route("a", transfer) }
        origins.forget("a", second)
        origins.forget("a", Some())
        let released = origins.learned("a", from: scout, multiplexes: true)
        #expect(released.count == 1 && released[0] === third)
    }

    @Test("When an engine ends, it gets back its own parked transfers of every origin; all others stay parked")
    func end() {
        var origins = OriginProtocols<Some>()
        let (waiting, other) = ([Some(), Some()], Some())
        let scout = Some()
        _ = origins.route("a", scout)
        _ = origins.route("b", Some())
        _ = origins.route("a", waiting[0])
        _ = origins.route("a", other)
        _ = origins.route("b", waiting[1])
        let taken = origins.takeHeld { $0 !== other }
        #expect(Set(taken.map(ObjectIdentifier.init)) == Set(waiting.map(ObjectIdentifier.init)))
        #expect(origins.takeHeld { $0 !== other }.isEmpty)
        #expect(
            origins.learned("a", from: scout, multiplexes: true).map(ObjectIdentifier.init) == [ObjectIdentifier(other)]
        )
    }
}
