import Foundation

/// A home for `dlm`. The program is the one that was built with these tests.
package struct DlmSandbox: Sendable {
    package let root: TemporaryFolder
    /// The folder in which `dlm` runs and puts its files.
    package let files: String
    /// The value of `$XDG_STATE_HOME`.
    package let state: String
    /// Whether downloads ask for digests beside the file, as they do by default. Most scripts of a ``FaultServer``
    /// answer such a request like one for the file, which would change the bytes and requests that a test counts.
    package var asksBesideFile = true

    package init() throws {
        root = try TemporaryFolder()
        files = root("files")
        state = root("state")
        for folder in ["files", "state", "home", "config"] { try root.makeFolder(folder) }
    }

    /// The path of the program: `$DLM_BINARY`, or else the file beside the test bundle.
    package static var binary: String {
        get throws {
            if let named = ProcessInfo.processInfo.environment["DLM_BINARY"] { return named }
            let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return (bundle as NSString).deletingLastPathComponent + "/dlm"
        }
    }

    /// Whether the program has fault points. `$DLM_BINARY` is a released program, which has none.
    package static let hasFaultPoints = ProcessInfo.processInfo.environment["DLM_BINARY"] == nil

    package func launch(_ arguments: [String]) throws -> ProcessLaunch {
        var launch = ProcessLaunch(try Self.binary, arguments)
        launch.folder = files
        launch.environment = [
            "HOME": root("home"), "XDG_STATE_HOME": state, "XDG_CONFIG_HOME": root("config"),
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm",
            // If the variable is set, a crash of the program is reported.
            "SWIFT_BACKTRACE": "color=no",
        ].merging(Sanitizer.environment) { own, _ in own }
        if !asksBesideFile { launch.environment["DLM_VERIFY"] = "headers" }
        return launch
    }

    package func start(
        _ arguments: [String], with change: (inout ProcessLaunch) -> Void = { _ in }
    ) throws -> ChildProcess {
        var launch = try launch(arguments)
        change(&launch)
        return try ChildProcess(launch)
    }

    package func start(
        _ arguments: String..., with change: (inout ProcessLaunch) -> Void = { _ in }
    ) throws -> ChildProcess {
        try start(arguments, with: change)
    }

    /// Runs `dlm` and waits for its end.
    package func run(
        _ arguments: [String], with change: (inout ProcessLaunch) -> Void = { _ in }
    ) async throws -> ChildProcess.Result {
        try await start(arguments, with: change).result()
    }

    package func run(
        _ arguments: String..., with change: (inout ProcessLaunch) -> Void = { _ in }
    ) async throws -> ChildProcess.Result {
        try await run(arguments, with: change)
    }

    /// Starts a shell script, in which `$dlm` is the program.
    package func startShell(_ script: String, shell: String = "/bin/sh") throws -> ChildProcess {
        try start {
            $0.environment["dlm"] = $0.executable
            ($0.executable, $0.arguments) = (shell, ["-c", script])
        }
    }

    /// Runs a shell script, in which `$dlm` is the program, and waits for its end.
    package func runShell(_ script: String, shell: String = "/bin/sh") async throws -> ChildProcess.Result {
        try await startShell(script, shell: shell).result()
    }

    /// Returns the path of a file among the downloads.
    package func file(_ name: String) -> String { "\(files)/\(name)" }

    package func exists(_ name: String) -> Bool { root.exists("files/\(name)") }

    /// The names of the files among the downloads.
    package var names: [String] { root.names(in: "files") }

    /// Ends the processes that still run in the sandbox, and deletes it. A background session is no child of the test,
    /// so it would go on.
    package func remove() {
        let left = ForeignProcess.all(of: root)
        for process in left { process.send(SIGKILL) }
        for process in left where !process.hasEnded(within: .seconds(10)) {
            FileHandle.standardError.write(Data("process \(process.pid) does not end\n".utf8))
        }
        root.remove()
    }
}
