import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("dlm get -o - with several connections", .serialized, .timeLimit(.minutes(2)))
    struct ParallelStreamTests {
        let content = Content(seed: 730, size: 40 * mebibyte + 17)

        /// Runs `dlm get -o - OPTIONS URL` with its output in a pipe to `reader`. The status of dlm is printed at the
        /// end of standard error.
        private func run(
            _ options: String, _ url: String, into reader: String = "sha256sum", in sandbox: DlmSandbox
        ) async throws -> ChildProcess.Result {
            try await sandbox.runShell(
                "{ $dlm get -o - \(options) \(url); echo \"status $?\" >&2; } | { \(reader); }")
        }

        private func reply(bytesPerSecond: Int64? = 40 * mebibyte) -> FaultReply {
            FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = bytesPerSecond.map { Int($0) } }
        }

        @Test(
            "The bytes arrive whole and in order, with a spool in memory or on disk, of which nothing stays",
            arguments: ["-x 4 --spool 8M", "-x 4", "-x auto --spool 100M", "-x 16 --spool 32M", "-x auto:3", "-x 1"])
        func whole(options: String) async throws {
            try await withDlm(serving: reply()) { sandbox, server in
                try sandbox.root.makeFolder("tmp")
                let result = try await sandbox.runShell(
                    "export TMPDIR=\(sandbox.root("tmp")); $dlm get -o - \(options) \(server.url()) | sha256sum")
                #expect(result.stdout == content.sha256 + "  -\n" && result.stderr == "", "\(result.stderr)")
                #expect(sandbox.names == [] && sandbox.root.names(in: "tmp") == [])
                if let count = Int(options.split(separator: " ")[1]) {
                    #expect(server.log.peakConnections == count)
                } else {
                    #expect(server.log.peakConnections <= 6)
                }
            }
        }

        @Test("Each connection is lost several times, and the stream goes on")
        func lost() async throws {
            let reply = reply()
            try await withDlm({ [reply] request in
                request.number < 40 ? reply.with { $0.cut = .close(after: 700_000) } : reply
            }) { sandbox, server in
                let result = try await run("-x 4 --spool 8M --retry-delay 0.01", server.url(), in: sandbox)
                #expect(result.stdout == content.sha256 + "  -\n", "\(result.stderr)")
                #expect(result.stderr == "status 0\n")
                #expect(server.log.bytesSentTwice() < mebibyte)
            }
        }

        @Test("After an outage, the next attempt goes on with the bytes in the spool")
        func outage() async throws {
            let reply = reply()
            try await withDlm({ [reply] request in
                switch request.number {
                case ..<5: reply.with { $0.cut = .close(after: 3 * mebibyte) }
                case ..<12: reply.with { $0.cut = .close(after: 0) }
                default: reply
                }
            }) { sandbox, server in
                let result = try await run("-x 4 --spool 64M --retry-delay 0.01", server.url(), in: sandbox)
                #expect(result.stdout == content.sha256 + "  -\n", "\(result.stderr)")
                #expect(result.errorLines.last == "status 0", "\(result.stderr)")
                #expect(server.log.bytesSentTwice() < mebibyte)
            }
        }

        @Test("If the file changes midway: status 9, and the reader never gets a byte of the new file")
        func changed() async throws {
            let (old, other) = (reply(), Content(seed: 731, size: content.size))
            try await withDlm({ [old] request in
                request.number <= 6 ? old : FaultReply(other, etag: "\"v2\"")
            }) { sandbox, server in
                try Data(content.bytes(0..<content.size)).write(to: URL(fileURLWithPath: sandbox.file("expected")))
                let reader = "cat >got; cmp -n $(stat -c %s got) got expected && echo beginning"
                let result = try await run(
                    "-x 4 --spool 8M --retry-delay 0.01", server.url(), into: reader, in: sandbox)
                #expect(result.stdout == "beginning\n")
                #expect(result.errorLines.last == "status 9", "\(result.stderr)")
                #expect(result.errorLines.count == 2 && result.stderr.contains("cannot be continued"))
            }
        }

        @Test("A wrong checksum gives status 9 at the end, and a right one changes nothing", arguments: [true, false])
        func checksum(isRight: Bool) async throws {
            let sum = isRight ? content.sha256 : Content(seed: 732, size: 9).sha256
            try await withDlm(serving: reply()) { sandbox, server in
                let result = try await run("-x 4 --checksum sha256:\(sum)", server.url(), in: sandbox)
                #expect(result.stdout == content.sha256 + "  -\n")
                #expect(result.errorLines.last == "status \(isRight ? 0 : 9)", "\(result.stderr)")
            }
        }

        enum Fault: CaseIterable {
            case noRanges, noValidator, wrongBytes, wrongRange, halfRefused, chunked, chunkedParts, laterRefused
        }

        @Test("A server whose parts cannot be used sends the file over one connection", arguments: Fault.allCases)
        func unusable(fault: Fault) async throws {
            let good = reply()
            try await withDlm({ [good] request in
                switch fault {
                case .noRanges: good.with { $0.ranges = .ignored }
                case .noValidator: good.with { $0.etag = nil }
                case .wrongBytes:
                    2..<5 ~= request.number ? good.with { $0.ranges = .wrongBytes(by: 4096) } : good
                case .wrongRange: 8..<10 ~= request.number ? good.with { $0.ranges = .wrongStart(by: 4096) } : good
                case .halfRefused: request.number % 2 == 0 ? FaultReply(status: 503) : good
                case .chunked: good.with { $0.framing = .chunked }
                case .chunkedParts: request.number == 1 ? good : good.with { $0.framing = .chunked }
                case .laterRefused: 2..<5 ~= request.number ? FaultReply(status: 403) : good
                }
            }) { sandbox, server in
                let result = try await run("-x 4 --spool 8M --retry-delay 0.01", server.url(), in: sandbox)
                #expect(result.stdout == content.sha256 + "  -\n", "\(fault) \(result.stderr)")
                #expect(result.errorLines.last == "status 0", "\(fault) \(result.stderr)")
            }
        }

        @Test("A slow reader bounds what is fetched and stored, and memory stays small")
        func slowReader() async throws {
            let large = Content(seed: 733, size: 300 * mebibyte)
            try await withDlm(serving: FaultReply(large, etag: "\"v1\"")) { sandbox, server in
                #expect(mkfifo(sandbox.file("pipe"), 0o600) == 0)
                // The reader stops in the middle of the file for longer than the stall timeout.
                let script = """
                    export TMPDIR=$PWD
                    $dlm get -o - -x 4 --spool 80M --stall-timeout 4 \(server.url()) >pipe & pid=$!
                    { head -c 50000000 >first; sleep 6
                    stat -Lc %b /proc/$pid/fd/* >blocks
                    grep VmHWM /proc/$pid/status >&2; cat first - | sha256sum; } <pipe
                    sort -n blocks | tail -1; wait $pid && echo good
                    """
                let result = try await sandbox.runShell(script)
                let lines = result.stdout.split(separator: "\n").map(String.init)
                #expect(lines.first == large.sha256 + "  -" && lines.last == "good", "\(lines) \(result.stderr)")
                let blocks = try #require(lines.count == 3 ? Int64(lines[1]) : nil)
                #expect(blocks * 512 <= 81 * mebibyte, "\(blocks)")
                let peak = try #require(Int64(result.stderr.filter(\.isNumber)))
                if !Sanitizer.isOn { #expect(peak << 10 < 128 * mebibyte) }
            }
        }

        @Test("If the disk of the spool takes no more bytes, one connection brings the rest")
        func fullDisk() async throws {
            let shim = try SystemShim()
            try await withDlm(serving: reply()) { sandbox, server in
                let script = "{ $dlm get -o - -x 4 --spool 100M \(server.url()); echo \"status $?\" >&2; } | sha256sum"
                let result = try await sandbox.run("-c", script) {
                    $0.environment["dlm"] = $0.executable
                    $0.executable = "/bin/sh"
                    $0.environment.merge(shim.environment(quota: 9 * mebibyte)) { $1 }
                }
                #expect(result.stdout == content.sha256 + "  -\n", "\(result.stderr)")
                #expect(result.stderr == "status 0\n")
                // All connections but the last had written a part.
                #expect(server.log.peakConnections == 4 && server.log.entries.last?.start ?? 0 > 0)
            }
        }

        @Test(
            "If the reader is gone, dlm ends with exit status 3 at once, even while the server sends nothing",
            arguments: [50_000, 4 * mebibyte])
        func readerGone(sent: Int64) async throws {
            let endless = reply(bytesPerSecond: nil).with { $0.cut = .stall(after: sent) }
            try await withDlm(serving: endless) { sandbox, server in
                let result = try await run("-x 4", server.url(), into: "head -c 100 >/dev/null", in: sandbox)
                #expect(result.errorLines.last == "status 3", "\(result.stderr)")
                #expect(result.errorLines.count == 2 && result.stderr.contains("standard output"), "\(result.stderr)")
            }
        }

        @Test("A signal ends dlm while the reader does not read, and no spool stays", arguments: [SIGINT, SIGKILL])
        func signal(number: Int32) async throws {
            let large = Content(seed: 734, size: 90 * mebibyte)
            try await withDlm(serving: FaultReply(large, etag: "\"v1\"")) { sandbox, server in
                try sandbox.root.makeFolder("tmp")
                let script =
                    "export TMPDIR=\(sandbox.root("tmp")); { $dlm get -o - -x 4 --spool 100M \(server.url()); "
                    + "echo \"status $?\" >&2; } | { read line; sleep 30; }"
                let shell = try sandbox.startShell(script)
                #expect(await server.waitUntil { $0.bytesSent > 80 * mebibyte })
                try #require(sandbox.process(running: "get\0-o\0")).send(number)
                await shell.expectSays("status \(128 + number)")
                #expect(sandbox.root.names(in: "tmp") == [])
                shell.send(SIGKILL)
            }
        }
    }
}
