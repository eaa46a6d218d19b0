import DownloadTestSupport
import Foundation
import Testing

/// The way in which a download gets its secret: the arguments, and the variables of the command that adds the download.
private struct Way: Sendable {
    var words: [String] = []
    let url: String
    var environment: [String: String] = [:]
    /// The arguments that give `dlm resume` the secret again, because the secret is not stored.
    var again: [String] = []
}

extension DlmSandbox {
    /// Runs a download in the background until a part is there, kills its session, and resumes it to the end. After
    /// each step, searches the home, the lists of processes, the environment of the programs that dlm runs, and all
    /// output. The download is slow until the kill, so that it does not end at the same moment: a program at the end of
    /// a download never runs if its session is killed when the program is about to begin.
    fileprivate func sweep(_ way: Way, _ content: Content, _ what: String) async throws {
        let search = SecretSearch(sandbox: self)
        try root.write("#!/bin/sh\nenv >'\(root("hooked"))'\ncat >'\(root("told"))'\n", to: "hook")
        #expect(chmod(root("hook"), 0o755) == 0)
        var launch = try launch(
            ["get", "-b", "-v", "--limit-rate", "200k", "--on-complete", root("hook")] + way.words + [way.url])
        launch.environment.merge(way.environment) { _, new in new }
        let handed = try await ChildProcess(launch).result()
        #expect(handed.ending == .exited(0), "\(what) \(handed.stderr)")
        search.expectSilent(handed, what)
        try await waitToShow(1) { $0.received > 0 }
        try search.expectNoTrace("\(what): running")
        try await search.askAll("\(what): running")
        let pid = try #require(try await daemonStatus().pid)
        let session = try #require(ForeignProcess(pid))
        session.send(SIGKILL)
        #expect(await session.waitForEnd())
        try search.expectNoTrace("\(what): killed")
        search.expectSilent(try await done("limit", "none", "1"), what)
        launch = try self.launch(["resume", "-v", "1"] + way.again)
        let result = try await ChildProcess(launch).result()
        #expect(result.ending == .exited(0), "\(what) \(result.stderr)")
        search.expectSilent(result, what)
        // The download continues in another background session, which is stopped here.
        search.expectSilent(try await done("wait", "1"), what)
        try expectFile(content, "file.bin", in: self, what)
        // `dlm wait` does not wait for programs, and `dlm daemon stop` ends those that run.
        let isHooked = try await ask(in: root.path, { root.exists("hooked") && root.exists("told") }, until: { $0 })
        #expect(isHooked, "\(what)")
        if result.stderr.contains("session background") { try await done("daemon", "stop") }
        try search.expectNoTrace("\(what): finished")
        try await search.askAll("\(what): finished")
        search.expectSilent(try await done("doctor"), what)
    }
}

extension EndToEnd {
    @Suite("No secret is left behind, in whatever way it was given", .long, .serialized, .timeLimit(.minutes(5)))
    struct SecretSweepTests {
        static let content = Content(seed: 730, size: 6 * mebibyte + 5)
        static let login = ["-u", "ann:\(SecretSearch.password)"]

        @Test("A password for FTP", .enabled(if: Vsftpd.canRun, "needs root, and vsftpd"), arguments: [false, true])
        func ftp(isSecure: Bool) async throws {
            try await withVsftpd { sandbox, server in
                try server.add(Self.content, as: "file.bin")
                let trust = ["--ca-certificate", server.certificates.authority]
                let url = server.url("file.bin", as: PrivateServer.user, PrivateServer.password)
                let way =
                    isSecure
                    ? Way(words: trust + Self.login, url: server.secureURL("file.bin"), again: Self.login)
                    : Way(url: url, again: Self.login)
                try await sandbox.sweep(way, Self.content, isSecure ? "ftps" : "ftp")
            }
        }

        @Test(
            "A password for SSH", .enabled(if: OpenSSHServer.canRun, "needs root, and OpenSSH's server"),
            arguments: ["sftp", "scp"])
        func ssh(scheme: String) async throws {
            try await withSSH { sandbox, server in
                try server.add(Self.content, as: "file.bin")
                try await sandbox.sweep(
                    Way(url: server.url("file.bin", scheme), again: Self.login), Self.content, scheme)
            }
        }

        @Test(
            "A password for Digest", .enabled(if: Lighttpd.canRun, AuthenticationTests.hasServer),
            arguments: ["--digest", "--anyauth"])
        func digest(option: String) async throws {
            let server = try await Lighttpd()
            try await finally({ _ = await server.stop() }) {
                try server.add(Self.content, as: "file.bin")
                let way = Way(words: [option] + Self.login, url: server.url("file.bin"), again: Self.login)
                try await withDlm { try await $0.sweep(way, Self.content, option) }
            }
        }

        @Test("A key for SigV4")
        func signature() async throws {
            let login = ["-u", "AKID1:\(SecretSearch.key)"]
            try await withDlm({ request in
                guard let given = request["Authorization"],
                    given == Signature(request, key: SecretSearch.key)?.authorization
                else { return FaultReply(status: 403) }
                return FaultReply(Self.content, etag: "\"v1\"")
            }) { sandbox, server in
                let way = Way(
                    words: ["--aws-sigv4", "aws:amz:eu-central-1:s3"] + login, url: server.url(), again: login)
                try await sandbox.sweep(way, Self.content, "SigV4")
            }
        }

        /// The files with the secret are outside the home that is searched.
        @Test(
            "A secret in a file, or from a program",
            arguments: ["--netrc-file", "--bearer-file", "--bearer-command", "--cookie-file"])
        func file(option: String) async throws {
            let apart = try TemporaryFolder()
            let right =
                switch option {
                case "--netrc-file": ("Authorization", "Basic \(SecretSearch.basic)")
                case "--cookie-file": ("Cookie", "id=\(SecretSearch.cookie)")
                default: ("Authorization", "Bearer \(SecretSearch.token)")
                }
            let text =
                switch option {
                case "--netrc-file": "machine 127.0.0.1 login ann password \(SecretSearch.password)\n"
                case "--cookie-file":
                    "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tid\t\(SecretSearch.cookie)\n"
                case "--bearer-file": SecretSearch.token + "\n"
                default: "#!/bin/sh\necho \(SecretSearch.token)\n"
                }
            try apart.write(text, to: "secret")
            #expect(chmod(apart("secret"), 0o700) == 0)
            try await withDlm({ request in
                request[right.0] == right.1 ? FaultReply(Self.content, etag: "\"v1\"") : FaultReply(status: 403)
            }) { sandbox, server in
                try await sandbox.sweep(
                    Way(words: [option, apart("secret")], url: server.url()), Self.content, option)
            }
        }

        @Test("A password for the proxy", arguments: ["--proxy", "http_proxy"])
        func proxy(way: String) async throws {
            try await withDlm({ request in
                request["Proxy-Authorization"] == "Basic \(SecretSearch.basic)"
                    ? FaultReply(Self.content, etag: "\"v1\"") : FaultReply(status: 407)
            }) { sandbox, proxy in
                let address = "http://ann:\(SecretSearch.password)@127.0.0.1:\(proxy.port)"
                let option = ["--proxy", address]
                try await sandbox.sweep(
                    Way(
                        words: way == "--proxy" ? option : [], url: "http://nowhere.example/file.bin",
                        environment: way == "--proxy" ? [:] : [way: address], again: option), Self.content, way)
            }
        }

        static let guarded: FaultServer.Handler = { request in
            if request.target == "/old" { return FaultReply(status: 410) }
            guard request["Authorization"] == "Basic \(SecretSearch.basic)" else { return FaultReply(status: 403) }
            return FaultReply(content, etag: "\"v1\"")
        }

        static func address(_ server: FaultServer, _ path: String) -> String {
            "http://ann:\(SecretSearch.password)@127.0.0.1:\(server.port)\(path)"
        }

        @Test("A password for the server of a Metalink document")
        func document() async throws {
            try await withDlm(Self.guarded) { sandbox, server in
                let text = """
                    <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="file.bin">
                    <size>\(Self.content.size)</size><url>\(server.url())</url></file></metalink>
                    """
                server.handle { request in
                    let isDocument = request.target == "/doc.meta4"
                    return isDocument && request["Authorization"] != nil
                        ? FaultReply(Content(text)) : Self.guarded(request)
                }
                try await sandbox.sweep(
                    Way(words: Self.login + ["-M"], url: server.url("/doc.meta4"), again: Self.login), Self.content,
                    "-M")
            }
        }

        @Test("A token in the URL that --url-command prints")
        func link() async throws {
            let apart = try TemporaryFolder()
            try await withDlm(Self.guarded) { sandbox, server in
                let url = "\(Self.address(server, "/new"))?token=\(SecretSearch.signature)"
                try apart.write("echo '\(url)'\n", to: "link")
                let words = ["-o", "file.bin", "--retry-delay", "0.1", "--url-command", "sh '\(apart("link"))'"]
                try await sandbox.sweep(
                    Way(words: words, url: server.url("/old"), again: Self.login), Self.content, "--url-command")
            }
        }
    }
}
