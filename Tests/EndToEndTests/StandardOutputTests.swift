import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("dlm get -o -: to standard output", .serialized, .timeLimit(.minutes(2)))
    struct StandardOutputTests {
        let content = Content(seed: 720, size: 24 * mebibyte + 17)

        /// Runs `dlm get -o - OPTIONS URL` in a shell, with its output in a pipe to `reader`. The status of dlm is
        /// printed at the end of standard error.
        private func pipe(
            _ options: String, _ url: String, into reader: String, in sandbox: DlmSandbox
        ) throws -> ChildProcess {
            try sandbox.startShell("{ $dlm get -o - \(options) \(url); echo \"status $?\" >&2; } | { \(reader); }")
        }

        /// Expects that the reader got the whole file, that dlm printed nothing else, and that nothing is left on disk.
        private func expectWhole(
            _ result: ChildProcess.Result, _ content: Content, in sandbox: DlmSandbox, _ what: Any = "",
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            #expect(result.stdout == content.sha256 + "  -\n", "\(what)", sourceLocation: sourceLocation)
            #expect(result.stderr == "status 0\n", "\(what)", sourceLocation: sourceLocation)
            #expect(sandbox.names == [], "\(what)", sourceLocation: sourceLocation)
            #expect(sandbox.root.names(in: "state") == [], "\(what)", sourceLocation: sourceLocation)
        }

        @Test("Standard output has only the body, and nothing is recorded", arguments: [0, 700, 24 * mebibyte + 17])
        func whole(size: Int64) async throws {
            let content = Content(seed: 721, size: size)
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                let result = try await pipe("", server.url(), into: "sha256sum", in: sandbox).result()
                expectWhole(result, content, in: sandbox)
                // No range of an empty file can be satisfied (416), so the file is requested again without a range.
                #expect(server.log.entries.count == (size == 0 ? 2 : 1))
                #expect(server.log.entries.last?.sent == size)
            }
        }

        enum Proof: CaseIterable {
            case etag, date, nothing, noRanges, chunked, weak

            /// Whether the server must send the bytes again that dlm has already written.
            var sendsAgain: Bool { ![.etag, .date].contains(self) }
        }

        @Test(
            "After each of 20 lost connections, the stream continues at its place, with or without validators",
            arguments: Proof.allCases)
        func drops(proof: Proof) async throws {
            let size: Int64 = proof.sendsAgain ? 6 * mebibyte + 5 : 24 * mebibyte + 17
            let content = Content(seed: 722, size: size)
            var reply = FaultReply(content)
            switch proof {
            case .etag: reply.etag = "\"v1\""
            case .date: reply.lastModified = HTTPDate.ago(100_000)
            case .nothing: break
            case .noRanges:
                reply.etag = "\"v1\""
                reply.ranges = .ignored
            case .chunked:
                reply.framing = .chunked
                reply.ranges = .ignored
            case .weak: reply.etag = "W/\"v1\""
            }
            let step = size / 21
            try await withDlm({ [reply] request in
                // The bytes that must be sent again come first in each answer, and are more each time.
                let already = proof.sendsAgain ? Int64(request.number - 1) * step : 0
                return request.number > 20 ? reply : reply.with { $0.cut = .close(after: already + step) }
            }) { sandbox, server in
                let result = try await pipe("--retry-delay 0.01", server.url(), into: "sha256sum", in: sandbox).result()
                expectWhole(result, content, in: sandbox, proof)
                #expect(server.log.entries.count == 21)
                if !proof.sendsAgain { #expect(server.log.bytesSentTwice() <= 20 * mebibyte / 4) }
            }
        }

        @Test(
            "If the file changes after a part was written: status 9, and no byte of the new file is written",
            arguments: ["\"v1\"", "W/\"v1\"", nil])
        func changed(etag: String?) async throws {
            let old = FaultReply(content, etag: etag).with { $0.cut = .close(after: 5 * mebibyte) }
            let other = Content(seed: 723, size: content.size)
            let new = FaultReply(other, etag: etag?.replacingOccurrences(of: "v1", with: "v2"))
            try await withDlm({ $0.number == 1 ? old : new }) { sandbox, server in
                let reader = "cat >got; cmp -n $(stat -c %s got) got expected && echo beginning"
                let start = Data(content.bytes(0..<6 * mebibyte))
                try start.write(to: URL(fileURLWithPath: sandbox.file("expected")))
                let result = try await pipe("--retry-delay 0.01", server.url(), into: reader, in: sandbox).result()
                #expect(result.stdout == "beginning\n")
                #expect(result.errorLines.last == "status 9", "\(result.stderr)")
                #expect(result.errorLines.count == 2)
                #expect(result.stderr.contains("cannot be continued"))
            }
        }

        @Test("A wrong checksum gives exit status 9 at the end", arguments: [true, false])
        func mismatch(byServer: Bool) async throws {
            let wrong = Content(seed: 724, size: 9)
            let reply = FaultReply(content, etag: "\"v1\"").with {
                let digest = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
                if byServer { $0.fields = [("Repr-Digest", "sha-256=:\(digest):")] }
            }
            try await withDlm(serving: reply) { sandbox, server in
                let options = byServer ? "" : "--checksum sha256:\(wrong.sha256)"
                let result = try await pipe(options, server.url(), into: "sha256sum", in: sandbox).result()
                #expect(result.stdout == content.sha256 + "  -\n")
                #expect(result.errorLines.last == "status 9", "\(result.stderr)")
                #expect(result.errorLines.count == 2)
            }
        }

        @Test("A right checksum, from --checksum or from a list, does not change the output")
        func match() async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                try sandbox.root.write("\(content.sha256)  other\n\(content.sha256)  file.bin\n", to: "SUMS")
                for options in ["--checksum sha256:\(content.sha256)", "--checksum-file \(sandbox.root("SUMS"))"] {
                    let result = try await pipe(options, server.url(), into: "sha256sum", in: sandbox).result()
                    expectWhole(result, content, in: sandbox, options)
                }
            }
        }

        @Test("A slow reader pauses the transfer, and memory stays small")
        func slowReader() async throws {
            let large = Content(seed: 725, size: 160 * mebibyte)
            try await withDlm(serving: FaultReply(large, etag: "\"v1\"")) { sandbox, server in
                #expect(mkfifo(sandbox.file("pipe"), 0o600) == 0)
                // The script reads a little, and then nothing for longer than the stall timeout.
                let script = """
                    $dlm get -o - --stall-timeout 4 \(server.url()) >pipe & pid=$!
                    { head -c 1000 >first; sleep 6; grep VmHWM /proc/$pid/status >&2; cat first - | sha256sum; } <pipe
                    wait $pid && echo good
                    """
                let result = try await sandbox.runShell(script)
                #expect(result.stdout == large.sha256 + "  -\ngood\n", "\(result.stderr)")
                #expect(result.errorLines.count == 1)
                let peak = try #require(Int64(result.stderr.filter(\.isNumber)))
                if !Sanitizer.isOn { #expect(peak << 10 < 128 * mebibyte) }
                #expect(server.log.entries.count == 1)
            }
        }

        @Test(
            "If the reader is gone, dlm ends with exit status 3 at once, even while the server sends nothing",
            arguments: ["head -c 100 >/dev/null", "exec <&-"], [50_000, 4 * mebibyte])
        func readerGone(reader: String, sent: Int64) async throws {
            let endless = FaultReply(content, etag: "\"v1\"").with { $0.cut = .stall(after: sent) }
            try await withDlm(serving: endless) { sandbox, server in
                let result = try await pipe("", server.url(), into: reader, in: sandbox).result()
                #expect(result.errorLines.last == "status 3", "\(result.stderr)")
                #expect(result.errorLines.count == 2 && result.stderr.contains("standard output"), "\(result.stderr)")
                #expect(server.log.entries.count == 1)
            }
        }

        @Test("A closed or full standard output gives exit status 3", arguments: [">&-", ">/dev/full"])
        func unusable(redirection: String) async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let result = try await sandbox.runShell("$dlm get -o - \(server.url()) \(redirection)")
                expectFailure(3, of: result)
                #expect(result.stderr.contains("standard output"), "\(result.stderr)")
            }
        }

        @Test("A signal ends dlm, even while the reader does not read", arguments: [SIGINT, SIGTERM])
        func signal(number: Int32) async throws {
            let reply = FaultReply(content, etag: "\"v1\"")
            try await withDlm(holding: reply.with { $0.bytesPerSecond = Int(8 * mebibyte) }) { sandbox, server in
                let get = try sandbox.startShell("exec $dlm get -o - \(server.url()) >/dev/null")
                #expect(await server.waitUntil { $0.bytesSent > 2 * mebibyte })
                get.send(number)
                let result = try await get.result()
                server.releaseEnds()
                #expect(result.ending == .signalled(number))
                #expect(result.errorLines.count == 1 && result.stderr.contains("nothing is kept"), "\(result.stderr)")
                server.handle { _ in reply }
                let shell = try pipe("", server.url(), into: "read line; sleep 30", in: sandbox)
                let sent = server.log.bytesSent
                #expect(await server.waitUntil { $0.bytesSent > sent + 10 * mebibyte })
                try #require(sandbox.process(running: "get\0-o\0")).send(number)
                await shell.expectSays("status \(128 + number)")
                shell.send(SIGKILL)
            }
        }

        @Test("-o - needs no home and no writable folder")
        func bare() async throws {
            try await withDlm(serving: FaultReply(Content("hello"))) { sandbox, server in
                let result = try await sandbox.run("get", "-o", "-", server.url()) {
                    $0.environment = [:]
                    $0.folder = "/proc"
                }
                #expect(
                    result.ending == .exited(0) && result.stdout == "hello" && result.stderr == "", "\(result.stderr)")
            }
        }
    }
}
