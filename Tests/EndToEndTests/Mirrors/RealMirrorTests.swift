import DownloadTestSupport
import Foundation
import Testing

/// Runs a test with several servers that have the same file.
func withNginxMirrors(
    _ contents: Content..., as name: String = "file.bin", body: (DlmSandbox, [Nginx]) async throws -> Void
) async throws {
    var servers: [Nginx] = []
    do {
        for content in contents {
            servers.append(try await Nginx())
            try servers[servers.count - 1].add(content, as: name)
        }
        try await withDlm { try await body($0, servers) }
    } catch {
        for server in servers { await server.stop() }
        throw error
    }
    for server in servers { await server.stop() }
}

extension [Nginx.LogLine] {
    /// Returns the bytes of the file that were sent in finished answers.
    func sent(_ path: String) -> Int64 { filter { $0.path == path }.map(\.bodyBytes).reduce(0, +) }
}

extension Nginx {
    /// Sets the time of a file, as a mirror that keeps times does. nginx makes ETags from time and size.
    func date(_ name: String, _ seconds: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: folder("files/\(name)"))
    }
}

extension EndToEnd {
    @Suite("Mirrors: real servers", .long, .serialized, .timeLimit(.minutes(3)))
    struct RealMirrorTests {
        static let content = Content(seed: 890, size: 16 * mebibyte + 11)
        static let slow = "/slow/file.bin"

        static func document(_ urls: [String], hasPieces: Bool = true, of content: Content = content) -> String {
            var file = MetalinkText(size: content.size, urls: urls)
            if hasPieces { file.pieces = MetalinkText.pieces(content, length: 512 << 10) }
            file.hashes = [("sha-256", content.sha256)]
            return MetalinkText.version4(file)
        }

        @Test("Three nginx servers bring parts at the same time", arguments: [true, false], ["3", "auto"])
        func together(hasPieces: Bool, connections: String) async throws {
            try await withNginxMirrors(Self.content, Self.content, Self.content) { sandbox, servers in
                let document = try sandbox.write(
                    metalink: Self.document(servers.map { $0.url(Self.slow) }, hasPieces: hasPieces))
                let result = try await sandbox.perform("get", "-x", connections, "-M", document)
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                for server in servers { #expect(await server.waitUntil { $0.sent(Self.slow) >= mebibyte }) }
                let sources = try #require(try await sandbox.show(1).sources)
                #expect(sources.allSatisfy { $0.received > 0 && $0.failure == nil })
            }
        }

        @Test(
            "Without digests, the ETags of nginx, made from time and size, prove the same file or prove nothing",
            arguments: [true, false])
        func tags(areSame: Bool) async throws {
            try await withNginxMirrors(Self.content, Self.content) { sandbox, servers in
                for (index, server) in servers.enumerated() {
                    try server.date("file.bin", 1_700_000_000 + (areSame ? 0 : Double(index)))
                }
                let result = try await sandbox.perform(
                    "get", "-x", "2", "--mirror", servers[1].url(Self.slow), servers[0].url(Self.slow))
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                let sources = try #require(try await sandbox.show(1).sources)
                #expect((sources[1].received > 0) == areSame)
            }
        }

        @Test(
            "Broken first mirrors of real servers: closed, gone, forbidden, other file, other size; the last one works",
            .enabled(if: Lighttpd.canRun), arguments: ["1", "4"])
        func broken(connections: String) async throws {
            let dead = try LoopbackSocket.unusedPort()
            let lighttpd = try await Lighttpd()
            try lighttpd.add(Self.content, as: "file.bin")
            let wrong = Content(seed: 891, size: Self.content.size)
            try await withNginxMirrors(wrong, Content(seed: 892, size: 99), Self.content) { sandbox, servers in
                let urls =
                    [
                        "http://127.0.0.1:\(dead)/file.bin", servers[2].url("/expired/file.bin"),
                        lighttpd.url("file.bin"),
                    ]
                    + servers.map { $0.url("/file.bin") }
                let document = try sandbox.write(metalink: Self.document(urls))
                let result = try await sandbox.perform("get", "-x", connections, "--retry-delay", "0.1", "-M", document)
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                let sources = try #require(try await sandbox.show(1).sources)
                #expect(sources.map { $0.failure == nil } == [false, false, false, false, false, true], "\(sources)")
                #expect(sources[5].received >= Self.content.size)
            }
            let log = await lighttpd.stop()
            #expect(!log.isEmpty && log.allSatisfy { $0.status == 401 }, "\(log)")
        }

        @Test("If a mirror ends in the middle, the others bring its part")
        func dies() async throws {
            try await withNginxMirrors(Self.content, Self.content, Self.content) { sandbox, servers in
                let document = try sandbox.write(metalink: Self.document(servers.map { $0.url(Self.slow) }))
                let get = try sandbox.start("get", "-x", "3", "--retries", "0", "-M", document)
                // The answer has begun, and has not ended.
                #expect(await servers[1].waitUntil { !$0.isEmpty })
                await servers[1].stop()
                try expectDownloaded(Self.content, as: "file.bin", by: try await get.result(), in: sandbox)
            }
        }
    }

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

        @Test("A download is killed and the server is gone: the mirrors bring the rest")
        func killed() async throws {
            try await withNginxMirrors(Self.content, Self.content) { sandbox, servers in
                try describe(servers)
                // Slow enough to be killed before its end.
                let get = try sandbox.start("get", "-x", "2", "--limit-rate", "1M", servers[0].url(Self.path))
                // The document has come: the download is in the store.
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
