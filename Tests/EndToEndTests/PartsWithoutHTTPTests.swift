import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite(
        "Several connections to FTP and SSH servers", .long, .serialized, .timeLimit(.minutes(4)),
        .enabled(if: Vsftpd.canRun && OpenSSHServer.canRun, "needs root, vsftpd and OpenSSH's server"))
    struct PartsWithoutHTTPTests {
        static let content = Content(seed: 1451, size: 24 * mebibyte + 5)
        static let time = Date(timeIntervalSince1970: 1_600_000_000)

        private struct Shown: Decodable {
            struct Attempt: Decodable {
                let connections: Int
                let received: Int64
            }
            let attempts: [Attempt]
        }

        /// Returns the last attempt of the only download.
        private func attempt(_ sandbox: DlmSandbox) async throws -> Shown.Attempt {
            let result = try await sandbox.perform("show", "--json", "1")
            return try #require(
                try JSONDecoder().decode(Shown.self, from: Data(result.stdout.utf8)).attempts.last)
        }

        private func put(_ content: Content, _ server: Vsftpd, at time: Date = time) throws {
            try server.add(content, as: "file.bin")
            try date(server.path("file.bin"), time)
        }

        /// Adds the file with an old modification time.
        private func put(_ content: Content, _ server: OpenSSHServer) throws {
            try server.add(content, as: "file.bin")
            try date(server.path("file.bin"), Self.time)
        }

        @Test(
            "FTP uses as many connections as -x requests, and one connection without -x",
            arguments: [Spoken.ftp, .encryptedFTP, .ftps])
        func ftp(spoken: Spoken) async throws {
            try await withVsftpd { sandbox, server in
                try put(Self.content, server)
                let url = spoken == .ftps ? server.secureURL("file.bin") : server.url("file.bin")
                let words =
                    PrivateServer.login + ["--ca-certificate", server.certificates.authority, url]
                    + (spoken == .encryptedFTP ? ["--ssl-reqd"] : [])
                try await sandbox.expectDownloaded(Self.content, by: ["get", "-x", "4", "--limit-rate", "30M"] + words)
                #expect(try await attempt(sandbox).connections == 4)
                #expect(Set(server.offsets).count >= 3, "\(server.log)")
                let count = server.offsets.count
                try await sandbox.expectDownloaded(Self.content, as: "one.bin", by: ["get", "-o", "one.bin"] + words)
                #expect(server.offsets.count == count, "\(server.log)")
            }
            ProtocolTable.note(spoken.rawValue, "segments", "with `-x`")
        }

        @Test(
            "If a download with several FTP connections is killed, the resume keeps all recorded bytes",
            arguments: [1, 4])
        func killed(connections: Int) async throws {
            try await withVsftpd(mostConnections: connections) { sandbox, server in
                try put(Self.content, server)
                let received = try await sandbox.kill(["-x", "4", server.url("file.bin")], after: 5 * mebibyte)
                try await sandbox.expectDownloaded(Self.content, by: "resume", "1")
                #expect(try await attempt(sandbox).received <= Self.content.size - received)
            }
        }

        @Test(
            "If a file changes after a kill, in its time or only in its bytes, resume fetches it from the start",
            arguments: [0, 9])
        func changed(seconds: Double) async throws {
            try await withVsftpd { sandbox, server in
                try put(Self.content, server)
                try await sandbox.kill(["-x", "4", server.url("file.bin")], after: 5 * mebibyte)
                let other = Content(seed: 1452, size: Self.content.size)
                try put(other, server, at: Self.time + seconds)
                try await sandbox.expectDownloaded(other, by: "resume", "1")
            }
        }

        @Test(
            "If the server refuses further connections, the download completes with fewer and asks for no more",
            arguments: [1, 2])
        func ftpLimit(most: Int) async throws {
            try await withVsftpd(mostConnections: most) { sandbox, server in
                try put(Self.content, server)
                let words = ["get", "-x", "6", "--retries", "0", "--limit-rate", "20M", server.url("file.bin")]
                try await sandbox.expectDownloaded(Self.content, by: words)
                let refusals = server.log.split(separator: "\n").count { $0.contains("421 ") }
                // If dlm went on asking during the download, there would be many refusals. At the end of the file, a
                // new connection may come before the server has ended the previous one.
                #expect((1...8).contains(refusals), "\(server.log)")
            }
        }

        @Test(
            "SFTP uses several connections, even if the server accepts only one login at a time", arguments: [nil, 1])
        func sftp(mostLogins: Int?) async throws {
            try await withSSH(mostLogins: mostLogins) { sandbox, server in
                try put(Self.content, server)
                let words = ["get", "-x", "4", "--retries", "2", "--limit-rate", "30M", server.url("file.bin")]
                try await sandbox.expectDownloaded(Self.content, by: words)
                if mostLogins == nil { #expect(try await attempt(sandbox).connections == 4) }
            }
            ProtocolTable.note("sftp", "segments", "with `-x`")
        }

        @Test("If a download with several SFTP connections is killed, the resume keeps all recorded bytes")
        func sftpKilled() async throws {
            try await withSSH { sandbox, server in
                try put(Self.content, server)
                let received = try await sandbox.kill(["-x", "4", server.url("file.bin")], after: 5 * mebibyte)
                try await sandbox.expectDownloaded(Self.content, by: ["resume", "1"] + PrivateServer.login)
                #expect(try await attempt(sandbox).received <= Self.content.size - received)
            }
        }

        // MARK: From one protocol to another

        /// Runs a test with a download that has fetched 3 MiB over http and then failed.
        private func begun(
            _ body: (DlmSandbox, FaultServer) async throws -> Void
        ) async throws {
            let reply = FaultReply(Self.content, etag: "\"v1\"")
            try await withDlm({ request in
                request.number == 1 ? reply.with { $0.cut = .close(after: 3 * mebibyte) } : FaultReply(status: 403)
            }) { sandbox, server in
                let words = ["get", "-x", "1", "-o", "file.bin", server.url("/expired")]
                expectFailure(8, of: try await sandbox.perform(words))
                try await body(sandbox, server)
            }
        }

        @Test("After set-url from http to another protocol, the same file continues and another file is refused")
        func fromHTTP() async throws {
            let ftp = try await Vsftpd()
            try await withSSH { outer, ssh in
                for isSame in [true, false] {
                    let there = isSame ? Self.content : Content(seed: 1453, size: Self.content.size)
                    try put(there, ftp)
                    try ssh.add(there, as: "file.bin")
                    let urls = [
                        ftp.url("file.bin"), ssh.url("file.bin", password: nil),
                        ssh.url("file.bin", "scp", password: nil),
                        "file://\(ssh.path("file.bin"))",
                    ]
                    for url in urls {
                        try await begun { sandbox, _ in
                            try await sandbox.performDone("set-url", "1", url)
                            let result = try await sandbox.perform(
                                "resume", "1", "-k", "--ssh-key", ssh.key)
                            if isSame {
                                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, url)
                            } else {
                                #expect(result.ending == .exited(9), "\(url) \(result.stderr)")
                                #expect(result.stderr.contains("a different file"), "\(url) \(result.stderr)")
                                #expect(try await sandbox.show(1).received == 3 * mebibyte)
                                try sandbox.expectPartial(Self.content, "file.bin", has: 3 * mebibyte)
                            }
                        }
                    }
                }
            }
            await ftp.stop()
        }

        @Test(
            "After set-url from FTP to http, the same file continues and another file is refused",
            arguments: [true, false])
        func fromFTP(isSame: Bool) async throws {
            try await withVsftpd { sandbox, server in
                try put(Self.content, server)
                try await sandbox.kill(["-x", "1", server.url("file.bin")], after: 3 * mebibyte)
                let there = isSame ? Self.content : Content(seed: 1454, size: Self.content.size)
                let web = try FaultServer { _ in FaultReply(there, etag: "\"v1\"") }
                try await sandbox.performDone("set-url", "1", web.url("/x"))
                let result = try await sandbox.perform("resume", "1")
                if isSame {
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                    #expect(web.log.bytesSent < Self.content.size - 2 * mebibyte)
                } else {
                    expectFailure(9, of: result)
                    #expect(try await sandbox.show(1).received >= 3 * mebibyte)
                }
            }
        }
    }
}
