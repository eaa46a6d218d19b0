import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("dlm rpc, and the background session that serves it", .serialized, .timeLimit(.minutes(2)))
    struct RPCCommandTests {
        private static let serving = ["--rpc", "--rpc-listen", "0"]

        private func start(_ sandbox: DlmSandbox) async throws -> ForeignProcess {
            try await sandbox.startDaemon(
                Self.serving[0], Self.serving[1], Self.serving[2], "--rpc-folders", sandbox.files)
        }

        /// Makes a folder with a program `xdg-open` that writes its arguments to a file. Returns the path of the
        /// folder.
        private func makeBrowser(_ sandbox: DlmSandbox) throws -> String {
            let script = "#!/bin/sh\ncd '\(sandbox.root.path)'; printf '%s\\n' \"$@\" >draft; mv draft opened\n"
            try sandbox.root.write(script, to: "bin/xdg-open")
            #expect(chmod(sandbox.root("bin/xdg-open"), 0o755) == 0)
            return sandbox.root("bin")
        }

        private func address(_ sandbox: DlmSandbox) throws -> String {
            try String(contentsOfFile: sandbox.stateFolder + "/rpc-address", encoding: .utf8).trimmingCharacters(
                in: .whitespacesAndNewlines)
        }

        @Test(
            "rpc open gives the browser a private file that leads to the page; no argument or log has the secret")
        func open() async throws {
            try await withDlm { sandbox in
                let daemon = try await start(sandbox)
                let browser = try makeBrowser(sandbox)
                let secret = try await sandbox.run("rpc", "secret").stdout.trimmingCharacters(
                    in: .whitespacesAndNewlines)
                let token = try await sandbox.run("rpc", "secret", "--metrics").stdout
                #expect(
                    secret.count == 32 && secret.allSatisfy(\.isHexDigit) && token.count == 33
                        && !token.contains(secret))
                let result = try await sandbox.run("rpc", "open") {
                    $0.environment["PATH"] = "\(browser):/usr/bin:/bin"
                }
                let address = try address(sandbox)
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(result.stdout == address + "\n" && result.stderr == "")
                let opened = try await sandbox.ask(in: sandbox.root.path) {
                    try? sandbox.root.read("opened")
                } until: {
                    $0 != nil
                }
                let file = try #require(opened).trimmingCharacters(in: .whitespacesAndNewlines)
                #expect(file.hasPrefix(sandbox.stateFolder + "/") && !file.contains(secret))
                #expect(try sandbox.mode(of: file) == 0o600)
                let page = try String(contentsOfFile: file, encoding: .utf8)
                #expect(page.contains("url=\(address)/#secret=\(secret)"))
                let line = try String(contentsOfFile: "/proc/\(daemon.pid)/cmdline", encoding: .utf8)
                #expect(!line.contains(secret) && !sandbox.daemonLog.contains(secret))
                #expect(sandbox.daemonLog.contains("serving aria2's RPC and the page at \(address)"))
            }
        }

        @Test(
            "If few files may be open, neither silent clients of the network nor connections take the last ones",
            arguments: [40, 64])
        func fewFiles(limit: Int) async throws {
            let reply = FaultReply(Content(seed: 1, size: 6 * mebibyte), etag: "\"v1\"").with {
                $0.bytesPerSecond = 1 << 17
            }
            try await withDlm(serving: reply) { sandbox, server in
                var launch = try sandbox.launch(
                    ["daemon", "start", "--json"] + Self.serving + ["--rpc-folders", sandbox.files])
                launch.runInShell(after: "ulimit -n \(limit)")
                let daemon = try sandbox.daemon(try await ChildProcess(launch).result())
                let port = try #require(Int(try address(sandbox).split(separator: ":").last ?? ""))
                try await sandbox.done(["get", "-b", "-x", "16", server.url()])
                let silent = try (0..<60).map { _ in try RawClient(port: port, reads: false) }
                let client = try RawClient(port: port)
                client.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                #expect(try await client.answer().status == 200, "\(sandbox.daemonLog)")
                #expect(try await sandbox.daemonStatus().pid == daemon.pid)
                for client in silent { client.close() }
                // At 128 KiB/s for each connection, libdispatch opens a file several times before the end.
                try await sandbox.done("wait", "1")
                #expect(try await sandbox.daemonStatus().pid == daemon.pid)
            }
        }

        @Test("If too few files may be open for the background session, the error names ulimit -n")
        func tooFewFiles() async throws {
            try await withDlm { sandbox in
                let result = try await sandbox.run(["daemon", "start"]) { $0.runInShell(after: "ulimit -n 30") }
                #expect(result.ending == .exited(12) && result.stderr.contains("ulimit -n"), "\(result.stderr)")
            }
        }

        @Test("Without xdg-open, the address and the reason are printed")
        func noBrowser() async throws {
            try await withDlm { sandbox in
                _ = try await start(sandbox)
                let result = try await sandbox.run("rpc", "open") { $0.environment["PATH"] = sandbox.root("home") }
                let address = try address(sandbox)
                #expect(result.ending == .exited(0) && result.stdout == address + "\n")
                #expect(result.errorLines.count == 1 && result.stderr.contains("xdg-open"), "\(result.stderr)")
            }
        }

        @Test("If no page is served, rpc open says what to do; it does not open the address of a killed session")
        func stale() async throws {
            try await withDlm { sandbox in
                expectRefusal(try await sandbox.run("rpc", "open"))
                let first = try await start(sandbox)
                first.send(SIGKILL)
                #expect(await first.waitForEnd())
                #expect(FileManager.default.fileExists(atPath: sandbox.stateFolder + "/rpc-address"))
                expectRefusal(try await sandbox.run("rpc", "open"))
                let second = try await sandbox.startDaemon()
                expectRefusal(try await sandbox.run("rpc", "open"))
                let again = try await sandbox.run("daemon", "start", "--rpc")
                #expect(again.ending != .exited(0) && again.stderr.contains("without --rpc"), "\(again.stderr)")
                second.send(SIGTERM)
                #expect(await second.waitForEnd())
            }
        }

        private func expectRefusal(_ result: ChildProcess.Result, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(result.ending != .exited(0) && result.stdout == "", sourceLocation: sourceLocation)
            #expect(
                result.errorLines.count == 1 && result.stderr.contains("dlm daemon start --rpc"), "\(result.stderr)",
                sourceLocation: sourceLocation)
        }

        @Test(
            "An address that cannot be saved, a taken port and a secret that others can read are errors in one line"
        )
        func failures() async throws {
            try await withDlm { sandbox in
                let (descriptor, port) = try LoopbackSocket.listen(backlog: 1)
                defer { close(descriptor) }
                let taken = try await sandbox.run("daemon", "start", "--rpc", "--rpc-listen", "\(port)")
                #expect(taken.ending != .exited(0) && taken.errorLines.count == 1, "\(taken.stderr)")
                #expect(taken.stderr.contains("\(port)") && taken.stderr.contains("rpc-listen"), "\(taken.stderr)")
                try sandbox.root.makeFolder("state/dlm/rpc-address/x")
                let unsaved = try await sandbox.run("daemon", "start", "--rpc", "--rpc-listen", "0")
                #expect(unsaved.ending != .exited(0) && unsaved.errorLines.count == 1, "\(unsaved.stderr)")
                #expect(unsaved.stderr.contains("rpc-address"), "\(unsaved.stderr)")
                try FileManager.default.removeItem(atPath: sandbox.stateFolder + "/rpc-address")
                try sandbox.root.write("0123456789abcdef\n", to: "state/dlm/rpc-secret")
                #expect(chmod(sandbox.stateFolder + "/rpc-secret", 0o644) == 0)
                for result in [
                    try await sandbox.run("daemon", "start", "--rpc", "--rpc-listen", "0"),
                    try await sandbox.run("rpc", "secret"),
                ] {
                    #expect(result.ending != .exited(0) && result.errorLines.count == 1, "\(result.stderr)")
                    #expect(result.stderr.contains("other users may read it"), "\(result.stderr)")
                }
            }
        }

        @Test("With rpc: true in config.yaml, every background session serves RPC, unless it is started with --no-rpc")
        func configured() async throws {
            try await withDlm { sandbox in
                try sandbox.configure("rpc: true\nrpc-listen: 127.0.0.1:0\nrpc-folders: [\(sandbox.files)]\n")
                let first = try await sandbox.startDaemon()
                #expect(try address(sandbox).hasPrefix("http://127.0.0.1:"))
                first.send(SIGTERM)
                #expect(await first.waitForEnd())
                #expect(!FileManager.default.fileExists(atPath: sandbox.stateFolder + "/rpc-address"))
                _ = try await sandbox.startDaemon("--no-rpc")
                #expect(!FileManager.default.fileExists(atPath: sandbox.stateFolder + "/rpc-address"))
            }
        }
    }
}
