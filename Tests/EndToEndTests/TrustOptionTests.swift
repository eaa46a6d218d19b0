import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Trust", .serialized, .timeLimit(.minutes(2)))
    struct TrustOptionTests {
        static let content = Content(seed: 770, size: 9 * mebibyte + 3)
        static var file: FaultReply { FaultReply(content, etag: "\"v1\"") }
        static let handler: FaultServer.Handler = { $0.target == "/away" ? .redirect(to: "/file.bin") : file }

        /// Runs dlm without the authority in the environment.
        func run(_ site: SecureSite, _ words: [String]) async throws -> ChildProcess.Result {
            try await site.sandbox.run(words + ["--retries", "0"])
        }

        @Test("--ca-certificate is trusted on every connection, and replaces all other authorities")
        func authority() async throws {
            try await withCertificates { certificates in
                let stranger = try await certificates.wrong(.unknownAuthority)
                try await withSecureDlm(certificates, Self.handler) { site in
                    expectFailure(5, of: try await run(site, ["get", site.server.url()]))
                    let words = ["get", "-x", "4", "--ca-certificate", certificates.authority]
                    let result = try await run(site, words + [site.server.url()])
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: site.sandbox)
                    #expect(site.server.log.entries.count > 3)
                    // The environment names the server's authority as trusted, but --ca-certificate replaces it.
                    let alone = ["get", "--ca-certificate", stranger.certificate, site.server.url("/alone")]
                    expectFailure(5, of: try await site.run(alone + ["--retries", "0"]))
                }
            }
        }

        @Test(
            "--ca-certificate is recorded as a path that a resume uses; given to a resume, it replaces a recorded -k",
            arguments: [false, true])
        func resumed(isGiven: Bool) async throws {
            try await withSecureDlm(
                { request in
                    Self.file.with { if request.number == 1 { $0.cut = .stall(after: 2 * mebibyte) } }
                }
            ) { site in
                let words = isGiven ? ["-k"] : ["--ca-certificate", site.certificates.authority]
                let first = try site.sandbox.start(["get"] + words + [site.server.url()])
                #expect(await site.server.waitUntil { $0.bytesSent >= 2 * mebibyte })
                try await site.sandbox.waitToShow(1) { $0.received >= mebibyte }
                try await first.killed()
                let again = isGiven ? ["--ca-certificate", site.certificates.authority] : []
                try await site.sandbox.expectDownloaded(Self.content, byProcess: ["resume", "1"] + again)
                #expect(try await site.sandbox.run("show", "1").stdout.contains("not verified") == false)
            }
        }

        @Test("--crl-file refuses revoked certificates, and accepts all others", arguments: [true, false])
        func revoked(isRevoked: Bool) async throws {
            try await withCertificates { certificates in
                let list = try await certificates.revocations(isRevoked ? [certificates.right] : [])
                try await withSecureDlm(certificates, Self.handler) { site in
                    let words = ["get", "--ca-certificate", certificates.authority, "--crl-file", list]
                    let result = try await run(site, words + [site.server.url()])
                    if isRevoked {
                        expectFailure(5, of: result)
                        #expect(result.stderr.contains("revoked"), "\(result.stderr)")
                    } else {
                        try expectDownloaded(Self.content, as: "file.bin", by: result, in: site.sandbox)
                    }
                }
            }
        }

        @Test("--certificate authenticates the client, with the key in the same file or in another one")
        func client() async throws {
            try await withCertificates { certificates in
                let client = try await certificates.client()
                let tls: @Sendable (Int, TLSBehaviour) -> TLSBehaviour = { _, right in
                    right.with { $0.clientAuthority = certificates.authority }
                }
                try await withSecureDlm(certificates, tls: tls, Self.handler) { site in
                    let words = ["get", "--ca-certificate", certificates.authority]
                    expectFailure(5, of: try await run(site, words + [site.server.url("/none")]))
                    let apart = ["-x", "4", "--certificate", client.certificate, "--private-key", client.key]
                    let result = try await run(site, words + apart + [site.server.url("/apart")])
                    try expectDownloaded(Self.content, as: "apart", by: result, in: site.sandbox)
                    let whole =
                        try String(contentsOfFile: client.certificate, encoding: .utf8)
                        + String(contentsOfFile: client.key, encoding: .utf8)
                    try site.sandbox.root.write(whole, to: "files/whole.pem")
                    let one = try await run(site, words + ["--certificate", "whole.pem", site.server.url("/one")])
                    try expectDownloaded(Self.content, as: "one", by: one, in: site.sandbox)
                    let other = ["--certificate", client.certificate, "--private-key", certificates.key]
                    expectFailure(5, of: try await run(site, words + other + [site.server.url("/other")]))
                }
            }
        }

        @Test(
            "--pinned-public-key accepts only this key, by digest or file, with and without -k, and refuses http")
        func pinned() async throws {
            try await withCertificates { certificates in
                let (right, wrong) = (
                    try await certificates.pin(certificates.right), "sha256//" + String(repeating: "A", count: 43) + "="
                )
                try await withSecureDlm(certificates, Self.handler) { site in
                    let words = ["get", "--ca-certificate", certificates.authority, "--pinned-public-key"]
                    for (index, pin) in [right.digest, "\(wrong);\(right.digest)", right.file].enumerated() {
                        let result = try await run(site, words + [pin, site.server.url("/\(index)")])
                        try expectDownloaded(Self.content, as: "\(index)", by: result, in: site.sandbox)
                    }
                    let away = try await run(site, words + [right.digest, "-o", "away", site.server.url("/away")])
                    try expectDownloaded(Self.content, as: "away", by: away, in: site.sandbox)
                    for more in [[], ["-k"]] {
                        let result = try await run(site, words + [wrong] + more + [site.server.url("/wrong")])
                        expectFailure(5, of: result, more)
                        #expect(
                            result.stderr.contains("pin") || result.stderr.contains("public key"), "\(result.stderr)")
                    }
                    let plain = site.server.url("/plain").replacing("https:", with: "http:")
                    expectFailure(2, of: try await run(site, words + [right.digest, plain]))
                }
            }
        }

        @Test("Downloads with different trust in one session share no connection and no TLS session")
        func apart() async throws {
            try await withCertificates { certificates in
                let client = try await certificates.client()
                let wrong = "sha256//" + String(repeating: "A", count: 43) + "="
                try await withSecureDlm(certificates, Self.handler) { site in
                    let trusted: [[String]] = [
                        ["-k"], ["--ca-certificate", certificates.authority],
                        [
                            "--ca-certificate", certificates.authority, "--certificate", client.certificate,
                            "--private-key", client.key,
                        ],
                    ]
                    let refused: [[String]] = [
                        [], ["--ca-certificate", certificates.authority, "--pinned-public-key", wrong],
                        ["-k", "--pinned-public-key", wrong],
                        ["--ca-certificate", client.certificate],
                    ]
                    var id = 0
                    for round in 0..<2 {
                        for (words, isTrusted) in trusted.map({ ($0, true) }) + refused.map({ ($0, false) }) {
                            id += 1
                            let url = site.server.url("/\(round)-\(id)")
                            let handed = try await site.sandbox.run(["get", "-b", "--retries", "0"] + words + [url])
                            #expect(handed.stdout == "\(id)\n", "\(handed.stderr)")
                            let result = try await site.sandbox.run("wait", "\(id)")
                            #expect(result.ending == .exited(isTrusted ? 0 : 5), "\(round) \(words) \(result.stderr)")
                        }
                    }
                }
            }
        }

        @Test(
            "--tls-min refuses older versions",
            arguments: [("1.2", 12, 0), ("1.3", 12, 5), ("1.3", 13, 0)] as [(String, Int, Int32)])
        func oldest(least: String, version: Int, status: Int32) async throws {
            let tls: @Sendable (Int, TLSBehaviour) -> TLSBehaviour = { _, right in
                right.with { $0.versions = 12...version }
            }
            try await withSecureDlm(tls: tls, Self.handler) { site in
                let words = ["get", "--ca-certificate", site.certificates.authority, "--tls-min", least]
                let result = try await run(site, words + [site.server.url()])
                #expect(result.ending == .exited(status), "\(result.stderr)")
            }
        }

        @Test("--proto excludes schemes, for the URL and for redirects")
        func schemes() async throws {
            try await withSecureDlm(Self.handler) { site in
                let target = site.server.url()
                let plain = try FaultServer { $0.target == "/away" ? .redirect(to: target) : Self.file }
                let words = ["get", "--ca-certificate", site.certificates.authority, "--proto"]
                for proto in ["=https", "https", "-http", "-all,https"] {
                    expectFailure(2, of: try await run(site, words + [proto, plain.url()]), proto)
                }
                #expect(plain.log.entries.isEmpty)
                let secured = try await run(site, words + ["=https", "-o", "a", target])
                try expectDownloaded(Self.content, as: "a", by: secured, in: site.sandbox)
                expectFailure(7, of: try await run(site, words + ["=http", "-o", "b", plain.url("/away")]))
                let both = try await run(site, words + ["http,https", "-o", "c", plain.url("/away")])
                try expectDownloaded(Self.content, as: "c", by: both, in: site.sandbox)
            }
        }

        @Test("Wrong files and values are reported before a request is sent")
        func refused() async throws {
            try await withSecureDlm(Self.handler) { site in
                try site.sandbox.root.write("nothing\n", to: "files/text")
                try site.sandbox.root.write("-----BEGIN ENCRYPTED PRIVATE KEY-----\n", to: "files/locked")
                let cases: [([String], Int32)] = [
                    (["--ca-certificate", "none"], 3), (["--ca-certificate", "text"], 2),
                    (["--crl-file", "none"], 3), (["--crl-file", site.certificates.authority], 2),
                    (["--certificate", "none"], 3), (["--certificate", site.certificates.certificate], 2),
                    (["--private-key", site.certificates.key], 2),
                    (["--certificate", site.certificates.certificate, "--private-key", "locked"], 2),
                    (["--pinned-public-key", "none"], 3), (["--pinned-public-key", "sha256//short"], 2),
                    (["--tls-min", "1.1"], 2), (["--proto", "=ftp"], 2), (["--proto", "-all"], 2),
                ]
                for (words, status) in cases {
                    let result = try await run(site, ["get"] + words + [site.server.url()])
                    expectFailure(status, of: result, words)
                }
                #expect(site.server.log.connections == 0)
            }
        }
    }
}
