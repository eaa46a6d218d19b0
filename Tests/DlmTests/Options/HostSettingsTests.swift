import DownloadCore
import DownloadKit
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Settings for hosts", .inTurn, .serialized)
struct HostSettingsTests {
    private static let yaml = """
        retries: 1
        directory: ~/all
        limit-rate: 9M
        header: ["A: general", "B: general"]
        insecure: true
        hosts:
          "*":
            retries: 2
            stall-timeout: 7
          "*.example.org":
            retries: 3
            limit-rate: 1k
            connections: 2
            header: ["a: pattern", "C: pattern", "C: again"]
          cdn.example.org:
            retries: 4
            header: "D: host"
            insecure: false
            max-per-host: 3
        """

    private func settings(_ yaml: String, _ environment: [String: String] = [:]) throws -> Settings {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder("dlm"), withIntermediateDirectories: true)
        try folder.write(yaml, to: "dlm/config.yaml")
        return try Settings(
            environment: environment.merging(["XDG_CONFIG_HOME": folder.path, "HOME": "/nowhere/me"]) { $1 })
    }

    private func maker(
        _ arguments: [String] = [], _ environment: [String: String] = [:]
    ) throws -> RequestMaker {
        let get = try #require(try DLM.command(["get", "http://list.invalid/"] + arguments) as? Get)
        return try RequestMaker(get, settings: settings(Self.yaml, environment), workingFolder: "/nowhere/work")
    }

    private func fields(_ request: DownloadRequest) -> [String] {
        request.headers.map { "\($0.name)=\($0.value ?? "")" }
    }

    @Test("Each host gets each key from the most specific section that has the key, and header fields are merged")
    func closest() throws {
        let maker = try maker()
        let urls = ["http://other/", "http://a.example.org:81/", "https://CDN.example.org/", "http://[::1]/"]
        let requests = try urls.map { try maker.request($0) }
        #expect(requests.map(\.retry.limit) == [2, 3, 4, 2])
        #expect(requests.map(\.connections) == [.automatic, 2, 2, .automatic])
        #expect(requests.map(\.rateLimit) == [nil, 1024, 1024, nil])
        #expect(requests.map(\.timeouts.stall.inSeconds) == [7, 7, 7, 7])
        #expect(requests.map(\.trust) == [.insecure, .insecure, .system, .insecure])
        #expect(requests.map(\.destination.folder) == Array(repeating: "/nowhere/me/all", count: 4))
        #expect(fields(requests[0]) == ["A=general", "B=general"])
        #expect(fields(requests[1]) == ["B=general", "a=pattern", "C=pattern", "C=again"])
        #expect(fields(requests[2]) == ["B=general", "a=pattern", "C=pattern", "C=again", "D=host"])
    }

    @Test("A list line overrides the command line, which overrides the environment, which overrides sections")
    func layers() throws {
        let environment = ["DLM_RETRIES": "5", "DLM_CONNECTIONS": "6", "DLM_HEADER": "D: environment"]
        let maker = try maker(["-x", "7", "-H", "c: line", "-d", "here", "--limit-rate", "none"], environment)
        let request = try maker.request("http://cdn.example.org/")
        #expect(request.retry.limit == 5 && request.connections == 7 && request.rateLimit == nil)
        #expect(request.destination.folder == "/nowhere/work/here")
        #expect(fields(request) == ["B=general", "a=pattern", "D=environment", "c=line"])
        let options = [InputList.Line(number: 2, text: " split=8"), InputList.Line(number: 3, text: " header=D: own")]
        let line = InputList.Line(number: 1, text: "http://cdn.example.org/", options: options)
        let own = try #require(maker.request(line) { _ in })
        #expect(own.connections == 8 && fields(own).last == "D=own")
    }

    @Test("The request for a checksum list has the settings of its own host, and no header fields of another host")
    func companion() throws {
        let companion = try maker(["-H", "Authorization: x"]).companion(of: ["http://other/a"])
        #expect(try fields(companion(.example("http://other/SUMS"))).last == "Authorization=x")
        #expect(try fields(companion(.example("http://a.example.org/SUMS"))).last == "C=again")
    }

    @Test("Limits on the number of downloads belong to the session; the command line overrides them")
    func session() throws {
        var configuration = SessionConfiguration(kind: .foreground, stateFolder: "/")
        let settings = try settings(Self.yaml)
        settings.apply(to: &configuration)
        #expect(configuration.hostLimits == [try #require(HostPattern("cdn.example.org")): 3])
        #expect(configuration.rateLimit == 9 << 20)
        let get = try #require(try DLM.command(["get", "http://h/", "-j", "40"]) as? Get)
        get.session.apply(to: &configuration, settings, limitsEach: false)
        #expect(configuration.hostLimits.count == 1 && configuration.maxPerHost == 40)
        let other = try #require(try DLM.command(["get", "http://h/", "--max-per-host", "4"]) as? Get)
        other.session.apply(to: &configuration, settings, limitsEach: false)
        #expect(configuration.hostLimits.isEmpty && configuration.maxPerHost == 4)
        var environment = SessionConfiguration(kind: .foreground, stateFolder: "/")
        try self.settings(Self.yaml, ["DLM_MAX_PER_HOST": "5"]).apply(to: &environment)
        #expect(environment.hostLimits.isEmpty && environment.maxPerHost == 5)
    }

    @Test("The requests of lines are the same together and one by one, and share what they can")
    func lines() throws {
        let maker = try maker(["--query", "k=v"])
        let texts = [
            "http://a.example.org/1", "http://b.example.org/2", "https://b.example.org/2", "http://other/3",
            "http://other/4", "http://u:p@other/5", "http://other/6", #"{"url":"http://other/7","split":"3"}"#,
            "http://other/8", "ftp://other/9", "http://other/10\thttp://other/11", "http://Other/12", "no URL",
            "http://other/13",
        ]
        var lines = texts.enumerated().map { InputList.Line(number: $0 + 1, text: $1) }
        lines[4].options = [InputList.Line(number: 9, text: " split=8")]
        var rejected: [RejectedDocument] = []
        let requests = maker.requests(lines) { rejected.append($0) }
        #expect(Array(requests) == lines.compactMap { maker.request($0) { _ in } })
        #expect(rejected.count == 1 && requests.count == texts.count - 1)
        #expect(requests.runs.map(\.urls.count) == [3, 1, 1, 1, 1, 1, 2, 1, 2])
        #expect(requests[1].url.string == "http://b.example.org/2?k=v")
    }

    @Test("If the same sections apply to two hosts, their requests differ only in the URL")
    func templates() throws {
        let maker = try maker()
        let first = try maker.request("http://a.example.org/1")
        var second = try maker.request("http://b.example.org/2")
        second.url = first.url
        #expect(first == second)
    }
}
