import ArgumentParser
import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Argument types", .inTurn, .serialized)
struct ArgumentsTests {
    @Test(
        "A duration is a number of seconds, minutes, hours or days",
        arguments: [
            ("30", 30), ("30s", 30), ("5m", 300), ("2h", 7200), ("1.5", 1.5), ("0", 0), ("0.5m", 30),
            ("30d", 2_592_000),
        ])
    func seconds(text: String, value: Double) throws {
        #expect(try TransferOptions.parse(["--retry-delay", text]).retryDelay?.value == value)
    }

    @Test(
        "An invalid duration is refused",
        arguments: ["", "s", "-1", "1w", "1e3", "0x10", "nan", "inf", "1 s", "1.2.3", ".5", "10000000000", "５"])
    func notSeconds(text: String) {
        #expect(throws: (any Error).self) { try TransferOptions.parse(["--retry-delay", text]) }
    }

    @Test(
        "A speed is a number of bytes, or a number with the unit k, M, G or T",
        arguments: [
            ("500k", 512_000), ("2M", 2_097_152), ("1.5GiB", 1_610_612_736), ("100", 100), ("1K", 1024),
            ("3MB/s", 3_145_728), ("none", nil), ("0", nil), ("1T", 1 << 40),
        ] as [(String, Int64?)])
    func rate(text: String, limit: Int64?) throws {
        #expect(try Limit.parse([text]).rate?.limit == limit)
    }

    @Test(
        "An invalid speed is refused",
        arguments: ["", "0.1", "fast", "1e6", "0x10", ".5M", "1.M", "5 M", "9999999G", "nan", "５k", "-"])
    func notRate(text: String) {
        #expect(throws: (any Error).self) { try Limit.parse([text]) }
    }

    @Test(
        "IDs are numbers and ranges, each counted once, in the written order",
        arguments: [
            (["3"], [3]), (["5-8"], [5, 6, 7, 8]), (["7-7"], [7]), (["9", "5-7", "6", "9"], [9, 5, 6, 7]),
        ] as [([String], [DownloadID])])
    func ids(texts: [String], ids: [DownloadID]) throws {
        #expect(try Show.parse(texts).ids.ids == ids)
    }

    @Test(
        "An invalid ID is refused",
        arguments: ["", "0", "3-", "8-5", "a", "1-2-3", "+3", "3.0", "99999999999999999999", "1-9999999"])
    func notIDs(text: String) {
        #expect(throws: (any Error).self) { try Show.parse([text]) }
    }
}
