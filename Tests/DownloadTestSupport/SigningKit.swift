import Foundation

/// Keys of gpg, minisign and signify, made for one test, and signatures by them.
package final class SigningKit: Sendable {
    package let folder: TemporaryFolder

    /// Makes the keys `good` and `other`, `old`, which expired in 2020, and `revoked`. Ends gpg's agent afterwards.
    package static func with(_ body: (SigningKit) async throws -> Void) async throws {
        let kit = SigningKit(folder: try TemporaryFolder())
        do {
            try await kit.makeKeys()
            try await body(kit)
        } catch {
            await kit.close()
            throw error
        }
        await kit.close()
    }

    private init(folder: TemporaryFolder) { self.folder = folder }

    private func close() async {
        _ = try? await run("/usr/bin/gpgconf", "--kill", "gpg-agent")
        folder.remove()
    }

    private func makeKeys() async throws {
        try FileManager.default.createDirectory(
            atPath: folder("home"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for (user, life) in [("good", "never"), ("other", "never"), ("revoked", "never"), ("old", "1d")] {
            try await gpg("--faked-system-time", "20200101T000000", "--quick-gen-key", user, "ed25519", "sign", life)
        }
        let certificate = "home/openpgp-revocs.d/\(try await fingerprint("revoked")).rev"
        try folder.write(
            try folder.read(certificate).replacingOccurrences(of: ":-----BEGIN", with: "-----BEGIN"), to: "rev")
        for user in ["good", "other", "old"] { try await export([user], to: user) }
        try await gpg("--output", folder("armoured"), "--armor", "--export", "good")
        try await export(["good", "other"], to: "both")
        for name in ["a", "b"] {
            try await run(
                "/usr/bin/minisign", "-G", "-W", "-f", "-p", folder("\(name).pub"), "-s", folder("\(name).key"))
            try await run(
                "/usr/bin/signify-openbsd", "-G", "-n", "-p", folder("signify-\(name).pub"), "-s",
                folder("signify-\(name).sec"))
        }
    }

    /// Revokes the key `revoked`, which cannot sign afterwards.
    package func revoke() async throws {
        try await gpg("--import", folder("rev"))
        try await export(["revoked"], to: "revoked")
    }

    private func export(_ users: [String], to name: String) async throws {
        try await run(arguments: ["--output", folder(name), "--export"] + users)
    }

    package func fingerprint(_ user: String) async throws -> String {
        let lines = try await gpg("--with-colons", "--list-keys", user).split(separator: "\n")
        return String(lines.first { $0.hasPrefix("fpr:") }?.split(separator: ":").last ?? "")
    }

    // MARK: Signatures

    /// The options for a signature on the first day of 2020, on which the keys were made.
    package static let inThePast = ["--faked-system-time", "20200101T000100"]

    /// Returns what gpg makes of the bytes, with options such as `--detach-sign`.
    package func sign(_ bytes: [UInt8], as users: String..., with options: [String]) async throws -> [UInt8] {
        try Data(bytes).write(to: URL(fileURLWithPath: folder("in")))
        let users = users.flatMap { ["-u", $0] }
        try await run(arguments: users + ["--output", folder("out")] + options + [folder("in")])
        return try result()
    }

    package func minisign(_ bytes: [UInt8], _ options: String..., key: String = "a") async throws -> [UInt8] {
        try Data(bytes).write(to: URL(fileURLWithPath: folder("in")))
        try await run(
            "/usr/bin/minisign", ["-S", "-s", folder("\(key).key"), "-m", folder("in"), "-x", folder("out")] + options)
        return try result()
    }

    package func signify(_ bytes: [UInt8], _ options: String..., key: String = "a") async throws -> [UInt8] {
        try Data(bytes).write(to: URL(fileURLWithPath: folder("in")))
        try await run(
            "/usr/bin/signify-openbsd",
            ["-S", "-s", folder("signify-\(key).sec"), "-m", folder("in"), "-x", folder("out")] + options)
        return try result()
    }

    private func result() throws -> [UInt8] {
        defer { try? FileManager.default.removeItem(atPath: folder("out")) }
        return Array(try Data(contentsOf: URL(fileURLWithPath: folder("out"))))
    }

    // MARK: Programs

    @discardableResult
    private func gpg(_ words: String...) async throws -> String { try await run(arguments: words) }

    @discardableResult
    private func run(arguments: [String]) async throws -> String {
        try await run(
            "/usr/bin/gpg",
            ["--batch", "--yes", "--quiet", "--passphrase", "", "--pinentry-mode", "loopback"] + arguments)
    }

    @discardableResult
    private func run(_ program: String, _ words: String...) async throws -> String { try await run(program, words) }

    @discardableResult
    private func run(_ program: String, _ words: [String]) async throws -> String {
        var launch = ProcessLaunch(program, words)
        launch.environment = ["GNUPGHOME": folder("home"), "PATH": "/usr/bin:/bin"]
        let result = try await ChildProcess(launch).result()
        guard result.ending == .exited(0) else {
            throw ChildProcess.Failure(description: "\(launch): \(result.ending)\n\(result.stderr)")
        }
        return result.stdout
    }
}
