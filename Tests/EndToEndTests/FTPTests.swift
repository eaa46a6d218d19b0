import DownloadTestSupport
import Foundation
import Testing

func withVsftpd(
    encrypts: Bool = true, mostConnections: Int? = nil, _ body: (DlmSandbox, Vsftpd) async throws -> Void
) async throws {
    let server = try await Vsftpd(encrypts: encrypts, mostConnections: mostConnections)
    try await finally({ await server.stop() }) { try await withDlm { try await body($0, server) } }
}

extension EndToEnd {
    @Suite(
        "FTP, from vsftpd", .long, .serialized, .timeLimit(.minutes(3)),
        .enabled(if: Vsftpd.canRun, "needs root, and vsftpd"))
    struct FTPTests {
        static let content = Content(seed: 1401, size: 12 * mebibyte + 3)

        @Test(
            "Large, small and empty files are downloaded, with the server's time; a second run fetches nothing")
        func files() async throws {
            try await withVsftpd { sandbox, server in
                for (name, content) in [
                    ("large.bin", Self.content), ("a b#c?.txt", Content("small")), ("empty", .empty),
                ] {
                    try server.add(content, as: name)
                    try date(server.path(name))
                    let path = name.replacing(" ", with: "%20").replacing("#", with: "%23").replacing("?", with: "%3F")
                    for _ in 1...2 {
                        let result = try await sandbox.perform("get", "--remote-time", server.url(path))
                        try expectDownloaded(content, as: name, by: result, in: sandbox, name)
                    }
                    #expect(try sandbox.modified(name) == Date(timeIntervalSince1970: 1_600_000_000), "\(name)")
                }
                #expect(server.sent.filter { $0 == Self.content.size }.count == 1, "\(server.log)")
            }
        }

        @Test("Each error has its status and one line")
        func errors() async throws {
            try await withVsftpd { sandbox, server in
                let search = SecretSearch(sandbox: sandbox)
                try server.add(Self.content, as: "file.bin")
                let wrong = try await sandbox.perform("get", server.url("file.bin", as: PrivateServer.user, "wrong"))
                expectFailure(6, of: wrong)
                expectFailure(8, of: try await sandbox.perform("get", server.url("missing.bin")))
                expectFailure(2, of: try await sandbox.perform("get", server.url("folder/")))
                expectFailure(2, of: try await sandbox.perform("get", server.url("file.bin;type=a")))
                expectFailure(2, of: try await sandbox.perform("get", server.url("file.bin%0d%0aDELE%20x")))
                expectFailure(2, of: try await sandbox.perform("get", "--data", "x=1", server.url("file.bin")))
                expectFailure(2, of: try await sandbox.perform("get", "--proto", "=https", server.url("file.bin")))
                // The certificate of this server is not trusted.
                let words = ["get", "--retries", "0", server.secureURL("file.bin")]
                expectFailure(5, of: try await sandbox.perform(words))
                let port = try LoopbackSocket.unusedPort()
                let nobody = try await sandbox.perform("get", "--retries", "0", "ftp://127.0.0.1:\(port)/file.bin")
                expectFailure(4, of: nobody)
                #expect(sandbox.names == [])
                let right = server.url("file.bin", as: PrivateServer.user, PrivateServer.password)
                let result = try await sandbox.perform("get", "-v", "-v", right)
                try expectFile(Self.content, "file.bin", in: sandbox)
                search.expectSilent(result)
                try search.expectNoTrace("finished")
            }
        }

        @Test(
            "--ssl and --ssl-reqd use TLS if the server supports it",
            arguments: ["--ssl", "--ssl-reqd"])
        func explicit(option: String) async throws {
            try await withVsftpd { sandbox, server in
                try server.add(Self.content, as: "file.bin")
                let trust = ["--ca-certificate", server.certificates.authority]
                let login = PrivateServer.login + trust + [server.url("file.bin")]
                try await sandbox.expectDownloaded(Self.content, by: ["get", option] + login)
                #expect(server.log.contains("AUTH "), "\(server.log)")
                #expect(server.log.contains("PROT P"), "\(server.log)")
            }
        }

        @Test("If the server has no TLS, --ssl downloads without it, and --ssl-reqd is an error")
        func unencrypted() async throws {
            try await withVsftpd(encrypts: false) { sandbox, server in
                try server.add(Self.content, as: "file.bin")
                expectFailure(5, of: try await sandbox.perform("get", "--ssl-reqd", server.url("file.bin")))
                try await sandbox.expectDownloaded(Self.content, by: "get", "--ssl", server.url("file.bin"))
            }
        }
    }
}
