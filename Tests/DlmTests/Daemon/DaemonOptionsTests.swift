import ArgumentParser
import DownloadCore
import Testing

@testable import dlm

@Suite("Options of the background session")
struct DaemonOptionsTests {
    @Test(
        "Rates are 1024-based",
        arguments: [
            ("500k", 500 << 10), ("2M", 2 << 20), ("1.5GiB", 3 << 29), ("100", 100), ("7B", 7), ("1TB", 1 << 40),
            ("none", 0), ("0", 0),
        ])
    func rate(text: String, bytes: Int64) throws {
        #expect((try ByteRate(argument: text).limit ?? 0) == bytes)
    }

    @Test("What is no rate is refused", arguments: ["", "k", "-1", "1e3", "2 M", "0.1", "1P", "99999999999T", "١k"])
    func badRate(text: String) {
        #expect(throws: (any Error).self) { try ByteRate(argument: text) }
    }

    @Test("They come through a command line unchanged")
    func arguments() throws {
        let options = try DaemonOptions.parse(["-j", "3", "--max-per-host", "2", "--limit-rate", "1.5M"])
        let again = try DaemonOptions.parse(options.arguments)
        #expect(again.settings == SessionSettings(maxConcurrent: 3, maxPerHost: 2, rateLimit: 3 << 19))
        #expect(try DaemonOptions.parse([]).arguments == [])
        #expect(try DaemonOptions.parse(["--limit-rate", "none"]).settings.rateLimit == 0)
    }

    @Test("What cannot be is refused", arguments: [["-j", "0"], ["-j", "1001"], ["--max-per-host", "0"]])
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { try DaemonOptions.parse(arguments) }
    }
}
