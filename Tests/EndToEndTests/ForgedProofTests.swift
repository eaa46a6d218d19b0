import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Documents beside the file that prove nothing, from real servers.
    @Suite("Proof that is forged", .serialized, .timeLimit(.minutes(3)))
    struct ForgedProofTests {
        static let content = ProofTests.content
        static let right = "\(content.sha256)  file.bin\n"
        static let wrong = "\(ProofTests.other.sha256)  file.bin\n"

        /// The answers by the name of the document, and what dlm does.
        struct Forgery: Sendable {
            let why: String
            let documents: [String: FaultReply]
            /// The documents that are asked.
            var asked = ["SHA256SUMS", "file.bin.sha256"]
            var isContradicted = false
        }

        static let forgeries = [
            Forgery(why: "a list of 1 GB", documents: ["SHA256SUMS": FaultReply(Content(seed: 97, size: 1 << 30))]),
            Forgery(
                why: "a list of 1 GB of right lines, without a length",
                documents: [
                    "SHA256SUMS": FaultReply(.empty).with {
                        let line = String(repeating: right, count: 1000)
                        $0.raw = FaultReply.Raw("HTTP/1.1 200 OK\r\n\r\n" + line, endless: line)
                    }
                ]),
            Forgery(
                why: "a list with a content coding, which could unpack to any size",
                documents: [
                    "SHA256SUMS": FaultReply(Content(Gzip.stored(Array(right.utf8)))).with {
                        $0.fields = [("Content-Encoding", "gzip")]
                    }
                ]),
            Forgery(
                why: "a list that is cut off, with chunks",
                documents: [
                    "SHA256SUMS": FaultReply(Content(right + wrong)).with {
                        ($0.framing, $0.cut) = (.chunked, .close(after: Int64(right.utf8.count)))
                    }
                ], asked: ["SHA256SUMS"]),
            Forgery(
                why: "a list at one byte a second",
                documents: ["SHA256SUMS": FaultReply(Content(right)).with { $0.bytesPerSecond = 1 }],
                asked: ["SHA256SUMS"]),
            Forgery(
                why: "a list that contradicts itself",
                documents: ["SHA256SUMS": FaultReply(Content(right + wrong)), "file.bin.md5": md5]),
            Forgery(
                why: "a right MD5 beside a wrong SHA-256",
                documents: ["SHA256SUMS": FaultReply(Content(wrong)), "file.bin.md5": md5],
                asked: ["SHA256SUMS", "SHA256SUMS"], isContradicted: true),
            Forgery(
                why: "a right list beside a wrong document of the file",
                documents: [
                    "file.bin.sha256": FaultReply(Content(wrong)), "SHA512SUMS": FaultReply(Content(right512)),
                ], asked: ["SHA256SUMS", "file.bin.sha256", "file.bin.sha256"], isContradicted: true),
        ]
        static let md5 = FaultReply(Content(content.digest("md5")))
        static let right512 = "\(content.digest("sha512"))  file.bin\n"

        @Test("A forged document proves nothing, and little of it is read", arguments: forgeries.map(\.why))
        func forged(why: String) async throws {
            let forgery = try #require(Self.forgeries.first { $0.why == why })
            try await withDlm(
                { request in
                    let name = request.target.dropFirst("/iso/".count)
                    if name == "file.bin" { return FaultReply(Self.content, etag: "\"v1\"") }
                    return forgery.documents[String(name)] ?? FaultReply(status: 404)
                }, asksBesideFile: true
            ) { sandbox, server in
                let result = try await sandbox.run("get", "--verify", "auto", server.url("/iso/file.bin"))
                #expect(result.ending == .exited(forgery.isContradicted ? 9 : 0), "\(result.stderr)")
                #expect(sandbox.names == [forgery.isContradicted ? "file.bin.part" : "file.bin"])
                let id = try await sandbox.onlyID()
                #expect(try await !sandbox.run("show", "--json", id).stdout.contains("\"sameServer\""))
                #expect(await server.waitUntil { $0.entries.allSatisfy(\.isOver) })
                let documents = server.log.entries.filter { !$0.request.target.hasSuffix("/file.bin") }
                #expect(documents.map(\.request.target) == forgery.asked.map { "/iso/\($0)" })
                #expect(documents.allSatisfy { $0.request["Accept-Encoding"] ?? "identity" == "identity" })
                // The sockets of both sides take some MiB more than dlm reads.
                #expect(documents.allSatisfy { $0.sent < 32 << 20 }, "\(documents.map(\.sent))")
                if why == "a list at one byte a second" { #expect(documents[0].sent < Self.right.utf8.count) }
            }
        }

        @Test("The right list of another host is not fetched, and a redirect within the host is not followed")
        func elsewhere() async throws {
            let other = try FaultServer(host: 2) { _ in FaultReply(Content(Self.right)) }
            let place = "http://127.0.0.2:\(other.port)/iso/SHA256SUMS"
            try await withDlm(
                { request in
                    switch request.target {
                    case "/iso/SHA256SUMS": .redirect(to: place)
                    case "/iso/file.bin.sha256": .redirect(to: "/right")
                    case "/right": FaultReply(Content(Self.right))
                    default: FaultReply(Self.content, etag: "\"v1\"")
                    }
                }, asksBesideFile: true
            ) { sandbox, server in
                try await sandbox.run("get", server.url("/iso/file.bin")).expectSuccess()
                #expect(ProofTests.asked(server) == ["/iso/SHA256SUMS", "/iso/file.bin.sha256"])
                #expect(other.log.connections == 0)
                #expect(try await !sandbox.run("show", "--json", sandbox.onlyID()).stdout.contains("\"sameServer\""))
            }
        }

        @Test("A list that changes between two looks: the second one counts", arguments: [true, false])
        func changed(isRightAtLast: Bool) async throws {
            let (first, second) = isRightAtLast ? (Self.wrong, Self.right) : (Self.wrong, "")
            try await withDlm(
                { request in
                    if request.target == "/file.bin" { return FaultReply(Self.content, etag: "\"v1\"") }
                    return FaultReply(Content(request["Cache-Control"] == "no-cache" ? second : first))
                }, asksBesideFile: true
            ) { sandbox, server in
                let result = try await sandbox.run("get", server.url())
                #expect(result.ending == .exited(isRightAtLast ? 0 : 9), "\(result.stderr)")
                #expect(ProofTests.asked(server) == ["/SHA256SUMS", "/SHA256SUMS"])
                let shown = try await sandbox.run("show", "--json", sandbox.onlyID()).stdout
                #expect(shown.contains("\"sameServer\"") == isRightAtLast, "\(shown)")
            }
        }
    }
}
