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
                }, asksBesideFile: true, body)
        }

        static func asked(_ server: FaultServer) -> [String] {
            server.log.entries.map(\.request.target).filter { !$0.hasSuffix("/file.bin") }
        }

        @Test("get finds the list beside the file; show says where the digest is from; verify uses it again")
        func found() async throws {
            let list = "\(Self.content.sha256)  file.bin\n"
            try await Self.withDocuments(["/iso/SHA256SUMS": list]) { sandbox, server in
                let result = try await sandbox.run("get", server.url("/iso/file.bin"))
                result.expectSuccess()
                #expect(Self.asked(server) == ["/iso/SHA256SUMS"])
                let id = try await sandbox.onlyID()
                let shown = try await sandbox.run("show", id).stdout
                #expect(
                    shown.contains("(verified; the checksum is from \(server.url("/iso/SHA256SUMS")) (same server))"),
                    "\(shown)")
                #expect(try await sandbox.run("show", "--json", id).stdout.contains("\"sameServer\""))
                #expect(try await sandbox.run("verify", "file.bin").ending == .exited(0))
                #expect(Self.asked(server).count == 1)
            }
        }

        /// A service with its answers, as they were recorded, by host and path. Each answer is asked for once.
        struct Service: Sendable {
            let name, url: String
            let answers: [String: FaultReply]
            /// The algorithm of the digest that is found. Nil if there is none.
            let algorithm: String?
            var strength: String? = "sameServer"
            var options = ["-x", "1"]
            /// Whether an answer with a part of the file has the `Content-MD5` of this part.
            var hasDigestsOfParts = false
            /// The number of documents that are asked for and that do not exist.
            var missing = 0

            func answer(to request: FaultRequest) -> FaultReply {
                let place = (request["Host"] ?? "") + request.target.prefix { $0 != "?" }
                guard let reply = answers[place] else { return FaultReply(status: 404) }
                guard hasDigestsOfParts, case .part(let range) = request.range(in: content.size) else { return reply }
                let digest = Content(content.bytes(range)).base64Digest("md5")
                return reply.with { $0.fields.append(("Content-MD5", digest)) }
            }
        }

        static func file(_ fields: (name: String, value: String)..., etag: String? = "\"v1\"") -> FaultReply {
            FaultReply(content, etag: etag).with { $0.fields = fields }
        }

        static let release = """
            {"url":"https://api.github.com/repos/o/r/releases/1","id":1,"tag_name":"v1","draft":false,"assets":[{\
            "id":2,"name":"file.bin","label":null,"content_type":"application/octet-stream","state":"uploaded",\
            "size":\(content.size),"digest":"sha256:\(content.sha256)","download_count":3,\
            "browser_download_url":"https://github.com/o/r/releases/download/v1/file.bin"}],"body":""}
            """

        static let services = [
            Service(
                name: "a release on GitHub", url: "https://github.com/o/r/releases/download/v1/file.bin",
                answers: [
                    "github.com/o/r/releases/download/v1/file.bin": .redirect(
                        to: "https://release-assets.githubusercontent.com/r/1/2?sp=r&sig=abc&rscd=file.bin"),
                    "release-assets.githubusercontent.com/r/1/2": file(
                        ("Server", "Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0"), ("x-ms-blob-type", "BlockBlob"),
                        etag: "\"0x8DDA0F1B2C3D4E5\""),
                    "api.github.com/repos/o/r/releases/tags/v1": FaultReply(Content(release)),
                ], algorithm: "sha256", strength: "otherServer"),
            Service(
                name: "the Hub", url: "https://huggingface.co/o/m/resolve/main/file.bin",
                answers: [
                    "huggingface.co/o/m/resolve/main/file.bin": FaultReply.redirect(
                        to: "https://cdn-lfs.hf.co/repos/ab/file.bin?Signature=1"
                    ).with {
                        $0.fields += [
                            ("X-Linked-Etag", "\"\(content.sha256)\""), ("X-Linked-Size", "\(content.size)"),
                            ("X-Repo-Commit", "0123456789abcdef"),
                        ]
                    },
                    "cdn-lfs.hf.co/repos/ab/file.bin": file(("Server", "AmazonS3"), etag: "\"9f8a-2\""),
                ], algorithm: "sha256", strength: "otherServer"),
            Service(
                name: "S3", url: "https://b.s3.eu-central-1.amazonaws.com/file.bin",
                answers: [
                    "b.s3.eu-central-1.amazonaws.com/file.bin": file(
                        ("Server", "AmazonS3"), ("x-amz-request-id", "5A7B"), ("x-amz-id-2", "kD9="),
                        ("x-amz-server-side-encryption", "AES256"), etag: "\"\(content.digest("md5"))\"")
                ], algorithm: "md5"),
            s3(
                "S3 with a checksum of the object", ("x-amz-checksum-type", "FULL_OBJECT"),
                ("x-amz-checksum-sha256", content.base64Digest("sha256")), algorithm: "sha256"),
            // A CRC is no proof, so the documents beside the file are asked, too.
            s3(
                "S3 with a CRC of an object of parts", ("x-amz-checksum-type", "FULL_OBJECT"),
                ("x-amz-checksum-crc64nvme", content.base64Digest("crc64nvme")), algorithm: "crc64nvme", missing: 2),
            s3(
                "S3 with a digest of the digests of parts", ("x-amz-checksum-type", "COMPOSITE"),
                ("x-amz-checksum-sha256", other.base64Digest("sha256") + "-2"), algorithm: nil, missing: 2),
            Service(
                name: "Google Cloud Storage", url: "https://storage.googleapis.com/b/file.bin",
                answers: [
                    "storage.googleapis.com/b/file.bin": file(
                        ("Server", "UploadServer"), ("x-goog-stored-content-encoding", "identity"),
                        ("x-goog-hash", "crc32c=\(content.base64Digest("crc32c"))"),
                        ("x-goog-hash", "md5=\(content.base64Digest("md5"))"))
                ], algorithm: "md5"),
            Service(
                name: "Azure", url: "https://a.blob.core.windows.net/c/file.bin",
                answers: [
                    "a.blob.core.windows.net/c/file.bin": file(
                        ("Server", "Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0"), ("x-ms-blob-type", "BlockBlob"),
                        ("x-ms-blob-content-md5", content.base64Digest("md5")))
                ], algorithm: "md5", options: ["-x", "4"], hasDigestsOfParts: true),
            Service(
                name: "a mirror of Debian", url: "https://cdimage.debian.org/debian-cd/13.1.0/amd64/iso-cd/file.bin",
                answers: [
                    "cdimage.debian.org/debian-cd/13.1.0/amd64/iso-cd/file.bin": .redirect(
                        to: "https://saimei.ftp.acc.umu.se/debian-cd/13.1.0/amd64/iso-cd/file.bin"),
                    "saimei.ftp.acc.umu.se/debian-cd/13.1.0/amd64/iso-cd/file.bin": file(("Server", "Apache")),
                    "cdimage.debian.org/debian-cd/13.1.0/amd64/iso-cd/SHA256SUMS": FaultReply(
                        Content("\(other.sha256)  other.bin\n\(content.sha256)  file.bin\n")),
                ], algorithm: "sha256", strength: "otherServer"),
        ]

        /// Returns S3 with an object of two parts, whose ETag is no digest.
        static func s3(
            _ name: String, _ checksum: (name: String, value: String)..., algorithm: String?, missing: Int = 0
        ) -> Service {
            let reply = file(("Server", "AmazonS3"), ("x-amz-request-id", "5A7B"), ("x-amz-id-2", "kD9="))
                .with {
                    $0.fields += [("x-amz-server-side-encryption", "AES256")] + checksum
                    $0.etag = "\"\(content.digest("md5"))-2\""
                }
            let place = "b.s3.eu-central-1.amazonaws.com/parts/file.bin"
            return Service(
                name: name, url: "https://" + place, answers: [place: reply], algorithm: algorithm,
                strength: algorithm == nil ? nil : "sameServer",
                options: ["-x", "1", "-H", "x-amz-checksum-mode: ENABLED"], missing: missing)
        }

        @Test(
            "The recorded answers of a service prove the file, with no more requests", arguments: services.map(\.name))
        func recorded(name: String) async throws {
            let service = try #require(Self.services.first { $0.name == name })
            try await withSecureDlm(
                asksBesideFile: true, service.answer
            ) { site in
                let proxy = try TunnelProxy(to: site.server.port)
                defer { proxy.stop() }
                let words = ["get", "-k", "--proxy", proxy.url] + service.options + [service.url]
                try await site.sandbox.run(words).expectSuccess()
                struct Shown: Decodable { let checksum, proofStrength: String? }
                let text = try await site.sandbox.run("show", "--json", try await site.sandbox.onlyID()).stdout
                let shown = try JSONDecoder().decode(Shown.self, from: Data(text.utf8))
                #expect(shown.checksum == service.algorithm.map { "\($0):\(Self.content.digest($0))" })
                #expect(shown.proofStrength == service.strength)
                let entries = site.server.log.entries
                #expect(entries.count(where: { $0.status == 404 }) == service.missing)
                let found = entries.count - service.missing
                #expect(
                    service.hasDigestsOfParts ? found > 1 : found == service.answers.count, "\(entries.map(\.request))")
                // The documents are asked for once the file has begun.
                #expect(entries.first.map { service.url.hasSuffix($0.request.target) } == true)
            }
        }

        @Test("A list that contradicts the file: status 9, one line with both values; with headers it is not asked")
        func contradicted() async throws {
            try await Self.withDocuments(["/file.bin.sha256": Self.other.sha256]) { sandbox, server in
                let result = try await sandbox.run("get", server.url())
                #expect(result.ending == .exited(9) && sandbox.names == ["file.bin.part"])
                let line = try #require(result.errorLines.last)
                let document = server.url("/file.bin.sha256")
                for part in [Self.other.sha256, Self.content.sha256, document, "--verify headers"] {
                    #expect(line.contains(part), "\(line)")
                }
                // The document was read once more, because a cache may have sent it.
                let asked = ["/SHA256SUMS", "/file.bin.sha256", "/file.bin.sha256"]
                #expect(Self.asked(server) == asked)
                let again = server.log.entries.map(\.request).filter { $0["Cache-Control"] != nil }
                #expect(again.map(\.target) == ["/file.bin.sha256"])
                try await sandbox.run("get", "--verify", "headers", server.url()).expectSuccess()
                #expect(Self.asked(server) == asked)
                #expect(server.log.entries.count { $0.request.target.hasSuffix("/file.bin") } == 1)
            }
        }

        @Test("With require, also for a host only, a file without a digest gets no name; -v says what was asked")
        func required() async throws {
            try await Self.withDocuments([:]) { sandbox, server in
                let result = try await sandbox.run("get", "--verify", "require", server.url())
                #expect(result.ending == .exited(9) && sandbox.names == ["file.bin.part"])
                #expect(result.errorLines.last?.contains("no digest proves the file") ?? false, "\(result.stderr)")
                #expect(result.errorLines.last?.contains("--verify headers") ?? false, "\(result.stderr)")
                try await sandbox.run("get", "--verify", "headers", server.url()).expectSuccess()
                let told = try await sandbox.run("get", "-v", server.url("/b/file.bin"), "-o", "b.bin")
                told.expectSuccess()
                #expect(told.stderr.contains("no digest of the file in \(server.url("/b/SHA256SUMS"))"))
                let quiet = try await sandbox.run("get", server.url("/c/file.bin"), "-o", "c.bin")
                #expect(!quiet.stderr.contains("digest"), "\(quiet.stderr)")
                try sandbox.configure("hosts:\n  127.0.0.1:\n    verify: require\n")
                #expect(try await sandbox.run("get", server.url("/d/file.bin"), "-o", "d.bin").ending == .exited(9))
            }
        }

        @Test("Another process remembers which documents a folder does not have")
        func remembered() async throws {
            try await Self.withDocuments([:]) { sandbox, server in
                for name in ["a", "b"] {
                    try await sandbox.run("get", server.url("/iso/file.bin"), "-o", name).expectSuccess()
                }
                let names = ["SHA256SUMS", "file.bin.sha256", "SHA512SUMS", "file.bin.sha512"]
                #expect(Self.asked(server) == names.map { "/iso/\($0)" })
            }
        }

        @Test("A list of more than 50 URLs, a query, a password and the drop-ins ask for nothing beside the file")
        func unasked() async throws {
            try await Self.withDocuments([:]) { sandbox, server in
                let urls = (0..<51).map { $0 == 50 ? server.url() : server.url("/\($0).txt") }
                try sandbox.root.write(urls.joined(separator: "\n"), to: "files/urls")
                _ = try await sandbox.run("get", "-i", "urls", "--retries", "0")
                #expect(sandbox.exists("file.bin"))
                #expect(Self.asked(server).allSatisfy { $0.hasSuffix(".txt") })
                let before = Self.asked(server).count
                try await sandbox.run("get", "-u", "me:p", server.url("/u/file.bin"), "-o", "u").expectSuccess()
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
                try await sandbox.run("get", "--verify", "headers", server.url()).expectSuccess()
                let right = try await sandbox.run("verify", "--json", "file.bin")
                #expect(right.ending == .exited(0), "\(right.stderr)")
                #expect(right.stdout.contains("\"source\":\"server\""), "\(right.stdout)")
                #expect(Self.asked(server) == ["/SHA256SUMS"])
                try Self.other.write(to: sandbox.file("file.bin"))
                #expect(try await sandbox.run("verify", "file.bin").ending == .exited(9))
            }
        }
    }
}
