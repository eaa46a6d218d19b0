import DownloadTestSupport
import Foundation
import Testing

/// Runs a test with one nginx server for each content. All servers have their content under the same name.
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
    /// Returns the number of bytes of the file that were sent in finished answers.
    func sent(_ path: String) -> Int64 { filter { $0.path == path }.map(\.bodyBytes).reduce(0, +) }
}

extension Nginx {
    /// Sets the modification time of a file. nginx makes ETags from the time and the size, so mirrors that preserve
    /// times have the same ETags.
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
            // An automatic number stays at one connection if the file would be there in 2 s, and nginx sends the first
            // 4 MiB of a limited answer at once.
            let content = connections == "auto" ? Content(seed: 893, size: 48 * mebibyte + 11) : Self.content
            try await withNginxMirrors(content, content, content) { sandbox, servers in
                let document = try sandbox.write(
                    metalink: Self.document(servers.map { $0.url(Self.slow) }, hasPieces: hasPieces, of: content))
                let result = try await sandbox.perform("get", "-x", connections, "-M", document)
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
                for server in servers { #expect(await server.waitUntil { $0.sent(Self.slow) >= mebibyte }) }
                let sources = try #require(try await sandbox.show(1).sources)
                #expect(sources.allSatisfy { $0.received > 0 && $0.failure == nil })
            }
        }

        @Test(
            "Without digests, a mirror is used only if nginx's ETags, made from time and size, are the same",
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
            "If the first five mirrors fail (closed port, 410, 401, other file, other size), the last brings the file",
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

        @Test("If a mirror is stopped during the download, the other mirrors send its part")
        func dies() async throws {
            try await withNginxMirrors(Self.content, Self.content, Self.content) { sandbox, servers in
                let document = try sandbox.write(metalink: Self.document(servers.map { $0.url(Self.slow) }))
                let get = try sandbox.start("get", "-x", "3", "--retries", "0", "-M", document)
                // The mirror has answered a request, and the download has not ended.
                #expect(await servers[1].waitUntil { !$0.isEmpty })
                await servers[1].stop()
                try expectDownloaded(Self.content, as: "file.bin", by: try await get.result(), in: sandbox)
            }
        }
    }
}
