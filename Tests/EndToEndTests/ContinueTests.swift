import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("dlm get -c: partial files of other tools", .serialized, .timeLimit(.minutes(2)))
    struct ContinueTests {
        let content = Content(seed: 730, size: 12 * mebibyte + 9)

        private func leave(_ size: Int64, of content: Content, as name: String, in sandbox: DlmSandbox) throws {
            try Data(content.bytes(0..<size)).write(to: URL(fileURLWithPath: sandbox.file(name)))
        }

        /// Returns the range of each request to the server.
        private func asked(_ server: FaultServer) -> [String?] { server.log.entries.map(\.range) }

        @Test(
            "A partial file is continued at its end, with and without validators, and with several connections",
            arguments: ["\"v1\"", "W/\"v1\"", nil], [1, 4])
        func partial(etag: String?, connections: Int) async throws {
            let size = 7 * mebibyte + 1
            try await withDlm(serving: FaultReply(content, etag: etag)) { sandbox, server in
                try leave(size, of: content, as: "file.bin", in: sandbox)
                try await sandbox.expectDownloaded(
                    content, by: "get", "-c", "-x", "\(connections)", "-o", "file.bin", server.url())
                #expect(sandbox.names == ["file.bin"])
                #expect(server.log.bytesSent <= content.size - size + 256 << 10)
                #expect(asked(server).first == "bytes=\(size - 65536)-\(size - 1)")
            }
        }

        @Test(
            "A partial file of any size is continued: missing, empty, one byte, 64 KiB, all but one byte",
            arguments: [nil, 0, 1, 65535, 65536, 65537, 12 * mebibyte + 8])
        func sizes(size: Int64?) async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                if let size { try leave(size, of: content, as: "file.bin", in: sandbox) }
                try await sandbox.expectDownloaded(content, by: "get", "-c", server.url())
            }
        }

        @Test("A complete file is not changed, with status 0; later runs ask the server whether it changed")
        func complete() async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                try leave(content.size, of: content, as: "file.bin", in: sandbox)
                let before = try sandbox.modified("file.bin")
                try await sandbox.expectDownloaded(content, by: "get", "-c", "-o", "file.bin", server.url())
                #expect(try sandbox.modified("file.bin") == before)
                #expect(server.log.bytesSent == 65536)
                try await sandbox.expectDownloaded(content, by: "get", "-c", "-o", "file.bin", server.url())
                #expect(server.log.bytesSent == 65536)
                #expect(server.log.entries.last?.status == 304)
            }
        }

        @Test("With a checksum, a complete file must match it", arguments: [true, false])
        func completeChecksum(isRight: Bool) async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                try leave(content.size, of: content, as: "file.bin", in: sandbox)
                if !isRight {
                    try overwrite(sandbox.file("file.bin"), with: [0xFF, 0x00, 0xFF])
                }
                let result = try await sandbox.perform(
                    "get", "-c", "--checksum", "sha256:\(content.sha256)", "-o", "file.bin", server.url())
                #expect(result.ending == .exited(isRight ? 0 : 9), "\(result.stderr)")
                #expect(sandbox.names == ["file.bin"])
            }
        }

        enum Foreign: CaseIterable {
            case otherBytes, longer, noRanges, gone
        }

        @Test(
            "A file that cannot be continued is not changed: status 9, or 8 if the server has no such file",
            arguments: Foreign.allCases)
        func foreign(what: Foreign) async throws {
            let reply = FaultReply(content, etag: "\"v1\"").with { if what == .noRanges { $0.ranges = .ignored } }
            try await withDlm({ _ in what == .gone ? FaultReply(status: 404) : reply }) { sandbox, server in
                let mine = what == .otherBytes ? Content(seed: 731, size: content.size) : content
                let size = what == .longer ? content.size : 5 * mebibyte
                try leave(size, of: mine, as: "file.bin", in: sandbox)
                if what == .longer {
                    try overwrite(sandbox.file("file.bin"), at: UInt64(content.size), with: Array("more".utf8))
                }
                let before = try sha256(of: sandbox.file("file.bin"))
                let result = try await sandbox.perform("get", "-c", "-o", "file.bin", server.url())
                expectFailure(what == .gone ? 8 : 9, of: result, what)
                if what != .gone { #expect(result.stderr.contains("file.bin"), "\(result.stderr)") }
                #expect(try sha256(of: sandbox.file("file.bin")) == before)
                #expect(sandbox.names == ["file.bin"])
            }
        }

        @Test("A partial file is found under a name that only the server gives")
        func servedName() async throws {
            let reply = FaultReply(content, etag: "\"v1\"").with {
                $0.fields = [("Content-Disposition", "attachment; filename=\"named.zip\"")]
            }
            try await withDlm(serving: reply) { sandbox, server in
                try leave(5 * mebibyte, of: content, as: "named.zip", in: sandbox)
                try await sandbox.expectDownloaded(
                    content, as: "named.zip", by: "get", "--continue", server.url("/x?id=1"))
                #expect(sandbox.names == ["named.zip"])
            }
        }

        @Test(
            "If dlm is killed while it renames the partial file, the next run still uses the partial file",
            arguments: ["beforeAdopt", "afterAdopt"])
        func killed(point: String) async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                try leave(6 * mebibyte, of: content, as: "file.bin", in: sandbox)
                let killed = try await sandbox.perform("get", "-c", server.url()) {
                    $0.environment["DLM_FAULT_POINT"] = point
                }
                #expect(killed.ending == .signalled(SIGKILL))
                #expect(sandbox.names == [point == "beforeAdopt" ? "file.bin" : "file.bin.part"])
                try await sandbox.expectDownloaded(content, by: "get", "-c", server.url())
                #expect(server.log.bytesSent <= 8 * mebibyte)
            }
        }
    }
}
