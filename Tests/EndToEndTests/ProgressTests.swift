import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Progress", .serialized, .timeLimit(.minutes(2)))
    struct ProgressTests {
        let content = Content(seed: 67, size: 3 * mebibyte)
        let escape = "\u{1B}"

        var slow: FaultReply { FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(3 * mebibyte) } }

        /// Returns what a download wrote to its terminal. After the download has written `awaited`, it ends by itself
        /// or by the signal.
        private func shown(
            _ sandbox: DlmSandbox, _ server: FaultServer, _ arguments: [String] = [], endedBy signal: Int32? = nil,
            _ environment: [String: String] = [:], awaited: String? = "%"
        ) async throws -> String {
            server.holdEnds()
            var launch = try sandbox.launch(["get", server.url()] + arguments)
            launch.terminalColumns = 80
            launch.environment.merge(environment) { $1 }
            let process = try ChildProcess(launch)
            if let awaited { await process.expectSays(awaited) }
            if let signal { process.send(signal) } else { server.releaseEnds() }
            let result = try await process.result()
            #expect(result.ending == signal.map { .signalled($0) } ?? .exited(0), "\(result.stderr)")
            return result.stderr
        }

        @Test(
            "The cursor is never hidden, and ends below the lines, whatever ends the download",
            arguments: [nil, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL] as [Int32?])
        func cursor(signal: Int32?) async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let text = try await shown(sandbox, server, endedBy: signal)
                #expect(!text.contains("\(escape)[?25l"))
                // A terminal ends its lines with CR and LF.
                let drawn = text.replacing("\(escape)[?2004l", with: "")
                #expect(drawn.utf8.last == UInt8(ascii: "\n") || drawn.hasSuffix("\(escape)[J"), "\(drawn)")
            }
        }

        @Test(
            "On a terminal the progress fits its width, and standard output has only the path",
            arguments: [40, 80, 120])
        func width(columns: Int) async throws {
            try await withDlm(holding: slow) { sandbox, server in
                let get = try sandbox.start("get", server.url()) { $0.terminalColumns = columns }
                await get.expectSays("%")
                server.releaseEnds()
                let result = try await get.result()
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
                #expect(result.stderr.contains("file.bin"))
                let escapes = try Regex("\u{1B}\\[[0-9;?]*[A-Za-z]")
                let lines = result.stderr.replacing(escapes, with: "\n").split { $0.isNewline }
                #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
            }
        }

        @Test(
            "The taskbar gets the progress and its end, whatever ends the download",
            arguments: [nil, SIGINT, SIGTERM, SIGHUP] as [Int32?])
        func taskbar(signal: Int32?) async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let told = "\(escape)]9;4;1;"
                let text = try await shown(sandbox, server, endedBy: signal, ["WT_SESSION": "1"], awaited: told)
                let last = text.ranges(of: "\(escape)]9;4;").last.map { text[$0.upperBound...].first }
                #expect(last == "0", "\(text)")
            }
        }

        @Test("A dumb terminal gets whole lines", arguments: [[], ["--progress", "bar"]])
        func dumb(arguments: [String]) async throws {
            try await withDlm(serving: slow) { sandbox, server in
                let text = try await shown(sandbox, server, arguments, ["TERM": "dumb"], awaited: nil)
                #expect(!text.contains(escape), "\(text)")
            }
        }

        @Test("--progress none shows nothing, and --progress plain prints a line at most every five seconds")
        func plain() async throws {
            // The download takes more than a minute, so it still runs long after the first line is printed.
            let slower = slow.with { $0.bytesPerSecond = Int(mebibyte / 32) }
            try await withDlm(serving: slower) { sandbox, server in
                let get = try sandbox.start("get", "--progress", "plain", "-x", "1", server.url())
                let isTold = await get.waitForOutput { output in
                    let form = /dlm: file\.bin: \d+%, \d\.\d\/3\.0 MiB, [\d.]+ ([KM]i)?B\/s, \d+:\d\d left/
                    return output.errorText.split(separator: "\n").contains { $0.wholeMatch(of: form) != nil }
                }
                #expect(isTold, "\(get.standardError)")
                get.send(SIGKILL)
                let result = try await get.result()
                #expect(Double(result.errorLines.count) <= result.duration / .seconds(5), "\(result.stderr)")
            }
            try await withDlm(serving: slow) { sandbox, server in
                let text = try await shown(sandbox, server, ["--progress", "none"], awaited: nil)
                #expect(!text.contains("%"), "\(text)")
            }
        }

        @Test("--progress json prints at most two lines a second, and nothing else to standard error")
        func json() async throws {
            try await withDlm(holding: slow) { sandbox, server in
                let get = try sandbox.start("get", "--progress", "json", server.url())
                #expect(await get.waitForOutput { $0.errorText.contains(#""event":"progress""#) })
                server.releaseEnds()
                let result = try await get.result()
                let halves = result.duration / .milliseconds(500)
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
