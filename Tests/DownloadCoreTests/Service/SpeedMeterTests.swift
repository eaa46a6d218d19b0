import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite("SpeedMeter", .inTurn, .serialized)
struct SpeedMeterTests {
    func meter(_ samples: [(Double, Int64)]) -> SpeedMeter {
        samples.reduce(into: SpeedMeter()) { $0.add(time: $1.0, bytes: $1.1) }
    }

    @Test("There is no speed before enough samples")
    func beginning() {
        #expect(SpeedMeter().speed == nil)
        #expect(meter([(0, 0)]).speed == nil)
        #expect(meter([(0, 0), (0.125, 1000)]).speed == nil)
    }

    @Test("Speed is bytes per second, without the bytes at the start")
    func steady() {
        #expect(meter([(10, 5_000_000), (11, 5_001_000)]).speed == 1000)
    }

    @Test("Only the last seconds count")
    func window() {
        let fast = (0...10).map { (Double($0), Int64($0) * 1000) }
        let slow = (1...10).map { (Double(10 + $0), 10_000 + Int64($0) * 50) }
        #expect(meter(fast + slow).speed == 50)
    }

    @Test("The speed of a stalled download becomes zero")
    func stalled() {
        #expect(meter([(0, 0), (1, 1000), (3, 1000), (6, 1000), (9, 1000)]).speed == 0)
    }

    @Test("A download that starts over is measured anew")
    func restart() {
        #expect(meter([(0, 0), (1, 9000), (2, 100)]).speed == nil)
        #expect(meter([(0, 0), (1, 9000), (2, 100), (3, 200)]).speed == 100)
    }

    @Test("Samples that are far apart still give a speed")
    func sparse() {
        #expect(meter([(0, 0), (60, 6000)]).speed == 100)
    }
}
