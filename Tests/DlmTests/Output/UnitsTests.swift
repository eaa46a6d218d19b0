import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Sizes, rates and times", .inTurn, .serialized)
struct UnitsTests {
    @Test(
        "Sizes are 1024-based and rounded down",
        arguments: [
            (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (16384, "16 KiB"),
            (19_083_034, "18.1 MiB"), (104_857_599, "99.9 MiB"), (104_857_600, "100 MiB"),
            (1_048_575, "1023 KiB"), (685_768_704, "654 MiB"), (1_288_490_189, "1.2 GiB"), (Int64.max, "8 EiB"),
        ])
    func sizes(bytes: Int64, text: String) {
        #expect(Units.size(bytes) == text)
    }

    @Test(
        "A part has the unit of the whole",
        arguments: [
            (432_013_312, 685_768_704, "412/654 MiB"), (20_971_520, 67_108_864, "20.0/64.0 MiB"),
            (1, 685_768_704, "0.0/654 MiB"), (64, 64, "64 B"), (5, 10, "5/10 B"), (0, 0, "0 B"),
        ] as [(Int64, Int64, String)])
    func parts(received: Int64, total: Int64, text: String) {
        #expect(Units.part(received, of: total) == text)
    }

    @Test("If the whole is unknown, only the part is shown")
    func unknownWhole() {
        #expect(Units.part(2048, of: nil) == "2.0 KiB")
    }

    @Test(
        "Rates have the units of sizes",
        arguments: [
            (0, "0 B/s"), (1000, "1000 B/s"), (92_274_688, "88 MiB/s"), (4_194_304, "4.0 MiB/s"),
            (1_048_575, "1023 KiB/s"), (-5, "0 B/s"), (Double.infinity, "0 B/s"),
        ])
    func rates(rate: Double, text: String) {
        #expect(Units.rate(rate) == text)
    }

    @Test(
        "Time left is rounded up to whole seconds",
        arguments: [
            (0, "0:00"), (0.1, "0:01"), (59.2, "1:00"), (62, "1:02"), (3600, "1:00:00"), (3723, "1:02:03"),
            (359_999, "99:59:59"), (475_200, "5d 12h"), (Double.infinity, "-"), (1e12, "-"),
        ])
    func left(seconds: Double, text: String) {
        #expect(Units.left(seconds) == text)
    }

    @Test(
        "Time taken is rounded down",
        arguments: [(0, "0.0 s"), (0.69, "0.6 s"), (9.99, "9.9 s"), (12.9, "12 s"), (61.5, "1:01"), (3723, "1:02:03")])
    func taken(seconds: Double, text: String) {
        #expect(Units.duration(seconds) == text)
    }

    @Test(
        "100 percent is shown only for all bytes",
        arguments: [(0, 10, 0), (999_999, 1_000_000, 99), (10, 10, 100), (0, 0, 100), (11, 10, 100), (1, 3, 33)]
            as [(Int64, Int64, Int)])
    func percent(received: Int64, total: Int64, percent: Int) {
        #expect(Units.percent(received, of: total) == percent)
    }

    @Test("An unknown whole has no percentage")
    func noPercent() {
        #expect(Units.percent(5, of: nil) == nil)
    }
}
