import DownloadTestSupport
import Foundation
import Testing

/// Runs a test with one nginx server for each content. All servers have their content under the same name.
func withNginxMirrors(
    _ contents: Content..., body: (DlmSandbox, [Nginx]) async throws -> Void
) async throws {
    var servers: [Nginx] = []
    try await finally({ for server in servers { await server.stop() } }) {
        for content in contents {
            servers.append(try await Nginx())
            try servers[servers.count - 1].add(content, as: "file.bin")
        }
        try await withDlm { try await body($0, servers) }
    }
}

extension [Nginx.LogLine] {
    /// Returns the number of bytes of the file that were sent in finished answers.
    func sent(_ path: String) -> Int64 { filter { $0.path == path }.map(\.bodyBytes).reduce(0, +) }
}

extension EndToEnd {
    @Suite("Mirrors: real servers", .long, .serialized, .timeLimit(.minutes(3)))
    struct RealMirrorTests {
        static let content = Content(seed: 890, size: 16 * mebibyte + 11)
        static let slow = "/slow/file.bin"

        static let described = "/described/file.bin"

        static func document(_ urls: [String]) -> String {
            var file = MetalinkText(size: content.size, urls: urls)
            file.pieces = MetalinkText.pieces(content, length: 512 << 10)
            file.hashes = [("sha-256", content.sha256)]
            return MetalinkText.version4(file)
        }

        @Test(
            "Without digests, a mirror is used only if nginx's ETags, made from time and size, are the same",
            arguments: [true, false])
        func tags(areSame: Bool) async throws {
            try await withNginxMirrors(Self.content, Self.content) { sandbox, servers in
                // nginx makes ETags from the time and the size, so mirrors that preserve times have the same ETags.
                for (index, server) in servers.enumerated() {
                    let time = Date(timeIntervalSince1970: 1_700_000_000 + (areSame ? 0 : Double(index)))
                    try date(server.folder("files/file.bin"), time)
                }
                let result = try await sandbox.perform(
                    "get", "-x", "2", "--mirror", servers[1].url(Self.slow), servers[0].url(Self.slow))
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                let sources = try #require(try await sandbox.show(1).sources)
                #expect((sources[1].received > 0) == areSame)
            }
        }

        private func describe(_ servers: [Nginx]) throws {
            let mirrors = servers.dropFirst().map { $0.url(Self.slow) }
            try servers[0].add(Content(Self.document(mirrors)), as: "file.bin.meta4")
        }

        @Test("The mirrors of the document bring parts, and all pieces are verified", arguments: [true, false])
        func together(inBackground: Bool) async throws {
            try await withNginxMirrors(Self.content, Self.content, Self.content) { sandbox, servers in
                try describe(servers)
                let url = servers[0].url(Self.described)
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
                    #expect(await server.waitUntil { $0.sent(Self.slow) >= mebibyte })
                }
                let shown = try await sandbox.show(1)
                #expect(shown.describedBy == url + ".meta4" && shown.documentFailure == nil)
                #expect(shown.sources?.count == 3)
                #expect(try await DigestFaultTests.verifiedBy(sandbox)[1] == "server")
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
