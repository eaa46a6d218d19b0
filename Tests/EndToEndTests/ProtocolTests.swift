import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Runs the most important tests of the other suites for every protocol. These tests prove the first table of
    /// docs/protocols.md.
    @Suite(
        "Every protocol, from real servers", .long, .serialized, .timeLimit(.minutes(3)),
        .enabled(if: RealServers.canRun, "needs root, nginx, vsftpd and OpenSSH"))
    struct ProtocolTests {
        static let content = Content(seed: 1801, size: 9 * mebibyte + 7)

        /// Runs `dlm get` for `file.bin` in a new home.
        private func get(
            _ spoken: Spoken, _ servers: RealServers, _ options: [String] = [], login: [String] = [],
            _ body: (DlmSandbox, ChildProcess.Result) async throws -> Void
        ) async throws {
            try await servers.withDlm { sandbox in
                let words = try ["get", "--retries", "0"] + servers.words(spoken, in: sandbox) + login + options
                let result = try await sandbox.perform(words + [servers.url(spoken, "file.bin")])
                try await body(sandbox, result)
            }
        }

        @Test("Each protocol downloads a file")
        func download() async throws {
            try await withServers { servers in
                try servers.add(Self.content, as: "file.bin")
                for spoken in Spoken.allCases {
                    try await get(spoken, servers) { sandbox, result in
                        try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, spoken)
                    }
                    ProtocolTable.note(spoken.rawValue, "download")
                }
            }
        }

        @Test("A killed download is resumed, and its fetched bytes are used")
        func resume() async throws {
            // SCP cannot resume. SSHTests shows what happens instead.
            let protocols = Spoken.allCases.filter { $0 != .scp }
            try await withServers { servers in try await servers.resume(protocols, Self.content) }
            for spoken in protocols { ProtocolTable.note(spoken.rawValue, "resume after `kill -9`") }
        }

        @Test("A new version of the same size is never joined to the bytes of the old version")
        func change() async throws {
            let other = Content(seed: 1802, size: Self.content.size)
            try await withServers { servers in
                for spoken in Spoken.allCases { try servers.add(Self.content, as: spoken.fileName) }
                try await concurrently(Spoken.allCases, atMost: 4) { spoken in
                    try await servers.withDlm { sandbox in
                        let name = spoken.fileName
                        let words = try servers.words(spoken, in: sandbox) + ["-x", "1", servers.url(spoken, name)]
                        try await sandbox.kill(words, after: 2 * mebibyte)
                        try servers.add(other, as: name)
                        let again = ["resume", "1"] + (spoken.needsLogin ? PrivateServer.login : [])
                        try await sandbox.expectDownloaded(other, as: name, by: again, what: spoken)
                    }
                    ProtocolTable.note(spoken.rawValue, "verification", "a changed file")
                }
            }
        }

        @Test("A right checksum completes the download, and a wrong one is an error")
        func checksum() async throws {
            try await withServers { servers in
                try servers.add(Self.content, as: "file.bin")
                for spoken in Spoken.allCases {
                    try await get(spoken, servers, ["--checksum", "sha256:\(Self.content.sha256)"]) { sandbox, result in
                        try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, spoken)
                    }
                    let wrong = Content(seed: 1, size: 1).sha256
                    try await get(spoken, servers, ["--checksum", "sha256:\(wrong)"]) { sandbox, result in
                        expectFailure(9, of: result, spoken)
                        #expect(!sandbox.exists("file.bin"), "\(spoken)")
                    }
                    ProtocolTable.note(spoken.rawValue, "verification", "checksum")
                }
            }
        }

        @Test("http and https use several connections", arguments: [Spoken.http, .https])
        func segments(spoken: Spoken) async throws {
            try await withServers { servers in
                try servers.add(Self.content, as: "file.bin")
                try await get(spoken, servers, ["-x", "4"]) { sandbox, result in
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, spoken)
                }
                let parts = await servers.nginx.waitUntil { log in Set(log.map(\.range)).count >= 4 }
                #expect(parts, "\(servers.nginx.log)")
            }
            ProtocolTable.note(spoken.rawValue, "segments")
        }

        @Test("A right name and password are accepted, and a wrong password gives exit status 6")
        func authentication() async throws {
            try await withServers { servers in
                try servers.add(Self.content, as: "file.bin")
                for spoken in Spoken.remote {
                    let name = spoken.isHTTP ? "private/file.bin" : "file.bin"
                    for (login, isRight) in [(PrivateServer.login, true), (RealServers.wrongLogin, false)] {
                        try await servers.withDlm { sandbox in
                            let words = try servers.words(spoken, in: sandbox).filter {
                                !PrivateServer.login.contains($0)
                            }
                            let result = try await sandbox.perform(
                                ["get"] + words + login + [servers.url(spoken, name)])
                            if isRight {
                                try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, spoken)
                            } else {
                                expectFailure(6, of: result, spoken)
                                #expect(!sandbox.exists("file.bin"), "\(spoken)")
                            }
                        }
                    }
                    ProtocolTable.note(spoken.rawValue, "authentication", spoken.isHTTP ? "Basic" : "password")
                }
            }
        }

        @Test("A server with an untrusted certificate or key gets no request, no name and no password")
        func identity() async throws {
            try await withServers { servers in
                try servers.add(Self.content, as: "file.bin")
                for spoken in Spoken.remote where spoken != .http && spoken != .ftp {
                    try await servers.withDlm { sandbox in
                        try sandbox.root.write("", to: "home/.ssh/known_hosts")
                        var words = try servers.words(spoken, in: sandbox)
                        // This authority has signed no server's certificate.
                        let stranger = try await Certificates(in: sandbox.root, of: "stranger")
                        words[1] = stranger.authority
                        let result = try await sandbox.perform(
                            ["get", "--retries", "0"] + words + [servers.url(spoken, "file.bin")])
                        expectFailure(5, of: result, spoken)
                        #expect(sandbox.names == [], "\(spoken)")
                    }
                    ProtocolTable.note(spoken.rawValue, "verification", spoken.isSSH ? "host key" : "certificate")
                }
                #expect(servers.vsftpd.sent == [] && !servers.vsftpd.log.contains("OK LOGIN"))
                #expect(servers.nginx.log.isEmpty)
            }
        }
    }
}
