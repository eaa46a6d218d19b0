import DownloadTestSupport
import Foundation
import Testing

/// The fields of `daemon status --json` that the tests use.
struct DaemonStatusLine: Decodable, Equatable {
    let version: Int
    let identifier: String
    let socket: String
    let pid: Int32?
    let running: Int
    let queued: Int?
    let maxConcurrent: Int?
    let rateLimit: Int64?
    let isFinishing: Bool
}

extension DlmSandbox {
    var daemonLog: String { (try? String(contentsOfFile: "\(stateFolder)/daemon.log", encoding: .utf8)) ?? "" }

    /// Starts the background session and returns its process.
    func startDaemon(_ options: String...) async throws -> ForeignProcess {
        let result = try await ChildProcess(try launch(["daemon", "start", "--json"] + options)).result()
        try #require(result.ending == .exited(0), "\(result.stderr)\n\(daemonLog)")
        return try daemon(result)
    }

    /// Returns the process whose ID `daemon start --json` printed.
    func daemon(_ result: ChildProcess.Result) throws -> ForeignProcess {
        let pid = try #require(try status(result).pid)
        return try #require(ForeignProcess(pid))
    }

    func status(_ result: ChildProcess.Result) throws -> DaemonStatusLine {
        try JSONDecoder().decode(DaemonStatusLine.self, from: Data(result.stdout.utf8))
    }

    func daemonStatus() async throws -> DaemonStatusLine {
        try status(try await run("daemon", "status", "--json"))
    }

    /// Adds downloads to the background session and returns their IDs.
    @discardableResult
    func hand(_ urls: [String]) async throws -> [Int] {
        let result = try await ChildProcess(try launch(["get", "-b"] + urls)).result()
        try #require(result.ending == .exited(0), "\(result.stderr)\n\(daemonLog)")
        return result.outputLines.compactMap { Int($0) }
    }

    /// Waits until the background session reports that it is finishing: running downloads end, and no others start.
    func waitForFinishing(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let status = try await ask(atMost: .seconds(45), { try await daemonStatus() }, until: \.isFinishing)
        #expect(status.isFinishing, "\(status)", sourceLocation: sourceLocation)
    }

    /// Waits until the log of the background session contains this text.
    func waitForDaemonLog(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let isLogged = try await ask(atMost: .seconds(45), { daemonLog.contains(text) }, until: { $0 })
        #expect(isLogged, "\(text)\n\(daemonLog)", sourceLocation: sourceLocation)
    }

    /// Runs `list` again and again until the states, in the order of the IDs, meet the condition.
    func waitForStates(
        atMost limit: Duration = .seconds(30), _ isMet: ([String]) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let states = try await ask(atMost: limit) {
            try await list().sorted { $0.id < $1.id }.map(\.state)
        } until: {
            isMet($0)
        }
        if !isMet(states) { Issue.record("\(states)\n\(daemonLog)", sourceLocation: sourceLocation) }
    }

    func mode(of path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }
}

extension ProcessLaunch {
    /// Changes the launch to a shell that runs `preparation` first, and then the same command.
    mutating func runInShell(after preparation: String) {
        arguments = ["-c", preparation + "; exec \"$@\"", "sh", executable] + arguments
        executable = "/bin/sh"
    }
}
