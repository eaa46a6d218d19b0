import Foundation

/// A server program with one user, ``user`` with ``password``. The program runs in a mount namespace where other files
/// replace the system's files of users. This needs root.
package struct PrivateServer: Sendable {
    package static let user = "ann"
    /// The password. Its text is unusual, so that a test can search for it everywhere.
    package static let password = "pa55-W0RD-x1"
    /// The options of `dlm` for this user.
    package static let login = ["-u", "\(user):\(password)"]

    let process: ChildProcess

    static func canRun(_ programs: [String]) -> Bool {
        geteuid() == 0 && programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// - Parameters:
    ///   - user: the fields of passwd(5) that follow the name and the password.
    ///   - mounts: files that replace the system's files, by their paths.
    ///   - command: the command for the shell.
    ///   - port: the port at which the program listens.
    init(
        in folder: TemporaryFolder, user: String, mounts: [String: String] = [:], command: String, port: Int
    ) async throws {
        let hash = try await ChildProcess(ProcessLaunch("/usr/bin/openssl", ["passwd", "-6", Self.password])).result()
        for (name, line) in [
            ("passwd", "\(Self.user):x:\(user)\n"),
            ("shadow", "\(Self.user):\(hash.stdout.prefix { $0 != "\n" }):19000:0:99999:7:::\n"),
        ] {
            try folder.write(try String(contentsOfFile: "/etc/\(name)", encoding: .utf8) + line, to: name)
        }
        chmod(folder("shadow"), 0o600)
        let all = mounts.merging(["passwd": "/etc/passwd", "shadow": "/etc/shadow"]) { own, _ in own }
        let lines = all.map { "mount --bind '\(folder($0.key))' '\($0.value)' || exit 99\n" }.joined()
        let script =
            lines + "mount -t tmpfs none /run && mkdir -p /run/sshd && chmod 755 /run /run/sshd || exit 99\n" + command
        var launch = ProcessLaunch("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script])
        launch.environment = ChildProcess.serverEnvironment
        launch.folder = folder.path
        launch.timeLimit = .seconds(600)
        process = try ChildProcess(launch)
        try await process.waitToListen(at: port, "the server")
    }
}
