import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Signatures that the user requires, with the real programs.
    @Suite("Signatures", .serialized, .timeLimit(.minutes(3)))
    struct SignatureTests {
        static let content = Content(seed: 97, size: 12 * mebibyte)
        static let other = Content(seed: 98, size: 12 * mebibyte)
        static let small = Content(seed: 99, size: 3000)

        /// Runs a test with a server of files and of a list of them, which gpg has signed.
        static func withList(_ body: (SigningKit, DlmSandbox, FaultServer) async throws -> Void) async throws {
            try await SigningKit.with { kit in
                let list = [("file.bin", content), ("small.bin", small), ("wrong.bin", other)]
                    .map { "\($1.sha256)  \($0)\n" }.joined()
                let signature = try await kit.sign(Array(list.utf8), as: "good", with: ["--detach-sign"])
                try await withDlm(
                    { request in
                        switch request.target {
                        case "/file.bin", "/wrong.bin": FaultReply(content, etag: "\"v1\"")
                        case "/small.bin": FaultReply(small, etag: "\"v1\"")
                        case "/SHA256SUMS": FaultReply(Content(list))
                        case "/SHA256SUMS.gpg": FaultReply(Content(signature))
                        default: FaultReply(status: 404)
                        }
                    }, { try await body(kit, $0, $1) })
            }
        }

        @Test("A signed list proves a large file with four connections, and a small file; show names the key")
        func list() async throws {
            try await Self.withList { kit, sandbox, server in
                let key = kit.folder("good")
                try await sandbox.expectDownloaded(
                    Self.content, by: "get", "-x", "4", "--signed-by", key, server.url("/file.bin"))
                let id = try await sandbox.onlyID()
                let shown = try await sandbox.run("show", id).stdout
                let fingerprint = try await kit.fingerprint("good")
                #expect(shown.contains("signed by   \(fingerprint) (\(server.url("/SHA256SUMS.gpg")))"), "\(shown)")
                #expect(shown.contains("signed-by=\(key)"), "\(shown)")
                #expect(try await sandbox.run("show", "--json", id).stdout.contains("\"signedBy\":\"\(fingerprint)\""))
                try await sandbox.expectDownloaded(
                    Self.small, as: "small.bin", by: "get", "--signed-by", key, server.url("/small.bin"))
                let wrong = try await sandbox.run("get", "--signed-by", key, server.url("/wrong.bin"))
                #expect(wrong.ending == .exited(9) && sandbox.exists("wrong.bin.part") && !sandbox.exists("wrong.bin"))
                #expect(wrong.errorLines.last?.contains(Self.other.sha256) ?? false, "\(wrong.stderr)")
            }
        }

        @Test(
            "After kill -9, the signature is checked again", .enabled(if: DlmSandbox.hasFaultPoints),
            arguments: ["beforeChecksum", "beforeName", "afterName"])
        func killed(point: String) async throws {
            try await Self.withList { kit, sandbox, server in
                let words = ["get", "-x", "4", "--signed-by", kit.folder("good"), server.url("/file.bin")]
                let killed = try await sandbox.run(words) { $0.environment["DLM_FAULT_POINT"] = point }
                #expect(killed.ending == .signalled(SIGKILL))
                let name = point == "afterName" ? "file.bin" : "file.bin.part"
                #expect(sandbox.names == [name])
                let sent = server.log.entries.count(where: { $0.request.target == "/SHA256SUMS.gpg" })
                // While dlm was not running, one byte of the file was changed.
                if point == "beforeName" {
                    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: sandbox.file(name)))
                    try handle.seek(toOffset: 5_000_000)
                    let byte = try #require(try handle.read(upToCount: 1)).map { ~$0 }
                    try handle.seek(toOffset: 5_000_000)
                    try handle.write(contentsOf: Data(byte))
                    try handle.close()
                    #expect(try await sandbox.run(words).ending == .exited(9))
                } else {
                    try await sandbox.expectDownloaded(Self.content, by: words)
                }
                #expect(server.log.entries.count(where: { $0.request.target == "/SHA256SUMS.gpg" }) > sent)
            }
        }

        @Test("verify checks the signature of a finished file, and a second get asks nothing more of a signed file")
        func verified() async throws {
            try await Self.withList { kit, sandbox, server in
                let key = kit.folder("good")
                try await sandbox.run("get", server.url("/file.bin")).expectSuccess()
                let right = try await sandbox.run("verify", "--json", "--signed-by", key, "file.bin")
                #expect(right.ending == .exited(0), "\(right.stderr)")
                #expect(
                    right.stdout.contains("\"signedBy\":\"\(try await kit.fingerprint("good"))\""), "\(right.stdout)")
                let stranger = try await sandbox.run("verify", "--signed-by", kit.folder("other"), "file.bin")
                #expect(stranger.ending == .exited(9) && stranger.stdout == "file.bin: FAILED\n", "\(stranger.stdout)")
                try await sandbox.run("get", "--signed-by", key, server.url("/file.bin")).expectSuccess()
                let refused = try await sandbox.run("get", "--signed-by", kit.folder("other"), server.url("/file.bin"))
                #expect(refused.ending != .exited(0), "\(refused.stderr)")
                try Self.other.write(to: sandbox.file("file.bin"))
                #expect(try await sandbox.run("verify", "--signed-by", key, "file.bin").ending == .exited(9))
            }
        }

        @Test(
            "After kill -9, an older list is refused until it is allowed; doctor shows the pin; verify compares, too",
            .enabled(if: DlmSandbox.hasFaultPoints))
        func rollback() async throws {
            try await SigningKit.with { kit in
                let list = "\(Self.content.sha256)  file.bin\n"
                func signature(_ year: Int, as user: String = "good") async throws -> Content {
                    let options = ["--faked-system-time", "\(year)0101T000100", "--detach-sign"]
                    return Content(try await kit.sign(Array(list.utf8), as: user, with: options))
                }
                let current = Observed(try await signature(2022))
                try await withDlm(
                    { request in
                        switch request.target {
                        case "/file.bin": FaultReply(Self.content, etag: "\"v1\"")
                        case "/SHA256SUMS": FaultReply(Content(list))
                        case "/SHA256SUMS.gpg": FaultReply(current.value)
                        default: FaultReply(status: 404)
                        }
                    },
                    { sandbox, server in
                        let keys = ["--signed-by", kit.folder("both")]
                        let words = ["get", server.url("/file.bin")] + keys
                        let killed = try await sandbox.run(words + ["--trust-on-first-use"]) {
                            $0.environment["DLM_FAULT_POINT"] = "beforeName"
                        }
                        #expect(killed.ending == .signalled(SIGKILL) && sandbox.names == ["file.bin.part"])
                        let older = try await signature(2021)
                        current.update { $0 = older }
                        let refused = try await sandbox.run(words)
                        #expect(refused.ending == .exited(9) && sandbox.names == ["file.bin.part"])
                        #expect(
                            refused.errorLines.last?.contains("give --allow-rollback") ?? false, "\(refused.stderr)")
                        let pins = try await sandbox.run("doctor", "--json").findings().named("pin")
                        let key = "\(server.url("/")): key \(try await kit.fingerprint("good")) since 20"
                        #expect(pins.count == 1 && pins.allSatisfy { $0.detail.hasPrefix(key) }, "\(pins)")
                        let id = try await sandbox.onlyID()
                        try await sandbox.run("resume", id, "--allow-rollback").expectSuccess()
                        #expect(sandbox.names == ["file.bin"])
                        try await sandbox.run(["verify", "file.bin"] + keys).expectSuccess()
                        let oldest = try await signature(2020)
                        current.update { $0 = oldest }
                        #expect(try await sandbox.run(["verify", "file.bin"] + keys).ending == .exited(9))
                        try await sandbox.run(["verify", "file.bin", "--allow-rollback"] + keys).expectSuccess()
                        let other = try await signature(2022, as: "other")
                        current.update { $0 = other }
                        let verified = try await sandbox.run(["verify", "file.bin"] + keys)
                        #expect(verified.ending == .exited(9) && verified.stderr.contains("--signed-by"))
                    })
            }
        }

        @Test("--trust-on-first-use without keys is a mistake: one line, and status 2")
        func noKeys() async throws {
            try await Self.withList { _, sandbox, server in
                let get = try await sandbox.run("get", "--trust-on-first-use", server.url("/file.bin"))
                #expect(get.ending == .exited(2) && get.errorLines.first?.contains("--signed-by") ?? false)
                #expect(server.log.entries.isEmpty)
                try await sandbox.run("get", "-q", server.url("/file.bin")).expectSuccess()
                let resume = try await sandbox.run("resume", "--trust-on-first-use", try await sandbox.onlyID())
                #expect(resume.ending == .exited(2) && resume.errorLines.first?.contains("--signed-by") ?? false)
            }
        }

        @Test("Without gpgv, to a stream, or with a query: one line, and nothing is fetched")
        func refused() async throws {
            try await Self.withList { kit, sandbox, server in
                let key = kit.folder("good")
                let bin = try sandbox.root.makeFolder("bin")
                func get(_ words: String...) async throws -> ChildProcess.Result {
                    try await sandbox.run(["get", "--signed-by", key] + words) { $0.environment["PATH"] = bin }
                }
                let missing = try await get(server.url("/small.bin"))
                #expect(missing.ending == .exited(9) && missing.stderr.contains("install the package gpgv"))
                let stream = try await sandbox.run("get", "--signed-by", key, "-o", "-", server.url("/small.bin"))
                #expect(stream.ending == .exited(9) && stream.stdout.isEmpty, "\(stream.stderr)")
                let query = try await sandbox.run("get", "--signed-by", key, server.url("/small.bin?token=1"))
                #expect(query.ending == .exited(9) && query.stderr.contains("without a query"), "\(query.stderr)")
                #expect(server.log.entries.isEmpty)
            }
        }

        @Test("300 files with one signed list: gpgv runs once, and the list is asked for once")
        func shared() async throws {
            try await SigningKit.with { kit in
                let file = Content(seed: 96, size: 1000)
                let list = (0..<300).map { "\(file.sha256)  \($0).bin\n" }.joined()
                let signature = try await kit.sign(Array(list.utf8), as: "good", with: ["--detach-sign"])
                try await withDlm({ request in
                    switch request.target {
                    case "/SHA256SUMS": FaultReply(Content(list))
                    case "/SHA256SUMS.gpg": FaultReply(Content(signature))
                    case let target where target.hasSuffix(".bin"): FaultReply(file, etag: "\"v1\"")
                    default: FaultReply(status: 404)
                    }
                }) { sandbox, server in
                    let bin = try sandbox.root.makeFolder("bin")
                    let script = "#!/bin/sh\necho run >> \(sandbox.root("runs"))\nexec /usr/bin/gpgv \"$@\"\n"
                    try sandbox.root.write(script, to: "bin/gpgv")
                    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: bin + "/gpgv")
                    let urls = (0..<300).map { server.url("/\($0).bin") }.joined(separator: "\n")
                    try sandbox.root.write(urls, to: "files/urls")
                    let words = ["get", "-i", "urls", "--signed-by", kit.folder("good")]
                    try await sandbox.run(words) { $0.environment["PATH"] = bin }.expectSuccess()
                    #expect(sandbox.names.count == 301)
                    #expect(try sandbox.root.read("runs") == "run\n")
                    let targets = server.log.entries.map(\.request.target)
                    for document in ["/SHA256SUMS", "/SHA256SUMS.gpg"] {
                        #expect(targets.count { $0 == document } == 1, "\(document)")
                    }
                    // Only the files that began before the signed list was known are asked for signatures of their own.
                    let others = targets.count { !$0.hasSuffix(".bin") }
                    #expect(others < 4 * 300, "\(others)")
                }
            }
        }

        @Test("A signature may be redirected to the server of the file, for get and verify, and to no third server")
        func redirected() async throws {
            try await SigningKit.with { kit in
                let signature = Content(
                    try await kit.sign(
                        Self.small.bytes(0..<Self.small.size), as: "good", with: ["--detach-sign", "--armor"]))
                let assets = try FaultServer { request in
                    request.target.contains("sig") ? FaultReply(signature) : FaultReply(Self.small, etag: "\"v1\"")
                }
                let third = try FaultServer { _ in FaultReply(signature) }
                let (file, document) = (assets.url("/1?t=2"), assets.url("/sig?t=3"))
                try await withDlm({ request in
                    switch request.target {
                    case "/v1/file.bin", "/v2/file.bin": .redirect(to: file)
                    case "/v1/file.bin.asc": .redirect(to: document)
                    case "/v2/file.bin.asc": .redirect(to: third.url("/sig"))
                    default: FaultReply(status: 404)
                    }
                }) { sandbox, server in
                    let words = ["--signed-by", kit.folder("good")]
                    try await sandbox.run(["get", "-o", "a"] + words + [server.url("/v1/file.bin")]).expectSuccess()
                    try await sandbox.run(["verify"] + words + ["a"]).expectSuccess()
                    let forged = try await sandbox.run(["get", "-o", "b"] + words + [server.url("/v2/file.bin")])
                    #expect(forged.ending == .exited(9) && sandbox.names == ["a", "b.part"], "\(forged.stderr)")
                    #expect(third.log.entries.isEmpty)
                }
            }
        }

        @Test("nginx serves a signature of minisign; a setting for the host names the key as text")
        func nginx() async throws {
            try await SigningKit.with { kit in
                let signature = try await kit.minisign(Self.content.bytes(0..<Self.content.size))
                let key = try kit.folder.read("a.pub").split(separator: "\n")[1]
                try await withNginx { sandbox, nginx in
                    try nginx.add(Self.content, as: "file.bin")
                    try nginx.add(Content(signature), as: "file.bin.minisig")
                    try sandbox.configure("hosts:\n  127.0.0.1:\n    signed-by: [\(key)]\n")
                    try await sandbox.expectDownloaded(Self.content, byProcess: ["get", nginx.url("/file.bin")])
                    let shown = try await sandbox.run("show", try await sandbox.onlyID()).stdout
                    #expect(shown.contains("signed by"), "\(shown)")
                }
            }
        }
    }
}
