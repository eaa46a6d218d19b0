import DownloadCore
import DownloadKit
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Settings", .inTurn, .serialized)
struct SettingsTests {
    /// Returns the settings with this text in the file. Nil means no file.
    private func settings(_ yaml: String?, _ environment: [String: String] = [:]) throws -> Settings {
        let folder = try TemporaryFolder()
        if let yaml {
            try FileManager.default.createDirectory(atPath: folder("dlm"), withIntermediateDirectories: true)
            try folder.write(yaml, to: "dlm/config.yaml")
        }
        do {
            return try Settings(environment: environment.merging(["XDG_CONFIG_HOME": folder.path]) { $1 })
        } catch {
            throw SettingsError(error.message.replacing(folder("dlm/"), with: ""))
        }
    }

    private func message(_ yaml: String?, _ environment: [String: String] = [:]) throws -> String {
        do {
            return "accepted: \(try settings(yaml, environment))"
        } catch let error as SettingsError {
            return error.message
        }
    }

    private static let everything = """
        history-age: 30d
        max-concurrent: 4
        max-per-host: 2
        limit-rate: 1.5M
        connections: 3
        retries: 0
        retry-delay: 0.5
        connect-timeout: 2m
        stall-timeout: 1h
        max-redirects: 7
        """

    @Test("Keys for the session and for requests are read and have their effects")
    func everyKey() throws {
        let settings = try settings(Self.everything)
        var configuration = SessionConfiguration(kind: .foreground, stateFolder: "/")
        settings.apply(to: &configuration)
        #expect(configuration.historyAge == .seconds(2_592_000))
        #expect(configuration.maxConcurrent == 4 && configuration.maxPerHost == 2)
        #expect(configuration.rateLimit == 3 << 19)
        let request = try request(["http://h/"], settings)
        #expect(request.connections == 3)
        #expect(request.retry.limit == 0 && request.retry.delay == .seconds(0.5))
        #expect(request.timeouts.connect == .seconds(120) && request.timeouts.stall == .seconds(3600))
        #expect(request.redirect.limit == 7)
        #expect(request.rateLimit == nil)
    }

    @Test("The environment has the same settings, and overrides the file")
    func environment() throws {
        let variables = [
            "DLM_HISTORY_AGE": "12h", "DLM_MAX_CONCURRENT": "5", "DLM_MAX_PER_HOST": "6", "DLM_LIMIT_RATE": "2k",
            "DLM_CONNECTIONS": "7", "DLM_RETRIES": "8", "DLM_RETRY_DELAY": "9", "DLM_CONNECT_TIMEOUT": "10",
            "DLM_STALL_TIMEOUT": "11", "DLM_MAX_REDIRECTS": "12",
        ]
        for settings in [try settings(nil, variables), try settings(Self.everything, variables)] {
            let general = try #require(settings.general)
            let transfer = general.item.transfer
            #expect(general.historyAge?.seconds == 43200 && transfer.limitRate?.limit == 2048)
            #expect(
                [general.session.maxConcurrent, general.session.maxPerHost, transfer.retries, transfer.maxRedirects]
                    == [5, 6, 8, 12])
            #expect(general.item.renewable.count.connections?.number == 7)
            #expect(
                [transfer.retryDelay, transfer.connectTimeout, transfer.stallTimeout].map(\.?.value) == [9, 10, 11])
        }
    }

    @Test(
        "Connections are a number, auto or auto:N, and the default is auto",
        arguments: [
            (nil, .automatic), ("auto", .automatic), ("AUTO", .automatic), ("64", .fixed(64)), ("auto:16", .upTo(16)),
            ("Auto:1", .upTo(1)),
        ] as [(String?, DownloadRequest.Connections)])
    func connections(text: String?, number: DownloadRequest.Connections) throws {
        let settings = try settings(text.map { "connections: \($0)" })
        #expect(try request(["http://h/"], settings).connections == number)
        if let text { #expect(try request(["-x", text, "http://h/"], Settings()).connections == number) }
    }

    @Test("none in the environment removes a limit of the file, and an empty variable has no effect")
    func lifting() throws {
        let lifted = try settings(Self.everything, ["DLM_HISTORY_AGE": "none", "DLM_LIMIT_RATE": "none"])
        var configuration = SessionConfiguration(kind: .foreground, stateFolder: "/")
        lifted.apply(to: &configuration)
        #expect(configuration.historyAge == nil && configuration.rateLimit == nil)
        let empty = try settings(Self.everything, ["DLM_HISTORY_AGE": ""])
        #expect(empty.general?.historyAge?.seconds == 2_592_000)
    }

    /// Returns the request of a command line with these settings.
    private func request(_ arguments: [String], _ settings: Settings) throws -> DownloadRequest {
        let get = try #require(try DLM.command(["get"] + arguments) as? Get)
        return try RequestMaker(get, settings: settings, workingFolder: "/").request("http://h/")
    }

    @Test("Options override settings")
    func options() throws {
        let settings = try settings(Self.everything)
        let arguments = [
            "-x", "9", "--retries", "2", "--retry-delay", "3", "--connect-timeout", "4", "--stall-timeout", "5",
            "--max-redirects", "6", "http://h/",
        ]
        let with = try request(arguments, settings)
        #expect(try with == request(arguments, Settings()))
        #expect(with.connections == 9 && with.retry.limit == 2)
        #expect(with.redirect.limit == 6 && with.timeouts.connect == .seconds(4))
    }

    @Test("Without settings and options, a request has its defaults")
    func defaults() throws {
        let request = try request(["http://h/"], Settings())
        #expect(request.retry == RetryPolicy())
        #expect(request.redirect == RedirectPolicy())
        #expect(request.timeouts == DownloadRequest.Timeouts())
        #expect(request.connections == .automatic)
    }

    @Test(
        "A session takes its limits from the options, and otherwise from the settings",
        arguments: [
            ([], 4, 2, 3 << 19), (["-j", "8"], 8, 2, 3 << 19), (["-j", "8", "--max-per-host", "3"], 8, 3, 3 << 19),
            (["--limit-rate", "1k"], 4, 2, nil), (["--limit-rate", "none"], 4, 2, nil),
        ] as [([String], Int, Int, Int64?)])
    func session(arguments: [String], concurrent: Int, perHost: Int, rate: Int64?) throws {
        let get = try #require(try DLM.command(["get", "http://h/"] + arguments) as? Get)
        let settings = try settings(Self.everything)
        var configuration = SessionConfiguration(kind: .foreground, stateFolder: "/")
        settings.apply(to: &configuration)
        get.session.apply(to: &configuration, settings, limitsEach: get.item.transfer.limitRate != nil)
        #expect(configuration.maxConcurrent == concurrent && configuration.maxPerHost == perHost)
        #expect(configuration.rateLimit == rate)
    }

    @Test("-j alone also sets the limit for one host, unless a setting does")
    func concurrentAlone() throws {
        let get = try #require(try DLM.command(["get", "http://h/", "-j", "40"]) as? Get)
        var configuration = SessionConfiguration(kind: .foreground, stateFolder: "/")
        get.session.apply(to: &configuration, Settings(), limitsEach: false)
        #expect(configuration.maxConcurrent == 40 && configuration.maxPerHost == 40)
    }

    @Test(
        "A missing or empty file sets nothing",
        arguments: [nil, "", "\n", "# only this\n", "---\n", "{}\n", "\u{FEFF}"])
    func nothing(yaml: String?) throws {
        #expect(try settings(yaml, ["DLM_TEST_SEED": "5", "DLM_FROB": "x"]) == Settings())
    }

    @Test(
        "An error is reported in one line, with the place and the remedy",
        arguments: [
            ("history-age: soon\n", "config.yaml:1: history-age: 'soon' cannot be used; give an age such as 30d"),
            ("\n# x\nhistory-age: 0\n", "config.yaml:3: history-age: '0' cannot be used; give an age such as 30d"),
            ("history-age: -1d\n", "config.yaml:1: history-age: '-1d'"),
            (
                "retries: 1\nmax-concurrent: 0\n",
                "config.yaml:2: max-concurrent: give 1 to 1000 downloads"
            ),
            ("max-concurrent: 1001\n", "give 1 to 1000 downloads"),
            ("max-per-host: many\n", "max-per-host: 'many' cannot be used; give a number"),
            ("connections: 65\n", "give 1 to 64 connections, auto, or auto:N for at most N"),
            ("retries: -1\n", "config.yaml:1: retries: give 0 or more"),
            ("retries: 1.5\n", "'1.5' cannot be used; give a number"),
            ("retries:\n", "config.yaml:1: retries: '' cannot be used; give a number"),
            ("max-redirects: 99999999999999999999\n", "cannot be used; give a number"),
            ("limit-rate: fast\n", "limit-rate: 'fast' cannot be used; give a speed such as 500k"),
            ("retry-delay: 1w\n", "retry-delay: '1w' cannot be used; give a time such as 30"),
            ("connect-timeout: 0\n", "config.yaml:1: connect-timeout: give more than 0"),
            ("stall-timeout: 0s\n", "stall-timeout: give more than 0"),
            ("histry-age: 30d\n", "config.yaml:1: unknown key 'histry-age'; did you mean 'history-age'?"),
            ("History-Age: 30d\n", "did you mean 'history-age'?"),
            ("max_concurrent: 3\n", "did you mean 'max-concurrent'?"),
            ("qwxzyqwxzy: 30d\n", "unknown key 'qwxzyqwxzy'; the nearest are 'window', 'max-size' and 'proxy'"),
            ("retries: 3\nretries: 4\n", "config.yaml:1: 'retries' is there more than once; keep one"),
            ("output: x\n", "unknown key 'output'"), ("json: true\n", "unknown key 'json'"),
            ("insecure: perhaps\n", "config.yaml:1: insecure: give true or false"),
            ("color: red\n", "color: 'red' cannot be used; give one of 'auto', 'always'"),
            ("header: [\"A: 1\", \"none\"]\n", "config.yaml:1: header: header field 1 is not of the form"),
            ("header: [[a]]\n", "config.yaml:1: header needs plain values"),
            ("hosts: 3\n", "config.yaml:1: give settings for hosts such as"),
            ("hosts: [a]\n", "config.yaml:1: give settings for hosts such as"),
            ("hosts:\n  a: 3\n", "config.yaml:2: give settings for hosts such as"),
            ("hosts:\n  http://a/: {retries: 3}\n", "config.yaml:2: 'http://a/' is not a host name"),
            ("hosts:\n  a: {retires: 3}\n", "config.yaml:2: unknown key 'retires'; did you mean 'retries'?"),
            ("hosts:\n  a:\n    retries: x\n", "config.yaml:3: retries: 'x' cannot be used; give a number"),
            (
                "hosts:\n  a: {color: auto}\n",
                "config.yaml:2: color does not apply to single hosts; write it outside of hosts"
            ),
            ("hosts:\n  a: {hosts: {}}\n", "config.yaml:2: unknown key 'hosts'"),
            ("host:\n  a: {retries: 3}\n", "config.yaml:1: unknown key 'host'; did you mean 'hosts'?"),
            ("retries: [3]\n", "config.yaml:1: retries needs one plain value; give one setting in each line"),
            ("retries:\n  a: 3\n", "config.yaml:1: retries needs one plain value"),
            ("- retries: 3\n", "config.yaml:1: give one setting in each line, such as 'history-age: 30d'"),
            ("retries 3\n", "config.yaml:1: give one setting in each line"),
            ("? [a, b]\n: c\n", "config.yaml:1: give one setting in each line"),
            ("a: b: c\n", "config.yaml:1: not valid YAML: mapping values are not allowed"),
            ("retries: 3\n\tconnections: 4\n", "config.yaml:2: not valid YAML"),
            ("retries: '3\n", "not valid YAML: found unexpected end of stream"),
            ("retries: *x\n", "config.yaml:1: not valid YAML: found undefined alias"),
            ("retries: 1\n---\nretries: 2\n", "config.yaml:2: not valid YAML: found another document"),
            ("retries: 1\n\u{1}", "config.yaml:2: not valid YAML: control characters are not allowed"),
            ("retries: 1\r\n\0", "config.yaml:2: not valid YAML: control characters are not allowed"),
        ])
    func wrong(yaml: String, part: String) throws {
        let message = try message(yaml)
        #expect(message.contains(part), "\(message)")
        #expect(message.hasPrefix("config.yaml:"), "\(message)")
        #expect(!message.contains("\n"))
    }

    @Test("A bad value in the environment names the variable")
    func wrongVariable() throws {
        #expect(
            try message("retries: 3\n", ["DLM_RETRIES": "x"])
                == "DLM_RETRIES: 'x' cannot be used; give a number")
        #expect(try message(nil, ["DLM_HISTORY_AGE": "0"]).hasPrefix("DLM_HISTORY_AGE: '0' cannot be used"))
    }

    @Test("A bad value in the file is an error, even if the environment overrides the value")
    func overridden() throws {
        #expect(try message("retries: x\n", ["DLM_RETRIES": "3"]).hasPrefix("config.yaml:1: retries: 'x'"))
    }

    @Test(
        "A hostile file is refused in time",
        arguments: [
            ("", "[", 100_000), ("a: ", "{a: ", 20_000), ("", "x", 100_000), ("retries: ", "1", 100_000),
            ("", "# comment\n", 200_000), ("retries: ", "[", 990), ("retries: \"", "\\n", 10_000),
        ])
    func hostile(start: String, part: String, count: Int) throws {
        let clock = ContinuousClock.now
        let message = try message(start + String(repeating: part, count: count))
        #expect(message.hasPrefix("config.yaml:") && message.count < 400, "\(message)")
        #expect(ContinuousClock.now - clock < .seconds(30))
    }
}
