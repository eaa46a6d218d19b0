import ArgumentParser
import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Options of the background session", .inTurn, .serialized)
struct DaemonOptionsTests {
    @Test("dlm daemon run accepts all options of dlm daemon start")
    func arguments() throws {
        let words = try GivenArguments.normalized([
            "daemon", "start", "-qj3", "--max-per-host", "2", "--limit-rate", "1.5M", "--json", "-v", "--color",
            "never",
        ])
        let run = try #require(try DLM.command(["daemon", "run"] + words.dropFirst(2)) as? Daemon.Run)
        #expect(run.options.settings == SessionSettings(maxConcurrent: 3, maxPerHost: 2, rateLimit: 3 << 19))
        #expect(try DaemonOptions.parse(["--limit-rate", "none"]).settings.rateLimit == 0)
    }

    @Test("Invalid values are refused", arguments: [["-j", "0"], ["-j", "1001"], ["--max-per-host", "0"]])
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { try DaemonOptions.parse(arguments) }
    }
}
