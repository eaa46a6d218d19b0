import ArgumentParser
import DownloadCore
import DownloadKit
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
        let given = ["daemon", "run", "--report-descriptor", "3"] + words.dropFirst(2)
        let run = try #require(try DLM.command(given) as? Daemon.Run)
        #expect(run.options.settings == SessionSettings(maxConcurrent: 3, maxPerHost: 2, rateLimit: 3 << 19))
        #expect(try DaemonOptions.parse(["--limit-rate", "none"]).settings.rateLimit == 0)
    }

    @Test("dlm daemon run by hand has no options for the output", arguments: ["--json", "-q", "-v", "--color=never"])
    func output(option: String) {
        #expect(throws: (any Error).self) { try DLM.command(["daemon", "run", option]) }
    }

    @Test("A setting of the limit for one host applies, whatever -j is")
    func perHost() throws {
        let settings = try Settings(environment: ["DLM_MAX_PER_HOST": "4", "XDG_CONFIG_HOME": "/nonexistent"])
        var configuration = SessionConfiguration(kind: .foreground, stateFolder: "/")
        try DaemonOptions.parse(["-j", "32"]).apply(to: &configuration, settings)
        #expect(configuration.maxConcurrent == 32 && configuration.maxPerHost == 4)
    }

    @Test("Invalid values are refused", arguments: [["-j", "0"], ["-j", "1001"], ["--max-per-host", "0"]])
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { try DaemonOptions.parse(arguments) }
    }
}
