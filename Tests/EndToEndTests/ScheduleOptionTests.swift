import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Start times and windows", .long, .serialized, .timeLimit(.minutes(2)))
    struct ScheduleOptionTests {
        static let content = Content(seed: 790, size: 3 * mebibyte + 1)
        static var file: FaultReply { FaultReply(content, etag: "\"v1\"") }

        /// A window that is closed now, and for the next hour.
        private var closed: String {
            let hour = (Calendar(identifier: .gregorian).dateComponents(in: .gmt, from: Date()).hour ?? 0) + 2
            let text = "\(hour % 24 + 100)".suffix(2)
            return "\(text):00-\(text):30"
        }

        @Test(
            "A download with --at starts at that time, and is reported as waiting until then",
            arguments: [false, true])
        func at(inBackground: Bool) async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                let begin = ContinuousClock.now
                let words = ["get", "--at", "+3s", server.url()] + (inBackground ? ["-b"] : ["--json"])
                let process = try sandbox.start(words)
                try await sandbox.waitForStates { $0 == ["completed"] }
                #expect(ContinuousClock.now - begin >= .seconds(2))
                let result = try await process.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                let told = try await sandbox.done("events", "--since", "0", "--once").eventLines.map(\.event)
                #expect(told == ["added", "waiting", "resumed", "started", "completed", "didFinishEvents"])
                if !inBackground { #expect(result.stdout.contains("\"event\":\"postponed\"")) }
                try expectFile(Self.content, "file.bin", in: sandbox)
            }
        }

        @Test(
            "A download waits outside of its --window, even after a restart of the background session, and runs inside")
        func window() async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                let utc = { (launch: inout ProcessLaunch) in launch.environment["TZ"] = "UTC" }
                try await sandbox.done("get", "-b", "--window", closed, server.url("/a"), with: utc)
                try await sandbox.waitForStates { $0 == ["waiting"] }
                try await sandbox.done("daemon", "stop")
                _ = try await sandbox.startDaemon()
                try await sandbox.waitForStates { $0 == ["waiting"] }
                let listed = try await sandbox.perform("list")
                #expect(listed.stdout.contains("waiting until 20"), "\(listed.stdout)")
                let shown = try await sandbox.perform("show", "1", with: utc)
                #expect(shown.stdout.contains("window=\(closed)"), "\(shown.stdout)")
                let open = try await sandbox.run(
                    "get", "--window", closed, "--window", "00:00-24:00", "-o", "b", server.url("/b"), with: utc)
                try expectDownloaded(Self.content, as: "b", by: open, in: sandbox)
                try await sandbox.done("cancel", "1")
                #expect(server.log.entries.count { $0.request.target == "/a" } == 0)
            }
        }

        @Test("limit-window in the configuration sets the limit of the background session")
        func limit() async throws {
            try await withDlm { sandbox in
                try sandbox.configure("limit-rate: 2M\nlimit-window: ['00:00-24:00 512k', '01:00-02:00 none']\n")
                _ = try await sandbox.startDaemon()
                let status = try await sandbox.ask(atMost: .seconds(45)) {
                    try await sandbox.daemonStatus()
                } until: {
                    $0.rateLimit == 512 << 10
                }
                #expect(status.rateLimit == 512 << 10)
            }
        }

        @Test("An unknown time zone is an error, and UTC is not used instead")
        func zone() async throws {
            try await withDlm { sandbox in
                let result = try await sandbox.run("get", "--at", "18:00", "http://127.0.0.1:9/x") {
                    $0.environment["TZ"] = "Nowhere/Land"
                }
                #expect(result.ending == .exited(2), "\(result.stderr)")
                #expect(result.stderr.contains("TZ=Nowhere/Land"), "\(result.stderr)")
            }
        }

        @Test("--wait lets time pass between starts at one host")
        func wait() async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                let begin = ContinuousClock.now
                let urls = (0..<3).map { server.url("/\($0)") }
                try await sandbox.done(["get", "-x", "1", "--wait", "1"] + urls)
                #expect(ContinuousClock.now - begin >= .seconds(2))
            }
        }
    }
}
