import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Content codings", .serialized, .timeLimit(.minutes(2)))
    struct CompressedTests {
        static let content = Content(seed: 740, size: 3 * mebibyte + 5)
        static let coded = Content(Gzip.stored(content.bytes(0..<content.size)))

        static func reply(_ framing: FaultReply.Framing) -> FaultReply {
            FaultReply(coded, etag: "\"v1\"").with {
                $0.fields = [("Content-Encoding", "gzip"), ("Repr-Digest", "sha-256=:\(digest):")]
                $0.framing = framing
                $0.ranges = .ignored
            }
        }

        /// The digest of the coded file, as in RFC 9530.
        private static let digest: String = {
            let hex = coded.sha256()
            let bytes = stride(from: 0, to: hex.count, by: 2).compactMap { index in
                UInt8(hex.dropFirst(index).prefix(2), radix: 16)
            }
            return Data(bytes).base64EncodedString()
        }()

        @Test(
            "--compressed asks for supported codings, over one connection, and writes the decoded file",
            arguments: [FaultReply.Framing.contentLength, .chunked])
        func decoded(framing: FaultReply.Framing) async throws {
            try await withDlm({ _ in Self.reply(framing) }) { sandbox, server in
                let result = try await sandbox.perform(
                    "get", "--compressed", "-x", "4", "--checksum", "sha256:\(Self.content.sha256())", server.url())
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(server.log.entries.count == 1)
                #expect(server.log.entries[0].range == nil)
                #expect(server.log.entries[0].request["Accept-Encoding"]?.contains("gzip") == true)
                #expect(try await sandbox.show(1).received == Self.content.size)
            }
        }

        @Test("With --compressed, an answer without a coding is accepted", arguments: [Content.empty, content])
        func identity(content: Content) async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                try await sandbox.expectDownloaded(content, by: "get", "--compressed", server.url())
            }
        }

        @Test("nginx compresses on the fly, and a second run fetches no body")
        func nginx() async throws {
            try await withNginx { sandbox, nginx in
                let content = Content(String(repeating: "a line like all the others\n", count: 50_000))
                let path = try nginx.add(content, as: "file.txt")
                try await sandbox.expectDownloaded(content, as: "file.txt", by: "get", "--compressed", nginx.url(path))
                #expect(await nginx.waitUntil { $0.last.map { $0.bodyBytes < 100_000 } ?? false })
                try await sandbox.expectDownloaded(content, as: "file.txt", by: "get", "--compressed", nginx.url(path))
                #expect(await nginx.waitUntil { $0.last?.status == 304 })
            }
        }

        @Test(
            "A cut download is requested from the start; its partial file is used if the file is still the same",
            arguments: [true, false], [FaultReply.Framing.contentLength, .chunked])
        func cut(isSame: Bool, framing: FaultReply.Framing) async throws {
            let other = Content(seed: 741, size: 2 * mebibyte)
            let otherCoded = Content(Gzip.stored(other.bytes(0..<other.size)))
            try await withDlm({ request in
                if request.number == 1 { return Self.reply(framing).with { $0.cut = .reset(after: mebibyte) } }
                if isSame { return Self.reply(framing) }
                return Self.reply(framing).with {
                    $0.content = otherCoded
                    $0.etag = "\"v2\""
                    $0.fields = [("Content-Encoding", "gzip")]
                }
            }) { sandbox, server in
                let result = try await sandbox.perform("get", "--compressed", "--retry-delay", "0", server.url())
                try expectDownloaded(isSame ? Self.content : other, as: "file.bin", by: result, in: sandbox)
                #expect(server.log.entries.count == 2)
                #expect(server.log.entries.allSatisfy { $0.range == nil && $0.ifRange == nil })
            }
        }

        @Test(
            "A coding that is unknown or wrong is an error, and leaves no file", arguments: ["gzip", "br", "x-unknown"])
        func broken(coding: String) async throws {
            try await withDlm({ _ in
                FaultReply(Self.content).with {
                    $0.fields = [("Content-Encoding", coding)]
                    $0.ranges = .ignored
                }
            }) { sandbox, server in
                expectFailure(7, of: try await sandbox.perform("get", "--compressed", "--retries", "0", server.url()))
                #expect(!sandbox.exists("file.bin"))
            }
        }
    }
}
