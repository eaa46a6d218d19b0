import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Rules of config.yaml", .inTurn, .serialized)
struct SettingsRuleTests {
    private static let yaml = """
        retries: 1
        directory: ~/all
        hosts:
          cdn.example.org: {retries: 2, connections: 2}
        rules:
          - host: "*.example.org"
            retries: 3
            limit-rate: 1k
          - path: "*.iso"
            directory: ~/iso
            connections: 4
          - {host: cdn.example.org, path: "/a/*/b", retries: 5}
        """

    private func settings(_ yaml: String) throws -> Settings {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder("dlm"), withIntermediateDirectories: true)
        try folder.write(yaml, to: "dlm/config.yaml")
        return try Settings(environment: ["XDG_CONFIG_HOME": folder.path, "HOME": "/nowhere/me"])
    }

    private func requests(_ urls: [String], _ arguments: [String] = []) throws -> [DownloadRequest] {
        let get = try #require(try DLM.command(["get", "http://list.invalid/"] + arguments) as? Get)
        let maker = try RequestMaker(get, settings: settings(Self.yaml), workingFolder: "/nowhere/work")
        return try urls.map { try maker.request($0) }
    }

    @Test("Later rules override earlier rules, and rules override the sections of hosts")
    func matching() throws {
        let requests = try requests([
            "http://h/x", "http://cdn.example.org/x", "http://a.example.org/d/x.iso?y=.zip", "http://h/x.iso/y",
            "http://cdn.example.org/a/x/y/b", "http://h/.iso",
        ])
        #expect(requests.map(\.retry.limit) == [1, 3, 3, 1, 5, 1])
        #expect(requests.map(\.connections) == [.automatic, 2, 4, .automatic, 2, 4])
        #expect(requests.map(\.rateLimit) == [nil, 1024, 1024, nil, 1024, nil])
        let folders = requests.map { $0.destination.folder.split(separator: "/").last ?? "" }
        #expect(folders == ["all", "all", "iso", "all", "all", "iso"])
    }

    @Test("The command line overrides rules")
    func line() throws {
        let requests = try requests(["http://cdn.example.org/a/x/b"], ["--retries", "9", "-x", "1"])
        #expect(requests.map(\.retry.limit) == [9] && requests.map(\.connections) == [1])
    }

    @Test("dlm config shows the number of the rule, and with a URL the values in force")
    func config() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder("dlm"), withIntermediateDirectories: true)
        try folder.write(Self.yaml, to: "dlm/config.yaml")
        let service = FakeService()
        let all = try await run(["config"], service) { $0.environment["XDG_CONFIG_HOME"] = folder.path }
        #expect(all.status == 0 && all.captured.output.contains("rule 2: connections"), "\(all.captured.errors)")
        let one = try await run(["config", "http://h/x.iso"], service) {
            $0.environment["XDG_CONFIG_HOME"] = folder.path
        }
        let line = one.captured.outputLines.first { $0.hasPrefix("connections ") }
        #expect(line?.contains(" 4 ") == true && line?.hasSuffix("config.yaml:11") == true, "\(line ?? "")")
    }

    @Test(
        "An invalid rule is refused with its line",
        arguments: [
            ("rules: x", ":1: give rules such as"), ("rules: [x]", ":1: give rules such as"),
            ("rules:\n  - retries: 3", ":2: give host or path"),
            ("rules:\n  - path: a\n    retries: 3", ":2: a path begins with / or *"),
            ("rules:\n  - host: 'a b'", ":2: 'a b' is not a host name"),
            ("rules:\n  - host: a\n    color: never", ":3: color does not apply to single URLs"),
            ("rules:\n  - host: a\n    max-per-host: 3", ":3: max-per-host does not apply to single URLs"),
            ("rules:\n  - host: a\n    retrys: 3", ":3: unknown key 'retrys'; did you mean 'retries'?"),
            ("rules:\n  - host: a\n    retries: x", ":3: retries: 'x' cannot be used"),
        ])
    func refused(yaml: String, message: String) throws {
        let error = #expect(throws: SettingsError.self) { try settings(yaml) }
        #expect(error?.message.contains("config.yaml" + message) == true, "\(error?.message ?? "")")
    }

    @Test("An empty list of rules sets nothing", arguments: ["rules:", "rules: []"])
    func empty(yaml: String) throws { #expect(try settings(yaml).entries.isEmpty) }
}
