import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Progress", .serialized, .timeLimit(.minutes(2)))
    struct ProgressTests {
        let content = Content(seed: 67, size: 3 * mebibyte)
        let escape = "\u{1B}"

        var slow: FaultReply { FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(3 * mebibyte) } }

        /// Returns the output of a download to its terminal.
        private func shown(
            _ sandbox: DlmSandbox, _ server: FaultServer, _ arguments: [String] = [], endedBy signal: Int32? = nil,
            _ environment: [String: String] = [:]
        ) async throws -> String {
            var launch = try sandbox.launch(["get", server.url()] + arguments)
            launch.terminalColumns = 80
            launch.environment.merge(environment) { $1 }
            let process = try ChildProcess(launch)
            if let signal {
                #expect(await process.waitForOutput { $0.errorText.contains("%") })
                process.send(signal)
            }
            let result = try await process.result()
            #expect(result.ending == signal.map { .signalled($0) } ?? .exited(0), "\(result.stderr)")
            return result.stderr
        }

        @Test(
            "The cursor is never hidden and rests below the lines, whatever ends it",
            arguments: [nil, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL] as [Int32?])
        func cursor(signal: Int32?) async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let text = try await shown(sandbox, server, endedBy: signal)
                #expect(!text.contains("\(escape)[?25l"))
                // A terminal ends its lines with CR and LF.
                #expect(text.utf8.last == UInt8(ascii: "\n") || text.hasSuffix("\(escape)[J"), "\(text)")
            }
        }

        @Test(
            "A taskbar is told, and told of the end, whatever ends it",
            arguments: [nil, SIGINT, SIGTERM, SIGHUP] as [Int32?])
        func taskbar(signal: Int32?) async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let text = try await shown(sandbox, server, endedBy: signal, ["WT_SESSION": "1"])
                #expect(text.contains("\(escape)]9;4;1;"))
                let last = text.ranges(of: "\(escape)]9;4;").last.map { text[$0.upperBound...].first }
                #expect(last == "0", "\(text)")
            }
        }

        @Test("A terminal that is not known to have a taskbar is not told")
        func noTaskbar() async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let text = try await shown(sandbox, server)
                #expect(text.contains("%") && !text.contains("\(escape)]"))
            }
        }

        @Test(
            "Colours are for terminals that want them",
            arguments: [
                ([:], [], true), (["NO_COLOR": "1"], [], false), (["CLICOLOR": "0"], [], false),
                (["NO_COLOR": "1"], ["--color", "always"], true), ([:], ["--color", "never"], false),
                (["CLICOLOR": "0", "CLICOLOR_FORCE": "1"], [], true),
            ] as [([String: String], [String], Bool)])
        func colours(environment: [String: String], arguments: [String], isColoured: Bool) async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let text = try await shown(sandbox, server, arguments, environment)
                #expect(text.contains("\(escape)[36m") == isColoured, "\(text)")
                #expect(text.contains("%"))
            }
        }

        @Test("A dumb terminal gets whole lines", arguments: [[], ["--progress", "bar"]])
        func dumb(arguments: [String]) async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let text = try await shown(sandbox, server, arguments, ["TERM": "dumb"])
                #expect(!text.contains(escape), "\(text)")
            }
        }

        @Test("--progress none shows nothing, --progress plain a line now and then")
        func plain() async throws {
            let slower = slow.with { $0.bytesPerSecond = Int(mebibyte / 2) }
            try await withDlm(serving: slower) { sandbox, server in
                let result = try await sandbox.run("get", "--progress", "plain", "-x", "1", server.url())
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
                let lines = result.errorLines
                #expect(lines.count == 1, "\(result.stderr)")
                let form = /dlm: file\.bin: \d+%, \d\.\d\/3\.0 MiB, [\d.]+ [KM]iB\/s, \d:\d\d left/
                #expect(lines.first?.wholeMatch(of: form) != nil, "\(result.stderr)")
            }
            try await withDlm(serving: slow) { sandbox, server in
                let text = try await shown(sandbox, server, ["--progress", "none"])
                #expect(!text.contains("%"), "\(text)")
            }
        }

        @Test("--progress json: at most two lines a second, which are all of standard error")
        func json() async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let begin = ContinuousClock.now
                let result = try await sandbox.run("get", "--progress", "json", server.url())
                let halves = (ContinuousClock.now - begin) / .milliseconds(500)
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
                #expect(result.errorLines.count >= 2 && Double(result.errorLines.count) <= halves + 2)
                #expect(
                    result.errorLines.allSatisfy {
                        $0.hasPrefix(#"{"event":"progress","id":1"#) || $0.contains(#""id":1,"#)
                    })
                #expect(result.errorLines.last?.contains(#""state":"completed""#) == true)
            }
        }
    }
}
