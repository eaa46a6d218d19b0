import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("dlm doctor with FTP and SSH servers", .serialized, .timeLimit(.minutes(2)))
    struct DoctorFileServerTests {
        let content = Content(seed: 761, size: 100_000)

        @Test(
            "doctor reports the login, key or certificate, size and time, or ends with the status of a download",
            .enabled(if: Vsftpd.canRun && OpenSSHServer.canRun, "needs root, vsftpd and OpenSSH's server"))
        func withoutHTTP() async throws {
            try await withVsftpd { sandbox, server in
                try server.add(content, as: "file.bin")
                let trust = ["--ca-certificate", server.certificates.authority]
                let secure = PrivateServer.login + trust + [server.secureURL("file.bin")]
                for words in [[server.url("file.bin")], secure] {
                    let result = try await sandbox.performDone(["doctor", "--json"] + words)
                    let found = try result.findings()
                    #expect(found.named("login").first?.result == "ok", "\(result.stdout)")
                    #expect(found.named("ranges").first?.result == "ok", "\(result.stdout)")
                    #expect(found.named("validator").first?.detail.contains("GMT") == true, "\(result.stdout)")
                    #expect(found.named("size").first?.detail.contains("\(content.size) bytes") == true)
                    #expect(found.named("TLS").count == (words.count > 1 ? 2 : 1), "\(result.stdout)")
                }
                #expect(try await sandbox.run("doctor", "-q", server.url("missing")).ending == .exited(8))
                #expect(try await sandbox.run("doctor", "-q", server.secureURL("file.bin")).ending == .exited(5))
                #expect(try await sandbox.run("doctor", "-q", "file:///etc/passwd").ending == .exited(2))
            }
            try await withSSH { sandbox, server in
                try server.add(content, as: "file.bin")
                for scheme in ["sftp", "scp"] {
                    let result = try await sandbox.done("doctor", "--json", server.url("file.bin", scheme))
                    #expect(try result.findings().named("host key").first?.detail.hasPrefix("SHA256:") == true)
                    #expect(try result.findings().named("ranges").first?.result == (scheme == "scp" ? "warning" : "ok"))
                }
                let wrong = try await sandbox.run("doctor", "-q", server.url("file.bin", password: "wrong"))
                #expect(wrong.ending == .exited(6), "\(wrong.stderr)")
                try sandbox.root.write("", to: "home/.ssh/known_hosts")
                let unknown = try await sandbox.run("doctor", "-q", server.url("file.bin"))
                #expect(unknown.ending == .exited(5), "\(unknown.stderr)")
                #expect(unknown.stderr.contains("ssh-keyscan"), "\(unknown.stderr)")
            }
        }
    }
}
