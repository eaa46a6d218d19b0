import DownloadCore
import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

extension DlmSandbox {
    var configuration: String { root("config/dlm/config.yaml") }

    func configure(_ yaml: String) throws {
        try root.write(yaml, to: "config/dlm/config.yaml")
    }
}

extension EndToEnd {
    @Suite("config.yaml and the environment", .serialized, .timeLimit(.minutes(1)))
    struct SettingsTests {
        let content = Content(seed: 130, size: mebibyte)

        /// Runs a test with one download in each state: completed, failed, cancelled and paused. The last three have a
        /// partial file.
        private func withHistory(_ body: (DlmSandbox) async throws -> Void) async throws {
            let reply = FaultReply(content, etag: "\"v1\"")
            let script: FaultServer.Handler = { request in
                switch request.target {
                case "/failed": reply.with { $0.cut = .reset(after: 300_000) }
                case "/cancelled", "/paused": reply.with { $0.cut = .stall(after: 300_000) }
                default: reply
                }
            }
            try await withDlm(script) { sandbox, server in
                _ = try await sandbox.run("get", server.url("/done"))
                _ = try await sandbox.run("get", "--retries", "0", server.url("/failed"))
                for name in ["cancelled", "paused"] {
                    let process = try sandbox.start("get", server.url("/\(name)"))
                    while !sandbox.exists("\(name).part") { _ = try await states(sandbox) }
                    if name == "cancelled" {
                        #expect(try await sandbox.run("cancel", "3").ending == .exited(0))
                        #expect(try await process.result().ending == .exited(11))
                    } else {
                        try await process.expectEnd(by: SIGTERM)
                    }
                }
                try #require(try await states(sandbox) == ["completed", "failed", "cancelled", "paused"])
                try #require(sandbox.names == ["cancelled.part", "done", "failed.part", "paused.part"])
                try await body(sandbox)
            }
        }

        private func states(_ sandbox: DlmSandbox) async throws -> [String] {
            try await sandbox.list().sorted { $0.id < $1.id }.map(\.state)
        }

        @Test(
            "The background session removes old downloads, too, and reads its limits from the file and the environment")
        func daemon() async throws {
            try await withHistory { sandbox in
                try sandbox.configure("history-age: 0.001s\nmax-concurrent: 3\nlimit-rate: 2M\n")
                let result = try await sandbox.done("daemon", "start", "--limit-rate", "1M", "--json") {
                    $0.environment["DLM_MAX_CONCURRENT"] = "5"
                }
                let status = try sandbox.status(result)
                #expect(status.maxConcurrent == 5 && status.rateLimit == 1 << 20)
                try await sandbox.waitForStates { $0 == ["paused"] }
                #expect(sandbox.names == ["done", "paused.part"])
            }
        }

        /// One line of the output of `dlm config --json`.
        struct Setting: Decodable, Equatable {
            let version: Int
            let key: String
            let value: String
            let origin: String
            let place: String?
            let host: String?
        }

        @Test("dlm config shows each setting in force with its origin, and an invalid value is an error")
        func config() async throws {
            try await withDlm { sandbox in
                let file = sandbox.root("config/dlm/config.yaml")
                let plain = try await sandbox.done("config")
                #expect(plain.stdout.split(separator: "\n").allSatisfy { $0.hasSuffix("  default") })
                #expect(plain.stdout.contains(/\nmax-concurrent +16 +default\n/), "\(plain.stdout)")

                try sandbox.configure("# mine\nlimit-rate: 2M\nretries: 7\n")
                let result = try await sandbox.done("config", "--json") { $0.environment["DLM_RETRIES"] = "9" }
                let settings = try result.stdout.split(separator: "\n").map {
                    try JSONDecoder().decode(Setting.self, from: Data($0.utf8))
                }
                #expect(settings.allSatisfy { $0.version == 1 })
                let set = settings.filter { $0.origin != "default" }
                #expect(
                    set == [
                        Setting(
                            version: 1, key: "limit-rate", value: "2M", origin: "file", place: file + ":2", host: nil),
                        Setting(
                            version: 1, key: "retries", value: "9", origin: "environment", place: "DLM_RETRIES",
                            host: nil),
                    ])

                try sandbox.configure("limit-rat: 2M\n")
                let wrong = try await sandbox.run("config")
                expectFailure(2, of: wrong)
                #expect(wrong.stderr.contains("config.yaml:1: unknown key 'limit-rat'; did you mean 'limit-rate'?"))
            }
        }

        @Test(
            "A wrong setting is reported in one line, with status 2, before anything is done",
            arguments: [
                ["list"], ["get", "http://127.0.0.1:9/"], ["get", "-b", "http://127.0.0.1:9/"], ["resume", "--all"],
                ["daemon", "start"], ["daemon", "run"],
            ])
        func wrong(arguments: [String]) async throws {
            try await withDlm { sandbox in
                try sandbox.configure("\nretires: 3\n")
                let result = try await sandbox.run(arguments)
                expectFailure(2, of: result)
                let expected = "dlm: \(sandbox.configuration):2: unknown key 'retires'; did you mean 'retries'?\n"
                #expect(result.stderr == expected)
                #expect(!FileManager.default.fileExists(atPath: sandbox.stateFolder + "/downloads.sqlite"))
            }
        }
    }
}
