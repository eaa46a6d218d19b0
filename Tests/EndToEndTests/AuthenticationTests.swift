import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Authentication", .serialized, .timeLimit(.minutes(2)))
    struct AuthenticationTests {
        static let content = Content(seed: 1701, size: 12 * mebibyte + 3)
        static let hasServer = Comment("needs lighttpd")

        func withLighttpd(
            _ body: (DlmSandbox, Lighttpd) async throws -> Void
        ) async throws -> [Lighttpd.LogLine] {
            let server = try await Lighttpd()
            var log: [Lighttpd.LogLine] = []
            try await finally({ log = await server.stop() }) { try await withDlm { try await body($0, server) } }
            return log
        }

        @Test(
            "Digest works over one connection and several, and the password is never sent",
            .enabled(if: Lighttpd.canRun, hasServer),
            arguments: [["--digest"], ["--digest", "-x", "4"], ["--anyauth"]])
        func digest(options: [String]) async throws {
            let log = try await withLighttpd { sandbox, server in
                try server.add(Self.content, as: "file.bin")
                let words = ["get", "--verbose", "-v"] + options + PrivateServer.login + [server.url("file.bin")]
                let result = try await sandbox.perform(words)
                try expectFile(Self.content, "file.bin", in: sandbox)
                #expect(result.ending == .exited(0), "\(result.stderr)")
                SecretSearch(sandbox: sandbox).expectSilent(result)
                try SecretSearch(sandbox: sandbox).expectNoTrace("finished")
            }
            #expect(log.contains { $0.status == 206 && $0.authorization.hasPrefix("Digest ") }, "\(log)")
            #expect(!log.contains { $0.authorization.hasPrefix("Basic ") }, "\(log)")
            ProtocolTable.note("http", "authentication", "Digest")
        }

        /// Requires Digest, but does not check the client's answer to the challenge. lighttpd checks it in other tests.
        private static func digestOnly(_ request: FaultRequest, unframed: Bool = false) -> FaultReply {
            if request["Authorization"]?.hasPrefix("Digest ") == true {
                return FaultReply(content, etag: "\"v1\"")
            }
            let challenge = "Digest realm=\"r\", nonce=\"n\(request.number)\", qop=\"auth\""
            return FaultReply(status: 401, fields: [("WWW-Authenticate", challenge)]).with {
                guard unframed else { return }
                $0.framing = .closeDelimited
                $0.cut = .stall(after: 10)
            }
        }

        @Test(
            "-u sends the password by Basic in the first request only, and then answers the Digest challenge",
            arguments: [1, 4], [false, true])
        func turnsToDigest(connections: Int, unframed: Bool) async throws {
            try await withDlm({ Self.digestOnly($0, unframed: unframed) }) { sandbox, server in
                let words = ["get", "-x", "\(connections)", "-u", "ann:pass", "--stall-timeout", "60", server.url()]
                try await sandbox.expectDownloaded(Self.content, by: words)
                let given = server.log.entries.map { $0.request["Authorization"]?.prefix(7) }
                #expect(given.first == "Basic YW5uOnBhc3M=".prefix(7))
                #expect(given.count { $0?.hasPrefix("Basic") == true } == 1, "\(given)")
                #expect(given.contains("Digest "))
            }
        }

        @Test("A Digest challenge from another origin is not answered")
        func withinOrigin() async throws {
            let elsewhere = try FaultServer { Self.digestOnly($0) }
            let away = elsewhere.url("/file.bin")
            try await withDlm({ _ in .redirect(to: away) }) { sandbox, server in
                let words = ["get", "-u", "ann:pass", server.url()]
                expectFailure(6, of: try await sandbox.perform(words))
                #expect(elsewhere.log.entries.count == 1)
                for entry in elsewhere.log.entries { #expect(entry.request["Authorization"] == nil) }
            }
        }

        @Test("A response 401 over TLS whose body has no length and never ends does not block the download, either")
        func unframedChallenge() async throws {
            try await withSecureDlm({ Self.digestOnly($0, unframed: true) }) { site in
                let options = ["--anyauth", "-u", "ann:pass", "--stall-timeout", "60", "--max-time", "20"]
                let result = try await site.run(["get"] + options + [site.server.url()])
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: site.sandbox)
            }
        }

        @Test("--bearer-command is run at each attempt, and its output is shown nowhere")
        func command() async throws {
            let search = SecretSearch.token
            try await withDlm({ request in
                switch request["Authorization"] {
                case "Bearer \(search)1" where request.number == 1:
                    FaultReply(Self.content, etag: "\"v1\"").with { $0.cut = .close(after: mebibyte) }
                case "Bearer \(search)2": FaultReply(Self.content, etag: "\"v1\"")
                default: FaultReply(status: 403)
                }
            }) { sandbox, server in
                // The secret is not written in the program, because the search would find it there.
                let script = """
                    #!/bin/sh
                    echo x >>'\(sandbox.root("runs"))'
                    printf ' %s%s%s\\n' t0ken-88 41-q2 "$(wc -l <'\(sandbox.root("runs"))')"
                    """
                try sandbox.root.write(script, to: "token")
                chmod(sandbox.root("token"), 0o700)
                let result = try await sandbox.perform(
                    "get", "-v", "-v", "-x", "1", "--retry-delay", "0", "--bearer-command", sandbox.root("token"),
                    server.url())
                try expectFile(Self.content, "file.bin", in: sandbox)
                #expect(result.ending == .exited(0), "\(result.stderr)")
                SecretSearch(sandbox: sandbox).expectSilent(result)
                try SecretSearch(sandbox: sandbox).expectNoTrace("finished")
                try sandbox.root.write("#!/bin/sh\nexit 3\n", to: "token")
                let failed = try await sandbox.perform(
                    "get", "-o", "b", "--bearer-command", sandbox.root("token"), server.url())
                expectFailure(2, of: failed)
                #expect(failed.stderr.contains("ended with status 3"), "\(failed.stderr)")
                expectFailure(2, of: try await sandbox.perform("get", "--bearer-command", "/missing", server.url()))
            }
        }

        @Test("--aws-sigv4 signs every request to the origin, and no request to another origin")
        func signature() async throws {
            let key = "s3cret-key-5521"
            let elsewhere = try FaultServer { _ in FaultReply(Self.content, etag: "\"v1\"") }
            let away = elsewhere.url("/file.bin")
            try await withDlm({ request in
                if request.target.hasPrefix("/away") { return .redirect(to: away) }
                guard let given = request["Authorization"], given == Signature(request, key: key)?.authorization else {
                    return FaultReply(status: 403)
                }
                return FaultReply(Self.content, etag: "\"v1\"")
            }) { sandbox, server in
                let words = ["get", "-x", "3", "--aws-sigv4", "aws:amz:eu-central-1:s3", "-u", "AKID1:\(key)"]
                try await sandbox.expectDownloaded(Self.content, by: words + [server.url("/a/file.bin?list=1")])
                #expect(server.log.entries.count >= 3)
                try await sandbox.expectDownloaded(Self.content, as: "b", by: words + ["-o", "b", server.url("/away")])
                for entry in elsewhere.log.entries { #expect(entry.request["Authorization"] == nil) }
            }
        }
    }
}

/// AWS Signature Version 4, computed as by a server (AWS General Reference, "Signing AWS API requests").
struct Signature {
    let authorization: String

    init?(_ request: FaultRequest, key: String) {
        guard let given = request["Authorization"], let date = request["X-Amz-Date"],
            let scope = given.firstMatch(of: /Credential=([^\/]+)\/([^,]+),/),
            let signed = given.firstMatch(of: /SignedHeaders=([^,]+),/)
        else { return nil }
        let parts = scope.output.2.split(separator: "/").map(String.init)
        guard parts.count == 4 else { return nil }
        let target = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let names = signed.output.1.split(separator: ";").map(String.init)
        let fields = names.map { name in
            "\(name):\((request[name] ?? "").trimmingCharacters(in: .whitespaces))\n"
        }
        let empty = Self.hex(Self.sha256([]))
        let canonical = [
            "GET", String(target[0]), target.count > 1 ? String(target[1]) : "", fields.joined(),
            String(signed.output.1), empty,
        ]
        .joined(separator: "\n")
        let text = ["AWS4-HMAC-SHA256", date, String(scope.output.2), Self.hex(Self.sha256(Array(canonical.utf8)))]
            .joined(separator: "\n")
        var secret = Array("AWS4\(key)".utf8)
        for part in parts { secret = Self.hmac(secret, Array(part.utf8)) }
        let signature = Self.hex(Self.hmac(secret, Array(text.utf8)))
        authorization =
            "AWS4-HMAC-SHA256 Credential=\(scope.output.1)/\(scope.output.2), SignedHeaders=\(signed.output.1), "
            + "Signature=\(signature)"
    }

    private static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        let hex = Array(Content(bytes).sha256.utf8)
        return stride(from: 0, to: hex.count, by: 2).compactMap {
            UInt8(String(decoding: hex[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    /// Returns the HMAC with SHA-256 (RFC 2104).
    private static func hmac(_ key: [UInt8], _ text: [UInt8]) -> [UInt8] {
        let short = key.count > 64 ? sha256(key) : key
        let padded = short + [UInt8](repeating: 0, count: 64 - short.count)
        return sha256(padded.map { $0 ^ 0x5C } + sha256(padded.map { $0 ^ 0x36 } + text))
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
