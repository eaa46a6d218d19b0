import DownloadTestSupport
import Foundation
import Testing

@testable import CurlTransport

@Suite("Private keys", .inTurn, .timeLimit(.minutes(1)))
struct SSHKeyTests {
    @Test("Only libssh2 before 1.11 signs with SHA-1")
    func libraries() {
        for (library, signs) in [
            ("libssh2/1.10.0", true), ("libssh2/1.9", true), ("libssh2/1.11.0", false), ("libssh2/2.0", false),
            ("libssh/0.9.1/openssl/zlib", false), ("libssh2", false), ("libssh2/x.y", false), ("", false),
        ] {
            #expect(SSHKey.signsWithSHA1(library) == signs, "\(library)")
        }
    }

    @Test(
        "An RSA key is recognized by its text",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ssh-keygen")))
    func types() async throws {
        let folder = try TemporaryFolder()
        for (name, words, isRSA) in [
            ("rsa", ["-t", "rsa", "-b", "2048", "-N", ""], true),
            ("locked", ["-t", "rsa", "-b", "2048", "-N", "secret"], true),
            ("pem", ["-t", "rsa", "-b", "2048", "-m", "PEM", "-N", ""], true),
            ("ed", ["-t", "ed25519", "-N", ""], false),
            ("ecdsa", ["-t", "ecdsa", "-N", ""], false),
        ] {
            let made = try await ChildProcess(
                ProcessLaunch("/usr/bin/ssh-keygen", ["-q", "-f", folder(name)] + words)
            ).result()
            #expect(made.ending == .exited(0), "\(made.stderr)")
            #expect(SSHKey.isRSA(try folder.read(name)) == isRSA, "\(name)")
        }
        for text in ["", "-----BEGIN OPENSSH PRIVATE KEY-----", "-----BEGIN OPENSSH PRIVATE KEY-----\n!!!!\n"] {
            #expect(!SSHKey.isRSA(text))
        }
    }
}
