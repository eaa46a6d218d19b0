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
    }
}
