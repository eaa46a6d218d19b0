import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of limits", .serialized, .timeLimit(.minutes(3)))
    struct LocalLimitFaultTests {
        static let fileSizes = [2 * mebibyte, 0, 4096, 20_000, 50_000, 100_000, 200_000, 1_000_000, 6 * mebibyte]

        @Test("If the size of files is limited, the error names ulimit -f")
        func fileSizeLimit() async throws {
            let limits = withConnections(FaultTrial.short(Self.fileSizes, each: 8), short: 4)
            try await eachCell(limits) { try await fileSizeLimit($0, connections: $1, framing: .contentLength) }
            try await eachCell(limits) { try await fileSizeLimit($0, connections: $1, framing: .chunked) }
        }

        private func fileSizeLimit(
            _ limit: Int64, connections: Int, framing: FaultReply.Framing
        ) async throws {
            let reply = LocalTrial.reply(connections: connections, framing: framing).with { $0.bytesPerSecond = nil }
            try await withDlm(serving: reply) { sandbox, server in
                let size = framing == .chunked ? "unknown" : "known"
                let trial = LocalTrial(
                    "file size limit of \(limit) bytes, size \(size)", connections: connections, sandbox, server)
                let result = try await trial.run(through: Through.limit("fsize=\(limit)"))
                try trial.judge(result, errors: limit >= mebibyte ? [3] : [3, 12])
                #expect(result.stderr.contains("ulimit -f"), "\(result.stderr)")
                if framing == .contentLength, limit >= mebibyte { #expect(sandbox.names == []) }
                try await trial.expectRecovery()
            }
        }

        static let descriptors = [20, 44] + Array(8..<44) + [48, 52, 56, 60, 64]

        @Test(
            "If the number of open files is limited, the file is right or the error names ulimit -n",
            arguments: FaultTrial.short(descriptors, each: 20))
        func openFiles(limit: Int) async throws {
            let reply = LocalTrial.reply(connections: 4).with { $0.bytesPerSecond = nil }
            try await withDlm(serving: reply) { sandbox, server in
                let trial = LocalTrial("\(limit) open files allowed", connections: 4, sandbox, server)
                let result = try await trial.run(through: Through.limit("nofile=\(limit)"))
                try trial.judge(result, errors: [1])
                guard result.ending != .exited(0) else { return }
                #expect(limit < 32 && result.stderr.contains("ulimit -n"), "\(result.stderr)")
                try await trial.expectRecovery()
            }
        }

        @Test("If the caller has used up most of the allowed open files, the error names ulimit -n")
        func inheritedDescriptors() async throws {
            try await withDlm(serving: LocalTrial.reply(connections: 1)) { sandbox, server in
                let trial = LocalTrial("open files used up by the caller", sandbox, server)
                let script = "i=10; while [ $i -lt 38 ]; do eval \"exec $i</dev/null\"; i=$((i+1)); done"
                let program = Through.limit("nofile=40") + ["/bin/bash"] + Through.shell(script).dropFirst()
                let result = try await trial.run(through: program)
                try trial.judge(result, errors: [1])
                #expect(result.ending == .exited(1) && result.stderr.contains("ulimit -n"), "\(result.stderr)")
                try await trial.expectRecovery()
            }
        }

        @Test("With few open files, idle connections to many hosts leave enough for the files", arguments: [128, 400])
        func manyHosts(limit: Int) async throws {
            try await withNginx { sandbox, nginx in
                let content = Content(seed: 7, size: 1000)
                let list = try (0..<1000).map { index in
                    try nginx.add(content, as: "f\(index)")
                    // libcurl connects to 127.0.0.1 for each of these hosts, and keeps a connection to each.
                    return nginx.url("/f\(index)").replacingOccurrences(of: "127.0.0.1", with: "h\(index).localhost")
                }
                var launch = try sandbox.launch(through: Through.limit("nofile=\(limit)"), ["get", "-i", "-"])
                launch.input = list.joined(separator: "\n")
                let result = try await ChildProcess(launch).result()
                #expect(result.ending == .exited(0), "\(result.stderr.prefix(2000))")
                #expect(result.outputLines.count == list.count)
            }
        }

        @Test("Many simultaneous downloads with few open files: each gives the right file or an error")
        func manyDownloads() async throws {
            try await withDlm(serving: FaultReply(LocalTrial.content, etag: "\"v1\"")) { sandbox, server in
                let count = FaultTrial.isFull ? 60 : 12
                let trial = FaultTrial(area: .local, fault: "\(count) downloads at once, 44 open files allowed")
                let list = (0..<count).map { server.url("/f\($0)") }.joined(separator: "\n")
                var launch = try sandbox.launch(
                    through: Through.limit("nofile=44"), ["get", "-j", "60", "--max-per-host", "60", "-i", "-"])
                launch.input = list
                let result = try await ChildProcess(launch).result()
                #expect(result.ending == .exited(0) || result.ending == .exited(4) || result.ending == .exited(3))
                for path in result.outputLines { #expect(try sha256(of: String(path)) == LocalTrial.content.sha256) }
                if result.ending == .exited(0) { #expect(result.outputLines.count == count) }
                trial.note(result, isRight: true)
            }
        }

        /// The limits of the address space, in MiB.
        static let memory = [150, 600] + [20, 60, 90, 110, 130, 180, 220, 260, 300, 340, 380, 400, 420, 460, 500, 800]

        @Test("If the memory is limited, the file is right or there is an error, and nothing hangs")
        func addressSpace() async throws {
            for limit in FaultTrial.isFull ? Self.memory : Array(Self.memory.prefix(2)) {
                let reply = LocalTrial.reply(connections: 4).with { $0.bytesPerSecond = nil }
                try await withDlm(serving: reply) { sandbox, server in
                    let trial = LocalTrial("\(limit) MiB of addresses allowed", connections: 4, sandbox, server)
                    let result = try await trial.run(through: Through.limit("as=\(Int64(limit) << 20)"))
                    // Below 150 MiB, the loader of shared libraries may fail before dlm runs.
                    if result.stderr.hasPrefix("dlm: ") || result.ending == .exited(0) {
                        try trial.judge(result, errors: [1])
                    } else {
                        #expect(limit < 150, "\(limit) \(result)")
                        #expect(sandbox.names == [])
                    }
                    if result.ending != .exited(0) { try await trial.expectRecovery() }
                }
            }
        }
    }
}
