import ArgumentParser
import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Options of the background session", .inTurn, .serialized)
struct DaemonOptionsTests {
    @Test("Options stay the same when they are written as arguments and read again")
    func arguments() throws {
        let options = try DaemonOptions.parse(["-j", "3", "--max-per-host", "2", "--limit-rate", "1.5M"])
        let again = try DaemonOptions.parse(options.arguments)
        #expect(again.settings == SessionSettings(maxConcurrent: 3, maxPerHost: 2, rateLimit: 3 << 19))
        #expect(try DaemonOptions.parse([]).arguments == [])
        #expect(try DaemonOptions.parse(["--limit-rate", "none"]).settings.rateLimit == 0)
    }

    @Test("Invalid values are refused", arguments: [["-j", "0"], ["-j", "1001"], ["--max-per-host", "0"]])
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { try DaemonOptions.parse(arguments) }
    }
}
