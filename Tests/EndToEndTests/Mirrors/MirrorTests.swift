import DownloadCore
import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

/// Servers of one file, each with its own script. The first server has the URL of the download, and the others are
/// mirrors.
struct Mirrors {
    let servers: [FaultServer]

    /// The arguments for `get`.
    var arguments: [String] { servers.dropFirst().flatMap { ["--mirror", $0.url()] } + [servers[0].url()] }

    func get(in sandbox: DlmSandbox, _ options: String...) async throws -> ChildProcess.Result {
        try await sandbox.perform(["get", "--retry-delay", "0.1"] + options + arguments)
    }
}

func withMirrors(
    _ handlers: [FaultServer.Handler], body: (DlmSandbox, Mirrors) async throws -> Void
) async throws {
    let mirrors = try Mirrors(servers: handlers.map { try FaultServer($0) })
    try await withDlm { try await body($0, mirrors) }
}

extension EndToEnd {
    @Suite("Mirrors", .serialized, .timeLimit(.minutes(2)))
    struct MirrorTests {
        static let content = Content(seed: 810, size: 6 * mebibyte + 17)
        static let other = Content(seed: 811, size: content.size)
        static let cut = 4 * mebibyte

        static func serve(_ content: Content = content, _ etag: String? = nil) -> FaultServer.Handler {
            { _ in FaultReply(content, etag: etag) }
        }

        /// Sends the beginning of the file to a request for the whole file, and answers 404 to every other range.
        static func dying(_ etag: String? = nil, _ content: Content = content) -> FaultServer.Handler {
            { request in
                request.range(in: content.size) == .part(0..<content.size)
                    ? FaultReply(content, etag: etag).with { $0.cut = .close(after: cut) } : FaultReply(status: 404)
            }
        }

        static let failures: [FaultServer.Handler] = [
            { _ in FaultReply(status: 404) }, { _ in FaultReply(status: 503) }, { _ in FaultReply(status: 401) },
            { _ in FaultReply(content).with { $0.cut = .silence } }, { _ in .redirect(to: "/file.bin") },
            { _ in FaultReply(other).with { $0.fields = [("Content-Type", "text/html")] } },
        ]

        @Test("If a source does not send the file, the next source is tried at once", arguments: failures.indices)
        func failover(_ index: Int) async throws {
            try await withMirrors([Self.failures[index], Self.serve()]) { sandbox, mirrors in
                mirrors.servers[1].handle { _ in
                    FaultReply(Self.content).with { $0.fields = [("Content-Type", "application/octet-stream")] }
                }
                let result = try await mirrors.get(in: sandbox, "--expect-type", "application/octet-stream")
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(mirrors.servers[1].log.entries.count == 1)
                let sources = try #require(try await sandbox.show(1).sources)
                #expect(sources.map(\.url) == mirrors.servers.map { $0.url() })
                #expect(sources.map(\.received) == [0, Self.content.size])
                #expect(sources[0].failure != nil && sources[1].failure == nil)
            }
        }

        @Test(
            "After a failure in the middle, with a digest: the fetched bytes are kept, and 64 KiB are compared",
            arguments: ["1", "4"])
        func digest(connections: String) async throws {
            try await withMirrors([Self.dying("\"a\""), Self.serve(Self.content, "\"b\"")]) { sandbox, mirrors in
                let result = try await mirrors.get(
                    in: sandbox, "-x", connections, "--checksum", "sha256:\(Self.content.sha256)")
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                if connections == "1" {
                    #expect(mirrors.servers[1].log.bytesSent <= Self.content.size - Self.cut + 128 << 10)
                    let sources = try #require(try await sandbox.show(1).sources)
                    #expect(sources.map(\.received) == [Self.cut, Self.content.size - Self.cut])
                }
            }
        }

        @Test("After a failure in the middle, with the same strong ETag and size: the partial file is continued")
        func sameTag() async throws {
            try await withMirrors([Self.dying("\"a\""), Self.serve(Self.content, "\"a\"")]) { sandbox, mirrors in
                let result = try await mirrors.get(in: sandbox, "-x", "1")
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(mirrors.servers[1].log.bytesSent == Self.content.size - Self.cut + Overlap.resumed)
            }
        }

        @Test(
            "After a failure in the middle, without proof: all fetched bytes are fetched again and compared",
            arguments: [("\"a\"", "\"b\""), (nil, nil), ("W/\"a\"", "W/\"a\""), ("\"a\"", nil)], [true, false])
        func compared(tags: (String?, String?), takesRanges: Bool) async throws {
            let second: FaultServer.Handler = { _ in
                FaultReply(Self.content, etag: tags.1).with { $0.ranges = takesRanges ? .honoured : .ignored }
            }
            try await withMirrors([Self.dying(tags.0), second]) { sandbox, mirrors in
                let result = try await mirrors.get(in: sandbox, "-x", "1")
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(mirrors.servers[1].log.bytesSent >= Self.content.size)
                let sources = try #require(try await sandbox.show(1).sources)
                #expect(sources.map(\.received) == [Self.cut, Self.content.size - Self.cut])
            }
        }

        @Test(
            "A mirror with another file is dropped, and none of its bytes stays", arguments: [nil, "\"a\"", "\"b\""])
        func differing(tag: String?) async throws {
            // The difference is after the first 64 KiB, and far from the cut.
            let lies = Self.content.flipping(mebibyte)
            try await withMirrors([Self.dying(), Self.serve(lies, tag), Self.serve()]) { sandbox, mirrors in
                let result = try await mirrors.get(in: sandbox)
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                let sources = try #require(try await sandbox.show(1).sources)
                #expect(sources[1].failure?.contains("a different file") == true)
                // The bytes of the dropped mirror were only compared.
                #expect(sources[0].received + sources[2].received == Self.content.size)
            }
        }

        @Test("If only a mirror with another file remains: status 9, and the fetched bytes are kept")
        func onlyDiffering() async throws {
            try await withMirrors([Self.dying(), Self.serve(Self.other)]) { sandbox, mirrors in
                let result = try await mirrors.get(in: sandbox, "--retries", "0")
                #expect(result.ending == .exited(9), "\(result.stderr)")
                let shown = try await sandbox.show(1)
                #expect(shown.received == Self.cut && shown.state == "failed")
                let kept = try Data(contentsOf: URL(fileURLWithPath: sandbox.file("file.bin.part")))
                #expect(kept.prefix(Int(Self.cut)) == Data(Self.content.bytes(0..<Self.cut)))
            }
        }

        @Test("If a download is killed while a mirror is compared, it continues at the URL with its fetched bytes")
        func killed() async throws {
            // The mirror stalls before all fetched bytes have been compared.
            let slow: FaultServer.Handler = { _ in
                FaultReply(Self.content).with { $0.gate = Gate(after: 3 * mebibyte) }
            }
            try await withMirrors([Self.dying(), slow]) { sandbox, mirrors in
                let get = try sandbox.start(["get"] + mirrors.arguments)
                #expect(await mirrors.servers[1].waitUntil { $0.bytesSent >= 2 * mebibyte })
                try await get.killed()
                #expect(try await sandbox.show(1).received <= Self.cut)
                mirrors.servers[0].handle(Self.serve())
                mirrors.servers[1].handle { _ in FaultReply(status: 404) }
                try await sandbox.expectDownloaded(Self.content, by: "resume", "1")
            }
        }

        @Test("If all sources fail, the status is that of the last one, and show lists all failures")
        func all() async throws {
            try await withMirrors([{ _ in FaultReply(status: 404) }, { _ in FaultReply(status: 410) }]) {
                sandbox, mirrors in
                let result = try await mirrors.get(in: sandbox)
                #expect(result.ending == .exited(8), "\(result.stderr)")
                #expect(result.errorLines.last?.contains("1 other source failed, too") == true, "\(result.stderr)")
                let sources = try #require(try await sandbox.show(1).sources)
                #expect(sources.map(\.failure) == ["404 Not Found", "410 Gone"])
                #expect(mirrors.servers.map(\.log.entries.count) == [1, 1])
            }
        }

        @Test(
            "Mirrors that the server names in Link fields are used only if the server sends a digest",
            arguments: [true, false])
        func linked(hasDigest: Bool) async throws {
            try await withMirrors([Self.dying(), Self.serve(Self.other), Self.serve()]) { sandbox, mirrors in
                let urls = mirrors.servers.map { $0.url() }
                var fields = [
                    ("Link", "<\(urls[2])>; rel=duplicate; pri=2; geo=de"),
                    ("Link", "<\(urls[1])>; rel=\"duplicate\"; pri=1, <x>; rel=next"),
                ]
                if hasDigest { fields.append(("Repr-Digest", "sha-256=:\(Self.content.base64Digest("sha256")):")) }
                mirrors.servers[0].handle { [fields] request in
                    Self.dying()(request).with { $0.fields += fields }
                }
                let result = try await sandbox.perform("get", "--retries", "0", "-x", "1", urls[0])
                if hasDigest {
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                    let sources = try #require(try await sandbox.show(1).sources)
                    #expect(sources.map(\.url) == urls)
                } else {
                    #expect(result.ending == .exited(4), "\(result.stderr)")
                    #expect(mirrors.servers[1...].allSatisfy { $0.log.entries.isEmpty })
                }
            }
        }

        @Test("Passwords, header fields and cookies of the URL are sent to no mirror")
        func secrets() async throws {
            try await withMirrors([Self.dying(), Self.serve()]) { sandbox, mirrors in
                let result = try await mirrors.get(
                    in: sandbox, "-u", "ann:secret1", "-H", "X-Api-Key: secret2", "-H", "Cookie: id=secret3")
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                #expect(mirrors.servers[0].log.entries[0].request["Authorization"] != nil)
                for entry in mirrors.servers[1].log.entries {
                    #expect(["Authorization", "X-Api-Key", "Cookie"].allSatisfy { entry.request[$0] == nil })
                }
            }
        }

        @Test("A list can name mirrors after a tab or as an option, also in the background", arguments: [true, false])
        func list(inBackground: Bool) async throws {
            try await withMirrors([{ _ in FaultReply(status: 404) }, Self.serve()]) { sandbox, mirrors in
                let (url, mirror) = (mirrors.servers[0].url(), mirrors.servers[1].url())
                let text = inBackground ? "\(url)\t\(mirror)\n" : "\(url)\n  mirror=\(mirror)\n"
                try text.write(toFile: sandbox.file("../list"), atomically: false, encoding: .utf8)
                let result = try await sandbox.run("get", "-i", sandbox.root("list"), inBackground ? "-b" : "-v")
                if inBackground {
                    #expect(try await sandbox.perform("wait", "1").ending == .exited(0))
                    #expect(try await sandbox.run("daemon", "stop").ending == .exited(0))
                } else {
                    #expect(result.ending == .exited(0), "\(result.stderr)")
                }
                try expectFile(Self.content, "file.bin", in: sandbox)
            }
        }
    }
}
