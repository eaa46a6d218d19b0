import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Tests of the functions for which Foundation uses ICU. The released program has only a part of ICU's data
    /// (`scripts/trim-icu.c`), and `make release-test` runs these tests with that program.
    @Suite("Languages, time zones and international names", .serialized, .timeLimit(.minutes(2)))
    struct LocaleTests {
        static let languages = [
            "C", "POSIX", "de_DE.UTF-8", "ar_EG.UTF-8", "fa_IR.UTF-8", "hi_IN.UTF-8", "ja_JP.UTF-8", "th_TH.UTF-8",
            "tr_TR.UTF-8", "zh_CN.UTF-8", "sr_RS@latin", "en_GB.UTF-8", "xx_YY.UTF-8", "\u{7F}",
        ]

        @Test("Numbers and times are written the same way in all languages", arguments: languages)
        func language(name: String) async throws {
            try await withDlm({ _ in
                FaultReply(Content(seed: 3, size: 4096), etag: "\"1\"").with { $0.cut = .stall(after: 10) }
            }) {
                sandbox, server in
                let change = { (launch: inout ProcessLaunch) in
                    launch.environment["LANG"] = name
                    launch.environment["LC_ALL"] = name
                    launch.environment["TZ"] = "Asia/Kolkata"
                }
                let result = try await sandbox.run(
                    "get", "--max-time", "1.5", "--retries", "0", "--stall-timeout", "0.5", server.url("/a"),
                    with: change)
                #expect(result.stderr.contains("0.5 s"), "\(result.stderr)")
                let shown = try await sandbox.run("show", "1", with: change)
                #expect(shown.ending == .exited(0) && shown.stdout.allSatisfy(\.isASCII), "\(shown.stdout)")
                let listed = try await sandbox.run("list", "--all", "--json", with: change)
                #expect(
                    listed.ending == .exited(0) && listed.stdout.contains("\"state\":\"failed\""), "\(listed.stderr)")
            }
        }

        @Test(
            "--at is a time in the local time zone, in summer and in winter",
            arguments: [
                ("Asia/Kolkata", "2030-07-01 12:00", "2030-07-01T06:30:00"),
                ("America/New_York", "2030-07-01 12:00", "2030-07-01T16:00:00"),
                ("America/New_York", "2030-12-01 12:00", "2030-12-01T17:00:00"),
                ("Europe/Berlin", "2030-07-01 12:00", "2030-07-01T10:00:00"),
                ("Australia/Lord_Howe", "2030-01-15 12:00", "2030-01-15T01:00:00"),
                ("UTC", "2030-07-01 12:00", "2030-07-01T12:00:00"),
            ])
        func zone(name: String, time: String, expected: String) async throws {
            try await withDlm(serving: FaultReply(Content(seed: 3, size: 10))) { sandbox, server in
                let change = { (launch: inout ProcessLaunch) in launch.environment["TZ"] = name }
                var launch = try sandbox.launch(["get", "--at", time, server.url("/a")])
                change(&launch)
                let process = try ChildProcess(launch)
                try await sandbox.waitForStates { $0 == ["waiting"] }
                let shown = try await sandbox.run("show", "1", "--json", with: change)
                #expect(shown.stdout.contains("\"waitingUntil\":\"\(expected)"), "\(shown.stdout)")
                process.send(SIGTERM)
                _ = try await process.result()
            }
        }

        @Test(
            "Host names in other scripts are converted by IDNA",
            arguments: [
                ("bücher.test", "xn--bcher-kva.test"), ("BÜCHER.test", "xn--bcher-kva.test"),
                ("例え.test", "xn--r8jz45g.test"), ("مثال.test", "xn--mgbh0fb.test"),
            ])
        func host(name: String, expected: String) async throws {
            try await withDlm(serving: FaultReply(Content(seed: 3, size: 10))) { sandbox, server in
                let port = try #require(URL(string: server.url("/"))?.port)
                try await sandbox.done(
                    "get", "--resolve", "\(expected):\(port):127.0.0.1", "http://\(name):\(port)/a")
                #expect(server.log.entries.first?.request["Host"] == "\(expected):\(port)")
            }
        }
    }
}
