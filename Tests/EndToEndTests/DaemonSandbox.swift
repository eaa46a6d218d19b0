import DownloadTestSupport
import Foundation
import Testing

/// The output of `daemon status --json`, with the fields that the tests use.
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

    /// Returns the process in the output of `daemon start --json`.
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

    /// Gives downloads to the background session and returns their ids.
    @discardableResult
    func hand(_ urls: [String]) async throws -> [Int] {
        let result = try await ChildProcess(try launch(["get", "-b"] + urls)).result()
        try #require(result.ending == .exited(0), "\(result.stderr)\n\(daemonLog)")
        return result.outputLines.compactMap { Int($0) }
    }

    /// Repeats `list` until the downloads have the wanted states, by id.
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
    /// Changes the launch so that a shell runs other commands first.
    mutating func runInShell(after preparation: String) {
        arguments = ["-c", preparation + "; exec \"$@\"", "sh", executable] + arguments
        executable = "/bin/sh"
    }
}
