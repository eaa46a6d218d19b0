import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Digests that dlm finds beside the file, with the program's defaults.
    @Suite("Proof that is found", .serialized, .timeLimit(.minutes(3)))
    struct ProofTests {
        static let content = Content(seed: 95, size: 9 * mebibyte)
        static let other = Content(seed: 96, size: 9 * mebibyte)

        /// Runs a test with a server of the file and of these documents beside it.
        static func withDocuments(
            _ documents: [String: String], _ body: (DlmSandbox, FaultServer) async throws -> Void
        ) async throws {
            try await withDlm(
                { request in
                    if request.target.hasSuffix("/file.bin") { return FaultReply(content, etag: "\"v1\"") }
                    return documents[request.target].map { FaultReply(Content($0)) } ?? FaultReply(status: 404)
                }, body)
        }

        static func run(_ sandbox: DlmSandbox, _ words: String...) async throws -> ChildProcess.Result {
            try await sandbox.run(words) { $0.environment["DLM_VERIFY"] = "auto" }
        }

        static func asked(_ server: FaultServer) -> [String] {
            server.log.entries.map(\.request.target).filter { !$0.hasSuffix("/file.bin") }
        }

        @Test("get finds the list beside the file; show says where the digest is from; verify uses it again")
        func found() async throws {
            let list = "\(Self.content.sha256)  file.bin\n"
            try await Self.withDocuments(["/iso/SHA256SUMS": list]) { sandbox, server in
                let result = try await Self.run(sandbox, "get", server.url("/iso/file.bin"))
                result.expectSuccess()
                #expect(Self.asked(server) == ["/iso/file.bin.sha256", "/iso/SHA256SUMS"])
                let id = try await sandbox.onlyID()
                let shown = try await Self.run(sandbox, "show", id).stdout
                #expect(
                    shown.contains("(verified; the checksum is from \(server.url("/iso/SHA256SUMS")) (same server))"),
                    "\(shown)")
                #expect(try await Self.run(sandbox, "show", "--json", id).stdout.contains("\"sameServer\""))
                #expect(try await Self.run(sandbox, "verify", "file.bin").ending == .exited(0))
                #expect(Self.asked(server).count == 2)
            }
        }

        @Test("A list that contradicts the file: status 9, one line with both values; with headers it is not asked")
        func contradicted() async throws {
            try await Self.withDocuments(["/file.bin.sha256": Self.other.sha256]) { sandbox, server in
                let result = try await Self.run(sandbox, "get", server.url())
                #expect(result.ending == .exited(9) && sandbox.names == ["file.bin.part"])
                let line = try #require(result.errorLines.last)
                for part in [Self.other.sha256, Self.content.sha256, server.url("/file.bin.sha256")] {
                    #expect(line.contains(part), "\(line)")
                }
                try await Self.run(sandbox, "get", "--verify", "headers", server.url()).expectSuccess()
                #expect(Self.asked(server) == ["/file.bin.sha256"])
            }
        }

        @Test("With require, a file without a digest does not get its name; -v says what was asked")
        func required() async throws {
            try await Self.withDocuments([:]) { sandbox, server in
                let result = try await Self.run(sandbox, "get", "--verify", "require", server.url())
                #expect(result.ending == .exited(9) && sandbox.names == ["file.bin.part"])
                #expect(result.errorLines.last?.contains("no digest proves the file") ?? false, "\(result.stderr)")
                #expect(result.errorLines.last?.contains("--verify headers") ?? false, "\(result.stderr)")
                try await Self.run(sandbox, "get", "--verify", "headers", server.url()).expectSuccess()
                let told = try await Self.run(sandbox, "get", "-v", server.url("/b/file.bin"), "-o", "b.bin")
                told.expectSuccess()
                #expect(told.stderr.contains("no digest of the file in \(server.url("/b/file.bin.sha256"))"))
                let quiet = try await Self.run(sandbox, "get", server.url("/c/file.bin"), "-o", "c.bin")
                #expect(!quiet.stderr.contains("digest"), "\(quiet.stderr)")
            }
        }

        @Test("Another process remembers which documents a folder does not have")
        func remembered() async throws {
            try await Self.withDocuments([:]) { sandbox, server in
                for name in ["a", "b"] {
                    try await Self.run(sandbox, "get", server.url("/iso/file.bin"), "-o", name).expectSuccess()
                }
                let names = ["file.bin.sha256", "SHA256SUMS", "SHA512SUMS", "file.bin.sha512"]
                #expect(Self.asked(server) == names.map { "/iso/\($0)" })
            }
        }

        @Test("A list of more than 50 URLs, a query, a password and the drop-ins ask for nothing beside the file")
        func unasked() async throws {
            try await Self.withDocuments([:]) { sandbox, server in
                let urls = (0..<51).map { $0 == 50 ? server.url() : server.url("/\($0).txt") }
                try sandbox.root.write(urls.joined(separator: "\n"), to: "files/urls")
                _ = try await Self.run(sandbox, "get", "-i", "urls", "--retries", "0")
                #expect(sandbox.exists("file.bin"))
                #expect(Self.asked(server).allSatisfy { $0.hasSuffix(".txt") })
                let before = Self.asked(server).count
                try await Self.run(sandbox, "get", "-u", "me:p", server.url("/u/file.bin"), "-o", "u").expectSuccess()
                let link = sandbox.root("wget")
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: try DlmSandbox.binary)
                let wget = try await sandbox.run("-q", "-O", "w", server.url("/w/file.bin")) {
                    $0.executable = link
                }
                #expect(wget.ending == .exited(0), "\(wget.stderr)")
                #expect(Self.asked(server).count == before)
            }
        }

        @Test("--checksum fetches the digest from a URL, for get and for verify")
        func fetched() async throws {
            let documents = [
                "/sums/right": "\(Self.other.sha256)  other.bin\n\(Self.content.sha256)  file.bin\n",
                "/sums/wrong": Self.other.sha256, "/sums/md5": Self.content.digest("md5"),
            ]
            try await Self.withDocuments(documents) { sandbox, server in
                let url = server.url()
                func get(_ kind: String) async throws -> ChildProcess.Result {
                    try await sandbox.run("get", "--checksum", "sha256:" + server.url("/sums/\(kind)"), url)
                }
                let md5 = try await get("md5")
                #expect(md5.ending == .exited(9) && md5.stderr.contains("it has no sha256 digest"), "\(md5.stderr)")
                let wrong = try await get("wrong")
                #expect(wrong.ending == .exited(9) && wrong.stderr.contains("checksum does not match"))
                #expect(!sandbox.exists("file.bin"))
                try await get("right").expectSuccess()
                try Self.content.write(to: sandbox.file("own.bin"))
                let md5Words = ["verify", "--checksum", "md5:" + server.url("/sums/md5"), "own.bin"]
                #expect(try await sandbox.run(md5Words).ending == .exited(0))
                try sandbox.root.write("\(url)\n  checksum=sha256:\(server.url("/sums/right"))\n", to: "files/urls")
                let list = try await sandbox.run("get", "-i", "urls", "-d", "other")
                #expect(list.stderr.contains("ALGO:URL is possible only on the command line"), "\(list.stderr)")
            }
        }

        @Test("verify looks up the digest of a finished file that was not verified")
        func verified() async throws {
            try await Self.withDocuments(["/SHA256SUMS": "\(Self.content.sha256)  file.bin\n"]) { sandbox, server in
                try await sandbox.run("get", server.url()).expectSuccess()
                let right = try await sandbox.run("verify", "--json", "file.bin")
                #expect(right.ending == .exited(0), "\(right.stderr)")
                #expect(right.stdout.contains("\"source\":\"server\""), "\(right.stdout)")
                #expect(Self.asked(server) == ["/file.bin.sha256", "/SHA256SUMS"])
                try Self.other.write(to: sandbox.file("file.bin"))
                #expect(try await sandbox.run("verify", "file.bin").ending == .exited(9))
            }
        }
    }
}
