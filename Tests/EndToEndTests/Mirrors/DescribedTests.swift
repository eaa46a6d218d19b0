import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Metalink documents that nginx announces", .serialized, .timeLimit(.minutes(3)))
    struct DescribedTests {
        static let content = RealMirrorTests.content
        static let path = "/described/file.bin"

        private func describe(_ servers: [Nginx], _ text: String? = nil) throws {
            let mirrors = servers.dropFirst().map { $0.url(RealMirrorTests.slow) }
            try servers[0].add(Content(text ?? RealMirrorTests.document(mirrors)), as: "file.bin.meta4")
        }

        @Test("The mirrors of the document bring parts, and all pieces are verified", arguments: [true, false])
        func together(inBackground: Bool) async throws {
            try await withNginxMirrors(Self.content, Self.content, Self.content) { sandbox, servers in
                try describe(servers)
                let url = servers[0].url(Self.path)
                if inBackground {
                    #expect(try await sandbox.run("get", "-x", "3", "-b", url).ending == .exited(0))
                    #expect(try await sandbox.perform("wait", "1").ending == .exited(0))
                    #expect(try await sandbox.run("daemon", "stop").ending == .exited(0))
                    try expectFile(Self.content, "file.bin", in: sandbox)
                } else {
                    let result = try await sandbox.perform("get", "-x", "3", "-v", url)
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                    #expect(result.stderr.contains("described by \(url).meta4"), "\(result.stderr)")
                }
                for server in servers.dropFirst() {
                    #expect(await server.waitUntil { $0.sent(RealMirrorTests.slow) >= mebibyte })
                }
                let shown = try await sandbox.show(1)
                #expect(shown.describedBy == url + ".meta4" && shown.documentFailure == nil)
                #expect(shown.sources?.count == 3)
                #expect(try await DigestFaultTests.verifiedBy(sandbox)[1] == "server")
            }
        }

        @Test("If the server has a wrong piece, a mirror brings the right piece")
        func wrongPiece() async throws {
            let wrong = Self.content.flipping(9 * mebibyte)
            try await withNginxMirrors(wrong, Self.content) { sandbox, servers in
                try describe(servers)
                let result = try await sandbox.perform("get", "-x", "2", servers[0].url(Self.path))
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
            }
        }

        @Test(
            "If the document is missing, invalid or not wanted, the file comes from the server alone",
            arguments: ["missing", "junk", "off"])
        func useless(kind: String) async throws {
            try await withNginxMirrors(Self.content, Self.content) { sandbox, servers in
                if kind != "missing" { try describe(servers, kind == "junk" ? "<html>" : nil) }
                let options = kind == "off" ? ["--no-follow-metalink", "-v"] : ["-v"]
                let result = try await sandbox.perform(["get"] + options + [servers[0].url(Self.path)])
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(result.stderr.contains("is not used: ") == (kind != "off"), "\(result.stderr)")
                #expect(servers[0].log.contains { $0.path.hasSuffix("meta4") } == (kind != "off"))
                #expect((try await sandbox.show(1).documentFailure != nil) == (kind != "off"))
            }
        }

        @Test("If dlm is killed, and then the server is stopped, resume gets the rest from the mirrors")
        func killed() async throws {
            try await withNginxMirrors(Self.content, Self.content) { sandbox, servers in
                try describe(servers)
                // The limit makes the download slow enough to be killed before its end.
                let get = try sandbox.start("get", "-x", "2", "--limit-rate", "1M", servers[0].url(Self.path))
                // Once the server has logged an answer, the download is in the store.
                #expect(await servers[0].waitUntil { !$0.isEmpty })
                try await sandbox.waitToShow(1) { $0.describedBy != nil && $0.received > 0 }
                get.send(SIGKILL)
                _ = try await get.result()
                await servers[0].stop()
                #expect(!sandbox.exists("file.bin") && sandbox.exists("file.bin.part"))
                let result = try await sandbox.perform("resume", "1")
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
            }
        }

        @Test("A document that never arrives delays the file only until its timeout")
        func hanging() async throws {
            try await withDlm(serving: FaultReply()) { sandbox, server in
                server.handle { request in
                    if request.target.hasSuffix("meta4") {
                        return FaultReply(Content("x")).with { $0.cut = .stall(after: 0) }
                    }
                    return FaultReply(Self.content, etag: "\"a\"").with {
                        $0.fields = [("Link", "<x.meta4>; rel=describedby; type=application/metalink4+xml")]
                    }
                }
                let result = try await sandbox.perform("get", "-v", server.url()) {
                    $0.environment["DLM_FAULT_DOCUMENT_SECONDS"] = "0.2"
                }
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(result.stderr.contains("is not used: "), "\(result.stderr)")
            }
        }
    }
}
