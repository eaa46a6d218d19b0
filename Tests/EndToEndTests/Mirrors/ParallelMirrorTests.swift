import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Several mirrors at the same time", .long, .serialized, .timeLimit(.minutes(3)))
    struct ParallelMirrorTests {
        static let content = Content(seed: 830, size: 12 * mebibyte + 7)

        /// Serves the content at this rate for each connection.
        static func serve(
            _ content: Content = content, rate: Int64 = 8 * mebibyte, _ etag: String? = nil
        ) -> FaultServer.Handler {
            { _ in FaultReply(content, etag: etag).with { $0.bytesPerSecond = Int(rate) } }
        }

        enum Proof: String, CaseIterable { case pieces, digest, tag }

        static func document(_ mirrors: Mirrors, _ proof: Proof, _ content: Content = content) -> String {
            var file = MetalinkText(size: content.size, urls: mirrors.servers.map { $0.url() })
            if proof == .pieces { file.pieces = MetalinkText.pieces(content, length: 512 << 10) }
            if proof != .tag { file.hashes = [("sha-256", content.sha256)] }
            return MetalinkText.version4(file)
        }

        static func get(
            _ sandbox: DlmSandbox, _ mirrors: Mirrors, _ proof: Proof, _ options: String..., content: Content = content
        ) async throws -> ChildProcess.Result {
            let document = try sandbox.write(metalink: Self.document(mirrors, proof, content))
            return try await sandbox.perform(["get", "--retry-delay", "0.1"] + options + ["-M", document])
        }

        @Test(
            "All mirrors send parts, whatever proves that they have the same file", arguments: Proof.allCases,
            ["3", "auto"])
        func together(proof: Proof, connections: String) async throws {
            let handler = Self.serve(rate: 3 * mebibyte, proof == .tag ? "\"a\"" : nil)
            try await withMirrors([handler, handler, handler]) { sandbox, mirrors in
                let result = try await Self.get(sandbox, mirrors, proof, "-x", connections)
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                for server in mirrors.servers { #expect(server.log.bytesSent > mebibyte, "\(server.log.bytesSent)") }
                let sources = try #require(try await sandbox.show(1).sources)
                #expect(sources.map(\.received).reduce(0, +) >= Self.content.size)
                #expect(sources.allSatisfy { $0.received > 0 && $0.failure == nil })
            }
        }

        @Test(
            "If a mirror sends wrong bytes, its parts are fetched from other mirrors",
            arguments: Proof.allCases.prefix(2),
            0..<3)
        func lies(proof: Proof, liar: Int) async throws {
            // Every range of this content is wrong.
            let wrong = Content(seed: 831, size: Self.content.size)
            let handlers = (0..<3).map { Self.serve($0 == liar ? wrong : Self.content, rate: 4 * mebibyte) }
            try await withMirrors(handlers) { sandbox, mirrors in
                let result = try await Self.get(sandbox, mirrors, proof, "-x", "3")
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                if proof == .pieces {
                    let sources = try #require(try await sandbox.show(1).sources)
                    #expect(sources.map { $0.failure != nil } == (0..<3).map { $0 == liar })
                    let sent = mirrors.servers.map(\.log.bytesSent).reduce(0, +)
                    #expect(sent <= Self.content.size * 3 / 2, "\(sent)")
                }
            }
        }

        static let bad: [(String, FaultServer.Handler)] = [
            ("gone", { _ in FaultReply(status: 404) }),
            ("another size", { _ in FaultReply(Content(seed: 1, size: 99)) }),
            ("no ranges", { _ in FaultReply(content).with { $0.ranges = .ignored } }),
            ("cut", { _ in FaultReply(content).with { $0.cut = .close(after: mebibyte / 2) } }),
            ("a login page", { _ in FaultReply(content).with { $0.fields = [("Content-Type", "text/html")] } }),
            ("one connection at a time", { $0.number % 2 == 0 ? FaultReply(status: 503) : FaultReply(content) }),
            ("a redirect", { $0.target == "/x" ? FaultReply(content) : .redirect(to: "/x") }),
            ("redirects without end", { _ in .redirect(to: "/file.bin") }),
            ("wrong range", { _ in FaultReply(content).with { $0.ranges = .wrongStart(by: 1) } }),
        ]

        @Test("Mirrors that fail do not disturb the download", arguments: bad.indices, ["pieces", "digest"])
        func failing(_ index: Int, proof: String) async throws {
            try await withMirrors([Self.serve(rate: 4 * mebibyte), Self.bad[index].1]) { sandbox, mirrors in
                let result = try await Self.get(
                    sandbox, mirrors, try #require(Proof(rawValue: proof)), "-x", "4", "--retries", "0")
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, Self.bad[index].0)
            }
        }

        @Test("A killed download is resumed while one mirror is gone and another has wrong bytes")
        func killed() async throws {
            try await withMirrors([Self.serve(rate: mebibyte), Self.serve(rate: mebibyte), Self.serve(rate: mebibyte)])
            {
                sandbox, mirrors in
                let document = try sandbox.write(metalink: Self.document(mirrors, .pieces))
                for server in mirrors.servers { server.holdEnds() }
                let get = try sandbox.start("get", "-x", "3", "-M", document)
                #expect(await mirrors.servers[2].waitUntil { $0.bytesSent >= mebibyte })
                try await get.expectEnd(by: SIGKILL)
                for server in mirrors.servers { server.releaseEnds() }
                mirrors.servers[0].handle { _ in FaultReply(status: 404) }
                mirrors.servers[1].handle(Self.serve(Content(seed: 832, size: Self.content.size)))
                try await sandbox.expectDownloaded(Self.content, by: "resume", "1")
            }
        }

        @Test(
            "With three mirrors, one of them with wrong bytes, the other two send parts, and the faster one sends more")
        func speed() async throws {
            let content = Content(seed: 833, size: 64 * mebibyte)
            // One byte in the middle of each requested part is wrong, however small the part is.
            let liar: FaultServer.Handler = { request in
                guard case .part(let range) = request.range(in: content.size) else { return FaultReply(status: 400) }
                return FaultReply(content.flipping((range.lowerBound + min(range.upperBound, content.size)) / 2)).with {
                    $0.bytesPerSecond = Int(4 * mebibyte)
                }
            }
            try await withMirrors([
                Self.serve(content, rate: mebibyte), liar, Self.serve(content, rate: 8 * mebibyte),
            ]) { sandbox, mirrors in
                let result = try await Self.get(sandbox, mirrors, .pieces, "-x", "3", content: content)
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
                // The test compares numbers of bytes, because times depend on the machine. One ninth and eight ninths
                // would be ideal, but on a busy machine the fast server may reach a fraction of its rate.
                let sent = [0, 2].map { mirrors.servers[$0].log.bytesSent }
                #expect(sent.reduce(0, +) <= content.size * 5 / 4, "\(sent)")
                #expect(sent[0] >= mebibyte && sent[1] > sent[0], "\(sent)")
            }
        }
    }
}
