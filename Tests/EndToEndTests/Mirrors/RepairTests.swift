import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("dlm get --repair", .serialized, .timeLimit(.minutes(2)))
    struct RepairTests {
        static let content = Content(seed: 840, size: 8 * mebibyte + 3)
        static let length: Int64 = 256 << 10

        static func document(_ server: FaultServer, hasDigest: Bool = true, hasPieces: Bool = true) -> String {
            var file = MetalinkText(size: content.size, urls: [server.url()])
            if hasPieces { file.pieces = MetalinkText.pieces(content, length: length) }
            if hasDigest { file.hashes = [("sha-256", content.sha256)] }
            return MetalinkText.version4(file)
        }

        static func write(_ content: Content, as name: String, in sandbox: DlmSandbox) throws {
            try content.write(to: sandbox.file(name))
        }

        @Test("Only the wrong pieces of a finished file are fetched again", arguments: [true, false], [true, false])
        func finished(hasDigest: Bool, isOurs: Bool) async throws {
            try await withDlm(serving: FaultReply(Self.content, etag: "\"v1\"")) { sandbox, server in
                let document = try sandbox.write(metalink: Self.document(server, hasDigest: hasDigest))
                if isOurs {
                    try await sandbox.expectDownloaded(Self.content, by: "get", "-M", document)
                }
                let before = server.log.bytesSent
                try Self.write(Self.content.flipping(3 * mebibyte + 1), as: "file.bin", in: sandbox)
                try await sandbox.expectDownloaded(Self.content, by: "get", "--repair", "-x", "1", "-M", document)
                #expect(server.log.bytesSent - before <= Self.length + 128 << 10, "\(server.log.bytesSent - before)")
            }
        }

        @Test("A right file is not changed, and no request is sent")
        func right() async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                let document = try sandbox.write(metalink: Self.document(server))
                try Self.write(Self.content, as: "file.bin", in: sandbox)
                try await sandbox.expectDownloaded(Self.content, by: "get", "--repair", "-M", document)
                #expect(server.log.entries.isEmpty)
            }
        }

        @Test("A file that is too short, too long, or all zeros is repaired", arguments: ["short", "long", "zeros"])
        func sizes(kind: String) async throws {
            try await withDlm(serving: FaultReply(Self.content, etag: "\"v1\"")) { sandbox, server in
                let document = try sandbox.write(metalink: Self.document(server))
                let bytes = Self.content.bytes(0..<Self.content.size)
                let here: [UInt8] =
                    switch kind {
                    case "short": Array(bytes.prefix(5 << 20))
                    case "long": bytes + Array(repeating: 7, count: 1 << 20)
                    default: Array(repeating: 0, count: bytes.count)
                    }
                try Self.write(Content(here), as: "file.bin", in: sandbox)
                try await sandbox.expectDownloaded(Self.content, by: "get", "--repair", "-M", document)
                if kind != "zeros" { #expect(server.log.bytesSent <= 4 * mebibyte) }
            }
        }

        @Test("If another program wrote to a partial file, the file is repaired")
        func partial() async throws {
            let slow = FaultReply(Self.content, etag: "\"v1\"").with { $0.cut = .close(after: 4 * mebibyte) }
            try await withDlm(serving: slow) { sandbox, server in
                let document = try sandbox.write(metalink: Self.document(server, hasDigest: false))
                let cut = try await sandbox.perform("get", "-x", "1", "--retries", "0", "-M", document)
                #expect(cut.ending == .exited(4), "\(cut.stderr)")
                try overwrite(sandbox.file("file.bin.part"), at: 1 << 20, with: Array(repeating: 1, count: 10))
                server.handle { _ in FaultReply(Self.content, etag: "\"v1\"") }
                try await sandbox.expectDownloaded(Self.content, by: "get", "--repair", "-M", document)
                #expect(server.log.bytesSentTwice() <= mebibyte)
            }
        }

        @Test("If a repair is killed, the next repair completes it")
        func killed() async throws {
            let slow = FaultReply(Self.content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(mebibyte) }
            try await withDlm(serving: slow) { sandbox, server in
                let document = try sandbox.write(metalink: Self.document(server))
                try Self.write(Content(Self.content.bytes(0..<2 * mebibyte)), as: "file.bin", in: sandbox)
                server.holdEnds()
                let get = try sandbox.start("get", "--repair", "-x", "1", "-M", document)
                #expect(await server.waitUntil { $0.bytesSent >= mebibyte })
                try await get.expectEnd(by: SIGKILL)
                server.releaseEnds()
                #expect(sandbox.names == ["file.bin.part"])
                server.handle { _ in FaultReply(Self.content, etag: "\"v1\"") }
                try await sandbox.expectDownloaded(Self.content, by: "get", "--repair", "-M", document)
            }
        }

        @Test("Without digests of pieces, a repair gives exit status 9, and the file is not changed")
        func unknown() async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                let document = try sandbox.write(metalink: Self.document(server, hasPieces: false))
                try Self.write(Self.content.flipping(5), as: "file.bin", in: sandbox)
                let result = try await sandbox.perform("get", "--repair", "-M", document)
                #expect(result.ending == .exited(9), "\(result.stderr)")
                #expect(result.stderr.contains("digests of its pieces are not known"), "\(result.stderr)")
                #expect(try sha256(of: sandbox.file("file.bin")) == Self.content.flipping(5).sha256)
                #expect(server.log.entries.isEmpty)
            }
        }

        @Test("If a server sends some wrong pieces, the right pieces are kept, and resume fetches the others")
        func wrongPieces() async throws {
            try await withDlm(serving: FaultReply(Self.content.flipping(mebibyte), etag: "\"v1\"")) { sandbox, server in
                let document = try sandbox.write(metalink: Self.document(server))
                let wrong = try await sandbox.perform("get", "-x", "1", "-M", document)
                #expect(wrong.ending == .exited(9), "\(wrong.stderr)")
                #expect(try await sandbox.show(1).received == Self.content.size - Self.length)
                let before = server.log.bytesSent
                server.handle { _ in FaultReply(Self.content, etag: "\"v1\"") }
                try await sandbox.expectDownloaded(Self.content, by: "resume", "1")
                #expect(server.log.bytesSent - before <= Self.length + 128 << 10)
            }
        }
    }
}
