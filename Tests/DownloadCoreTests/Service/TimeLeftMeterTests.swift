import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite("TimeLeftMeter", .inTurn, .serialized)
struct TimeLeftMeterTests {
    /// Samples a download eight times a second until it is complete, or for `seconds`.
    /// - Parameter speed: Returns the bytes per second at a moment.
    /// - Returns: For each sample its time, the time left as measured, and the missing bytes.
    func run(
        total: Int64, for seconds: Double = .infinity, _ speed: (Double) -> Double
    ) -> [(time: Double, left: Double?, missing: Int64)] {
        var meter = TimeLeftMeter()
        var bytes: Int64 = 0
        var looks: [(Double, Double?, Int64)] = []
        var time = 0.0
        while bytes < total, time < seconds {
            meter.add(time: time, bytes: bytes, remaining: total - bytes)
            looks.append((time, meter.left, total - bytes))
            bytes += Int64(speed(time) / 8)
            time += 0.125
        }
        return looks
    }

    /// Returns by how many seconds the displayed time left increased, for each increase.
    func jumps(_ lefts: [Double?]) -> [Double] {
        let said = lefts.compactMap { $0.map { $0.rounded(.up) } }
        return zip(said, said.dropFirst()).map { $1 - $0 }.filter { $0 > 0 }
    }

    @Test("At a steady speed the time left counts down like a clock")
    func steady() {
        let looks = run(total: 60_000) { _ in 1000 }
        #expect(looks.count == 481 || looks.count == 480)
        for look in looks.dropFirst(6) {
            #expect(look.left.map { abs($0 - Double(look.missing) / 1000) < 0.2 } == true, "\(look)")
        }
        #expect(jumps(looks.map(\.left)) == [])
    }

    @Test("A noisy speed hardly moves the time left, which is right within a fifth", arguments: [1, 2, 3] as [UInt64])
    func noisy(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let looks = run(total: 120_000) { _ in Double.random(in: 0...2000, using: &generator) }
        let end = looks.last?.time ?? 0
        let lefts = looks.dropFirst(40).map(\.left)
        // A sample has noise of 58 %. Without smoothing, the time left would increase at every other sample.
        #expect(jumps(Array(lefts)).count <= lefts.count / 50, "\(jumps(Array(lefts)))")
        for look in looks.dropFirst(40) {
            let truth = end - look.time
            #expect(look.left.map { abs($0 - truth) <= max(3, truth / 5) } == true, "\(look) of \(truth)")
        }
    }

    @Test(
        "The time left follows a lasting change of speed within seconds", arguments: [(1000.0, 100.0), (100.0, 1000.0)])
    func changing(before: Double, after: Double) {
        let looks = run(total: 1_000_000, for: 120) { $0 < 60 ? before : after }
        let late = looks.filter { $0.time > 60 + 24 }
        #expect(!late.isEmpty)
        for look in late {
            let truth = Double(look.missing) / after
            #expect(look.left.map { abs($0 - truth) < truth * 0.25 } == true, "\(look) of \(truth)")
        }
    }

    @Test("Bursts and the pauses between them are averaged into one speed")
    func bursts() {
        let looks = run(total: 200_000) { Int($0 * 8) % 16 < 4 ? 8000 : 0 }
        let lefts = looks.dropFirst(80).map(\.left)
        #expect(jumps(Array(lefts)).reduce(0, +) <= 30, "\(jumps(Array(lefts)))")
    }

    @Test("The time left is unknown before enough samples, for an unknown size, and for a stalled download")
    func silent() {
        var meter = TimeLeftMeter()
        #expect(meter.left == nil)
        meter.add(time: 0, bytes: 0, remaining: 100)
        meter.add(time: 0.25, bytes: 10, remaining: 90)
        #expect(meter.left == nil)
        meter.add(time: 1, bytes: 20, remaining: nil)
        #expect(meter.left == nil)
        meter.add(time: 2, bytes: 20, remaining: 80)
        #expect(meter.left != nil)
        var still = TimeLeftMeter()
        for time in 0..<10 { still.add(time: Double(time), bytes: 5, remaining: 5) }
        #expect(still.left == nil)
    }

    @Test("Bytes at the start are not counted as speed, and a restart is measured anew")
    func offset() {
        var meter = TimeLeftMeter()
        meter.add(time: 0, bytes: 1_000_000, remaining: 1000)
        meter.add(time: 1, bytes: 1_000_100, remaining: 900)
        #expect(meter.left.map { abs($0 - 9) < 0.5 } == true)
        meter.add(time: 2, bytes: 100, remaining: 1_000_900)
        #expect(meter.left == nil)
    }

    @Test("While bytes are missing, the time left is not zero")
    func last() {
        var meter = TimeLeftMeter()
        for time in 0..<10 { meter.add(time: Double(time), bytes: Int64(time) * 100, remaining: 100) }
        meter.add(time: 30, bytes: 900, remaining: 1)
        #expect(meter.left ?? 0 > 0)
    }
}
