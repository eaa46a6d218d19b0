import DownloadTestSupport
import Foundation
import Testing

/// The text of a Metalink document.
struct MetalinkText {
    var name = "file.bin"
    var size: Int64?
    var hashes: [(type: String, digest: String)] = []
    var pieces: String?
    var urls: [String] = []
    var others = ""

    /// Returns an element with the digests of pieces of this length.
    static func pieces(_ content: Content, length: Int64) -> String {
        var text = "<pieces length=\"\(length)\" type=\"sha-256\">"
        var start: Int64 = 0
        while start < content.size {
            let end = min(content.size, start + length)
            text += "<hash>\(Content(content.bytes(start..<end)).sha256)</hash>"
            start = end
        }
        return text + "</pieces>"
    }

    private var hashLines: String {
        hashes.map { "<hash type=\"\($0.type)\">\($0.digest)</hash>" }.joined()
    }

    var file: String {
        let urls = urls.enumerated().map { "<url priority=\"\($0 + 1)\">\($1)</url>" }.joined()
        let size = size.map { "<size>\($0)</size>" } ?? ""
        return "<file name=\"\(name)\">\(size)\(hashLines)\(pieces ?? "")\(urls)\(others)</file>"
    }

    static func version4(_ files: MetalinkText...) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <metalink xmlns="urn:ietf:params:xml:ns:metalink">\(files.map(\.file).joined())</metalink>
        """
    }

    var version3: String {
        let urls = urls.enumerated().map { "<url type=\"http\" preference=\"\(100 - $0)\">\($1)</url>" }.joined()
        let size = size.map { "<size>\($0)</size>" } ?? ""
        return """
            <metalink version="3.0" xmlns="http://www.metalinker.org/"><files><file name="\(name)">\(size)
            <verification>\(hashLines)\(pieces ?? "")</verification><resources>\(urls)</resources></file></files></metalink>
            """
    }
}

extension DlmSandbox {
    /// Writes a document beside the files, and returns its path.
    func write(metalink text: String) throws -> String {
        let path = root("config/doc.meta4")
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }
}

extension EndToEnd {
    @Suite("Metalink documents", .serialized, .timeLimit(.minutes(2)))
    struct MetalinkTests {
        static let content = Content(seed: 820, size: 3 * mebibyte + 5)

        static func text(_ server: FaultServer) -> MetalinkText {
            MetalinkText(
                size: content.size, hashes: [("sha-256", content.sha256)],
                urls: [server.url("/get?id=1"), server.url()])
        }

        @Test(
            "Both versions of Metalink are read, from a file, from standard input and from a URL",
            arguments: [4, 3], ["file", "-", "url"])
        func versions(version: Int, place: String) async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                let file = Self.text(server)
                let text = version == 4 ? MetalinkText.version4(file) : file.version3
                server.handle { FaultReply($0.target == "/doc" ? Content(text) : Self.content) }
                let document = try sandbox.write(metalink: text)
                let option = place == "url" ? server.url("/doc") : place == "-" ? "-" : document
                let result = try await sandbox.perform("get", "-M", option) {
                    if place == "-" { $0.input = text }
                }
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(try await DigestFaultTests.verifiedBy(sandbox)[1] == "user")
            }
        }

        @Test("Several files with folders are fetched, and a file with a bad name is refused")
        func several() async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                var (good, deep, bad) = (Self.text(server), Self.text(server), Self.text(server))
                good.name = "a.bin"
                deep.name = "x/y/b.bin"
                bad.name = "../c.bin"
                let document = try sandbox.write(metalink: MetalinkText.version4(good, deep, bad))
                let result = try await sandbox.perform("get", "-M", document)
                #expect(result.ending == .exited(3), "\(result.stderr)")
                #expect(
                    result.stderr.contains(
                        "../c.bin: not allowed as a file name in a Metalink document"), "\(result.stderr)")
                try expectFile(Self.content, "a.bin", in: sandbox)
                try expectFile(Self.content, "x/y/b.bin", in: sandbox)
                #expect(
                    Set(result.outputLines.map { String($0) }) == [sandbox.file("a.bin"), sandbox.file("x/y/b.bin")])
            }
        }

        @Test("A wrong size or digest: status 9, and no final name", arguments: ["size", "sha-256", "md5", "sha-512"])
        func wrong(what: String) async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                var file = Self.text(server)
                if what == "size" { file.size = Self.content.size - 1 }
                let digits = ["sha-256": 64, "md5": 32, "sha-512": 128][what] ?? 0
                if what != "size" { file.hashes = [(what, String(repeating: "0", count: digits))] }
                let document = try sandbox.write(metalink: MetalinkText.version4(file))
                let result = try await sandbox.perform("get", "-M", document)
                #expect(result.ending == .exited(9), "\(result.stderr)")
                #expect(!sandbox.exists("file.bin"))
                #expect(sandbox.exists("file.bin.part") == (what != "size"))
            }
        }

        @Test("--metalink-location: mirrors at this location are used first")
        func location() async throws {
            try await withMirrors([{ _ in FaultReply(Self.content) }, { _ in FaultReply(Self.content) }]) {
                sandbox, mirrors in
                var file = Self.text(mirrors.servers[0])
                file.urls = [mirrors.servers[0].url()]
                file.others = "<url location=\"DE\" priority=\"9\">\(mirrors.servers[1].url())</url>"
                let document = try sandbox.write(metalink: MetalinkText.version4(file))
                try await sandbox.expectDownloaded(Self.content, by: "get", "--metalink-location", "de", "-M", document)
                #expect(mirrors.servers.map(\.log.entries.count) == [0, 1])
            }
        }

        @Test(
            "An answer that is a Metalink document is followed: at once, on a resume, and on a second run",
            arguments: ["application/metalink4+xml", "application/metalink+xml; charset=utf-8"])
        func followed(type: String) async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                let file = Self.text(server)
                let text = type.contains("4") ? MetalinkText.version4(file) : file.version3
                @Sendable func reply(_ request: FaultRequest, isCut: Bool) -> FaultReply {
                    if request.target == "/doc.meta4" {
                        return FaultReply(Content(text), etag: "\"d\"").with { $0.fields = [("Content-Type", type)] }
                    }
                    return FaultReply(Self.content, etag: "\"v1\"").with {
                        if isCut { $0.cut = .close(after: mebibyte) }
                    }
                }
                server.handle { reply($0, isCut: true) }
                let cut = try await sandbox.perform("get", "--retries", "0", "-x", "1", server.url("/doc.meta4"))
                #expect(cut.ending == .exited(4), "\(cut.stderr)")
                #expect(sandbox.names == ["file.bin.part"])
                server.handle { reply($0, isCut: false) }
                try await sandbox.expectDownloaded(Self.content, by: "get", server.url("/doc.meta4"))
                #expect(server.log.bytesSentTwice(target: "/file.bin") <= 128 << 10)
                try await sandbox.expectDownloaded(Self.content, by: "get", server.url("/doc.meta4"))
                #expect(try await sandbox.list().count == 1)
                let raw = try await sandbox.perform("get", "--no-follow-metalink", server.url("/doc.meta4"))
                #expect(raw.ending == .exited(0) && sandbox.exists("doc.meta4"), "\(raw.stderr)")
            }
        }

        @Test("A document of several files is saved as a file; a document with a bad path gives exit status 3")
        func notFollowed() async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                var (other, bad) = (Self.text(server), Self.text(server))
                other.name = "b"
                bad.name = "/etc/x"
                let texts = [
                    "/two": MetalinkText.version4(Self.text(server), other), "/bad": MetalinkText.version4(bad),
                    "/not": "<a/>",
                ]
                server.handle { request in
                    FaultReply(Content(texts[request.target] ?? "")).with {
                        $0.fields = [("Content-Type", "application/metalink4+xml")]
                    }
                }
                let two = try await sandbox.perform("get", server.url("/two"))
                #expect(two.ending == .exited(0) && sandbox.exists("two"), "\(two.stderr)")
                expectFailure(3, of: try await sandbox.perform("get", server.url("/bad")))
                expectFailure(7, of: try await sandbox.perform("get", server.url("/not")))
                #expect(sandbox.names == ["two"])
            }
        }

        @Test("In the background, too, -o names the single file, and mirrors get no credentials of the user")
        func background() async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                var file = Self.text(server)
                file.pieces = MetalinkText.pieces(Self.content, length: mebibyte)
                let document = try sandbox.write(metalink: MetalinkText.version4(file))
                try await sandbox.done(
                    "get", "-b", "-u", "ann:secret", "-H", "X-Api-Key: k", "-o", "other.bin", "-M", document)
                #expect(try await sandbox.perform("wait", "1").ending == .exited(0))
                try expectFile(Self.content, "other.bin", in: sandbox)
                for entry in server.log.entries {
                    #expect(entry.request["Authorization"] == nil && entry.request["X-Api-Key"] == nil)
                }
                #expect(try await sandbox.run("daemon", "stop").ending == .exited(0))
            }
        }
    }
}
