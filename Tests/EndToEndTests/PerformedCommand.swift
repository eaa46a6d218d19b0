import DownloadKit
import DownloadSystem
import DownloadTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

@testable import dlm

/// A command line that runs in the process of the tests. The parser, the session manager, the store, libcurl and the
/// files are real; only no process is started. Use ``ChildProcess`` for a test that needs a separate process, for
/// example of options that name files in the working folder, because all commands of a process share that folder.
final class PerformedCommand: Sendable {
    private let launch: ProcessLaunch
    /// The clock. Nil means the clock of the system.
    private let time: ManualTime?
    private let signals: Signals
    private let output: CapturedStreams
    private let result = Observed<ChildProcess.Result?>(nil)
    private let begin = ContinuousClock.now
    private let task = Mutex<Task<Void, Never>?>(nil)
    /// The signal that was sent; nil for none.
    private let signal = Mutex<Int32?>(nil)

    /// - Parameters:
    ///   - launch: the arguments, the environment and the working folder. Its other properties are ignored.
    ///   - leaps: whether waits between transfers, such as the wait for another attempt, take no time.
    init(_ launch: ProcessLaunch, leaps: Bool) throws {
        // A dlm process ignores SIGPIPE, too, because OpenSSL writes to sockets that the peer has closed.
        Glibc.signal(SIGPIPE, SIG_IGN)
        self.launch = launch
        // A command that asks another session waits for its answer. A leap would end this wait too early.
        time = leaps && launch.arguments.first == "get" ? ManualTime(leaps: true) : nil
        signals = Signals()
        output = try CapturedStreams()
        let running = Task.detached { await self.run() }
        task.withLock { $0 = running }
    }

    /// The text that has been written to standard error so far.
    var standardError: String { output.errors }

    /// Ends the command like a process that receives this signal. Call ``result()`` to wait for the end.
    func send(_ signal: Int32) {
        self.signal.withLock { $0 = signal }
        Task.detached { [self] in
            await signals.interrupt(by: signal)
            task.withLock { $0 }?.cancel()
        }
    }

    /// Waits for the end of the command.
    /// - Throws: if the time limit is over. The command continues then, because nothing can end it.
    func result() async throws -> ChildProcess.Result {
        guard await result.wait(atMost: launch.timeLimit, until: { $0 != nil }), let result = result.value else {
            throw ChildProcess.Failure(
                description: "\(launch) did not end in \(launch.timeLimit)\n\(output.output)\n\(output.errors)")
        }
        return result
    }

    private func run() async {
        let status = output.console.finish(await status())
        let ending = signal.withLock { $0 }.map { ChildProcess.Ending.signalled($0) } ?? .exited(status)
        let result = ChildProcess.Result(
            ending: ending, stdout: output.output, stderr: output.errors, duration: ContinuousClock.now - begin)
        self.result.update { $0 = result }
    }

    private func status() async -> Int32 {
        let console = output.console
        do {
            let command = try DLM.command(launch.arguments)
            var context = Context(console: console, signals: signals)
            context.environment = launch.environment
            context.arguments = launch.arguments
            context.workingFolder = launch.folder
            if let time {
                context.time = time
                let fetch = context.fetch
                context.fetch = { request, largest, environment, clock in
                    time.begin()
                    defer { time.end() }
                    return try await fetch(request, largest, environment, clock)
                }
            }
            // `startBackground` is not given, because it would start the executable of this process, which is the
            // executable of the tests.
            context.open = { [time] configuration, environment, notice in
                try await DownloadSession.open(
                    configuration, environment: environment,
                    // The programs of hooks take real time.
                    hooks: HookProgram.Runner(environment: environment, time: SystemTime()), notice: notice,
                    transport: { transport in time.map { TimedTransport(transport, time: $0) } ?? transport })
            }
            return await context.status(of: command)
        } catch {
            return UsageReport(error, arguments: launch.arguments).print(on: console)
        }
    }
}

extension DlmSandbox {
    /// Runs a command line in this process and waits for its end. This saves the cost of a start, compared with
    /// ``run(_:with:)``.
    /// - Parameter leaps: whether waits between transfers take no time. False if the test measures these waits.
    func perform(
        _ arguments: String..., leaps: Bool = true, with change: (inout ProcessLaunch) -> Void = { _ in }
    ) async throws -> ChildProcess.Result {
        try await perform(arguments, leaps: leaps, with: change)
    }

    func perform(
        _ arguments: [String], leaps: Bool = true, with change: (inout ProcessLaunch) -> Void = { _ in }
    ) async throws -> ChildProcess.Result {
        var launch = try launch(arguments)
        change(&launch)
        return try await launch.result(leaps: leaps)
    }

    /// Starts a download in this process, waits until the server has sent this many bytes and some of them are
    /// recorded, and ends the download like SIGTERM.
    func performInterrupted(
        _ arguments: String..., after bytes: Int64, from server: FaultServer
    ) async throws -> ChildProcess.Result {
        let (reached, result) = try await launch(arguments).interrupted(after: bytes, from: server) {
            try await waitToRecord()
        }
        #expect(reached && result.ending == .signalled(SIGTERM), "\(result.stderr)")
        return result
    }

    /// Runs a command line in a process of its own or in this process, and waits for its end.
    func run(_ arguments: [String], asProcess: Bool, leaps: Bool = true) async throws -> ChildProcess.Result {
        try await launch(arguments).result(asProcess: asProcess, leaps: leaps)
    }
}

extension ProcessLaunch {
    /// Whether every command line gets a process, because `$DLM_TEST_PROCESSES` is set.
    private static let usesProcesses = ProcessInfo.processInfo.environment["DLM_TEST_PROCESSES"] != nil

    /// Whether the launch needs something that the process of the tests cannot provide.
    private var needsProcess: Bool {
        Self.usesProcesses || input != nil || terminalColumns != nil || passed != nil || watchesMemory
            || (try? DlmSandbox.binary) != executable
            || environment.keys.contains { $0.hasPrefix("DLM_FAULT") }
    }

    /// Runs the command and waits for its end. The command runs in this process unless another one is requested or
    /// needed.
    /// - Parameter leaps: whether waits between transfers take no time in this process.
    func result(asProcess: Bool = false, leaps: Bool = true) async throws -> ChildProcess.Result {
        if asProcess || needsProcess { return try await ChildProcess(self).result() }
        return try await PerformedCommand(self, leaps: leaps).result()
    }

    /// Runs the command until the server has sent this many bytes, ends it like SIGTERM, and waits for the end.
    /// - Parameter also: waits for further conditions before the end.
    func interrupted(
        asProcess: Bool = false, after bytes: Int64, from server: FaultServer, also: () async throws -> Void = {}
    ) async throws -> (reached: Bool, result: ChildProcess.Result) {
        server.holdEnds()
        defer { server.releaseEnds() }
        if asProcess || needsProcess {
            let process = try ChildProcess(self)
            let reached = await server.waitUntil { $0.bytesSent >= bytes }
            try await also()
            process.send(SIGTERM)
            return (reached, try await process.result())
        }
        let command = try PerformedCommand(self, leaps: true)
        let reached = await server.waitUntil { $0.bytesSent >= bytes }
        try await also()
        command.send(SIGTERM)
        return (reached, try await command.result())
    }
}

/// A console whose two streams are files without names, which can be read.
private final class CapturedStreams: Sendable {
    let console: Console
    private let files: (output: Int32, errors: Int32)

    init() throws {
        files = (try TemporaryFolder.unnamedFile(), try TemporaryFolder.unnamedFile())
        console = Console(output: files.output, errors: files.errors)
    }

    deinit {
        close(files.output)
        close(files.errors)
    }

    var output: String { Self.text(files.output) }
    var errors: String { Self.text(files.errors) }

    private static func text(_ descriptor: Int32) -> String {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { return "" }
        let size = Int(information.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
