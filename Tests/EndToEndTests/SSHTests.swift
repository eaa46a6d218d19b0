import DownloadTestSupport
import Foundation
import Testing

@testable import CurlTransport

/// Runs a test with an SSH server whose key is in ~/.ssh/known_hosts.
func withSSH(
    mostLogins: Int? = nil, _ body: (DlmSandbox, OpenSSHServer) async throws -> Void
) async throws {
    let server = try await OpenSSHServer(mostLogins: mostLogins)
    try await finally({ await server.stop() }) {
        try await withDlm { sandbox in
            try sandbox.root.write(server.knownHost, to: "home/.ssh/known_hosts")
            try await body(sandbox, server)
        }
    }
}

extension EndToEnd {
    @Suite(
        "SSH, from OpenSSH", .long, .serialized, .timeLimit(.minutes(3)),
        .enabled(if: OpenSSHServer.canRun, "needs root, and OpenSSH's server"))
    struct SSHTests {
        static let content = Content(seed: 1501, size: 12 * mebibyte + 3)

        @Test(
            "Large, small and empty files are downloaded; over SFTP, they get the server's time",
            arguments: ["sftp", "scp"])
        func files(scheme: String) async throws {
            try await withSSH { sandbox, server in
                for (name, content) in [("large.bin", Self.content), ("small", Content("small")), ("empty", .empty)] {
                    try server.add(content, as: name)
                    try date(server.path(name))
                    let result = try await sandbox.perform("get", "--remote-time", server.url(name, scheme))
                    try expectDownloaded(content, as: name, by: result, in: sandbox, name)
                    guard scheme == "sftp" else { continue }
                    #expect(try sandbox.modified(name) == Date(timeIntervalSince1970: 1_600_000_000), "\(name)")
                }
            }
        }

        @Test("SCP has no ranges: show says so, and on the resume the partial file is compared and kept")
        func scp() async throws {
            try await withSSH { sandbox, server in
                try server.add(Self.content, as: "file.bin")
                try await sandbox.kill([server.url("file.bin", "scp")], after: 3 * mebibyte)
                #expect(try await sandbox.perform("show", "1").stdout.contains("not resumable"))
                try await sandbox.expectDownloaded(Self.content, by: ["resume", "1"] + PrivateServer.login)
            }
        }

        @Test("A key authenticates, and a resume needs no option")
        func key() async throws {
            try await withSSH { sandbox, server in
                try server.add(Self.content, as: "file.bin")
                let url = server.url("file.bin", password: nil)
                try await sandbox.kill(["--ssh-key", server.key, url], after: 2 * mebibyte)
                try await sandbox.expectDownloaded(Self.content, by: "resume", "1")
            }
            ProtocolTable.note("sftp", "authentication", "key")
        }

        @Test("An unknown or changed host key is refused; --insecure accepts it")
        func hostKeys() async throws {
            try await withSSH { sandbox, server in
                try server.add(Self.content, as: "file.bin")
                for (known, word) in [("", "ssh-keyscan"), (try await server.otherKey(), "ssh-keygen -R")] {
                    try sandbox.root.write(known, to: "home/.ssh/known_hosts")
                    let result = try await sandbox.perform("get", server.url("file.bin"))
                    expectFailure(5, of: result)
                    #expect(result.stderr.contains(word), "\(result.stderr)")
                    #expect(result.stderr.contains("SHA256:"), "\(result.stderr)")
                }
                try sandbox.root.write(server.knownHost, to: "keys")
                try await sandbox.expectDownloaded(
                    Self.content, by: "get", "--known-hosts", sandbox.root("keys"), server.url("file.bin"))
                let blind = try await sandbox.perform("get", "-k", "-o", "other.bin", server.url("file.bin"))
                try expectDownloaded(Self.content, as: "other.bin", by: blind, in: sandbox)
                let id = try #require(try await sandbox.list().map(\.id).max())
                #expect(try await sandbox.perform("show", "\(id)").stdout.contains("not verified"))
            }
        }

        @Test("An RSA key works, or is reported as unusable if libssh2 signs with SHA-1")
        func rsa() async throws {
            try await withSSH { sandbox, server in
                try server.add(Self.content, as: "file.bin")
                let url = server.url("file.bin", password: nil)
                let key = try await server.rsaKey()
                let result = try await sandbox.perform("get", "--ssh-key", key, url)
                // The hint depends on the version of libssh2.
                if SSHKey.hint(key) == nil {
                    return try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                }
                expectFailure(6, of: result)
                #expect(result.stderr.contains("SHA-1") && result.stderr.contains("ed25519"), "\(result.stderr)")
            }
        }

        @Test("A key of the agent authenticates")
        func agent() async throws {
            try await withSSH { sandbox, server in
                try server.add(Self.content, as: "file.bin")
                let socket = sandbox.root("agent")
                let agent = try ChildProcess(ProcessLaunch("/usr/bin/ssh-agent", ["-D", "-a", socket]))
                defer { agent.send(SIGTERM) }
                await agent.expectSays("SSH_AUTH_SOCK")
                var add = ProcessLaunch("/usr/bin/ssh-add", ["-q", server.key])
                add.environment = ["SSH_AUTH_SOCK": socket, "HOME": sandbox.root("home")]
                #expect(try await ChildProcess(add).result().ending == .exited(0))
                let result = try await sandbox.run("get", server.url("file.bin", password: nil)) {
                    $0.environment["SSH_AUTH_SOCK"] = socket
                }
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
            }
            ProtocolTable.note("sftp", "authentication", "agent")
        }

        @Test(
            "Each error has its status and one line, and no password is left anywhere", arguments: ["sftp", "scp"])
        func errors(scheme: String) async throws {
            try await withSSH { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                try server.add(Self.content, as: "file.bin")
                let wrong = try await sandbox.perform("get", server.url("file.bin", scheme, password: "wrong"))
                expectFailure(6, of: wrong)
                expectFailure(6, of: try await sandbox.perform("get", server.url("file.bin", scheme, password: nil)))
                expectFailure(8, of: try await sandbox.perform("get", server.url("missing.bin", scheme)))
                expectFailure(2, of: try await sandbox.perform("get", server.url("folder/", scheme)))
                try server.addFolder("folder")
                let folder = try await sandbox.perform("get", server.url("folder", scheme))
                expectFailure(8, of: folder)
                if scheme == "sftp" { #expect(folder.stderr.contains("folder;"), "\(folder.stderr)") }
                let right = try await sandbox.perform("get", "-v", "-v", server.url("file.bin", scheme))
                try expectFile(Self.content, "file.bin", in: sandbox)
                search.expectSilent(right)
                try search.expectNoTrace("finished")
            }
        }
    }
}
