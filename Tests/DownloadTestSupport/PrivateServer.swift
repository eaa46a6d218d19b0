import Foundation

/// A server program with its own single user, ``user`` with ``password``. It runs in a mount namespace with other user
/// files than those of the system. This needs root.
struct PrivateServer: Sendable {
    static let user = "ann"
    /// The password. It is unusual, so that a test can search for it everywhere.
    static let password = "pa55-W0RD-x1"

    let process: ChildProcess

    static func canRun(_ programs: [String]) -> Bool {
        geteuid() == 0 && programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// - Parameters:
    ///   - user: the entry in the form of passwd(5), after the name and password.
    ///   - mounts: files that replace those of the system.
    ///   - command: the command for the shell.
    init(
        in folder: TemporaryFolder, user: String, mounts: [String: String] = [:], command: String
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
        launch.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        launch.folder = folder.path
        launch.timeLimit = .seconds(600)
        process = try ChildProcess(launch)
    }

    func waitFor(port: Int) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while try !LoopbackSocket.accepts(port: port) {
            guard ContinuousClock.now < deadline, await !process.waitForEnd(atMost: .milliseconds(20)) else {
                process.send(SIGKILL)
                throw ChildProcess.Failure(description: "the server did not start: \(process.standardError)")
            }
        }
    }

    func stop() async {
        process.send(SIGTERM)
        if await !process.waitForEnd(atMost: .seconds(10)) { process.send(SIGKILL) }
    }
}
