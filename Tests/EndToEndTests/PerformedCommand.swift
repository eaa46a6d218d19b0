import DownloadKit
import DownloadTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

@testable import dlm

/// A command line that is run in the process of the tests, with everything real but the process: the parser, the session
/// manager, the store, libcurl, and the files. What must be a process of its own goes to ``ChildProcess``.
final class PerformedCommand: Sendable {
    private let launch: ProcessLaunch
    private let signals: Signals
    private let output: CapturedStreams
    private let result = Observed<ChildProcess.Result?>(nil)
    private let begin = ContinuousClock.now
    private let task = Mutex<Task<Void, Never>?>(nil)
    /// The signal that was sent.
    private let signal = Mutex<Int32?>(nil)

    /// - Parameter launch: says the arguments, the environment and the working folder. Nothing else of it counts.
    init(_ launch: ProcessLaunch) throws {
        precondition(launch.input == nil && launch.terminalColumns == nil && launch.passed == nil)
        precondition(launch.environment.keys.allSatisfy { !$0.hasPrefix("DLM_FAULT") }, "read from the process")
        // As a process of dlm does: OpenSSL writes to sockets that the other side has closed.
        Glibc.signal(SIGPIPE, SIG_IGN)
        self.launch = launch
        signals = Signals()
        output = try CapturedStreams()
        let running = Task.detached { await self.run() }
        task.withLock { $0 = running }
    }

    /// What has been written to standard error so far.
    var standardError: String { output.errors }

    /// Does what a process does when it gets a signal. Its end has to be waited for with ``result()``.
    func send(_ signal: Int32) {
        self.signal.withLock { $0 = signal }
        Task.detached { [self] in
            await signals.interrupt(by: signal)
            task.withLock { $0 }?.cancel()
        }
    }

    /// Waits for the end.
    /// - Throws: when the time limit is over. The command goes on then, for nothing can end it.
    func result() async throws -> ChildProcess.Result {
        guard await result.wait(atMost: launch.timeLimit, until: { $0 != nil }), let result = result.value else {
            throw ChildProcess.Failure(
                description: "\(launch) did not end in \(launch.timeLimit)\n\(output.output)\n\(output.errors)")
        }
        return result
    }

    /// Sends SIGTERM once the server has sent so many bytes, and waits for the end.
    func interrupted(
        after bytes: Int64, from server: FaultServer
    ) async throws -> (reached: Bool, result: ChildProcess.Result) {
        let reached = await server.waitUntil { $0.bytesSent >= bytes }
        send(SIGTERM)
        return (reached, try await result())
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
            let command = try ParsedCommands.command(launch.arguments)
            var context = Context(console: console, signals: signals)
            context.environment = launch.environment
            context.arguments = launch.arguments
            context.workingFolder = launch.folder
            // A background session would be started from the program of this process, which is that of the tests.
            context.open = { configuration, environment, notice in
                try await DownloadSession.open(
                    configuration, environment: environment, hooks: HookProgram.Runner(environment: environment),
                    notice: notice)
            }
            return await context.status(of: command)
        } catch {
            return UsageReport(error, arguments: launch.arguments).print(on: console)
        }
    }
}

extension DlmSandbox {
    /// Runs a command line to its end in this process: as ``run(_:with:)``, without the cost of a start.
    func perform(
        _ arguments: String..., with change: (inout ProcessLaunch) -> Void = { _ in }
    ) async throws -> ChildProcess.Result {
        try await perform(arguments, with: change)
    }

    func perform(
        _ arguments: [String], with change: (inout ProcessLaunch) -> Void = { _ in }
    ) async throws -> ChildProcess.Result {
        var launch = try launch(arguments)
        change(&launch)
        return try await PerformedCommand(launch).result()
    }

    /// Starts a download in this process, waits until the server has sent so many bytes, and stops it as SIGTERM does.
    func performInterrupted(
        _ arguments: String..., after bytes: Int64, from server: FaultServer
    ) async throws -> ChildProcess.Result {
        let (reached, result) = try await PerformedCommand(try launch(arguments)).interrupted(
            after: bytes, from: server)
        #expect(reached && result.ending == .signalled(SIGTERM), "\(result.stderr)")
        return result
    }

    /// Runs a command line to its end, in this process or in one of its own.
    func run(_ arguments: [String], asProcess: Bool) async throws -> ChildProcess.Result {
        asProcess ? try await ChildProcess(try launch(arguments)).result() : try await perform(arguments)
    }
}

extension ChildProcess {
    /// Sends SIGTERM once the server has sent so many bytes, and waits for the end.
    func interrupted(after bytes: Int64, from server: FaultServer) async throws -> (reached: Bool, result: Result) {
        let reached = await server.waitUntil { $0.bytesSent >= bytes }
        send(SIGTERM)
        return (reached, try await result())
    }
}

/// A console on two files without names, which can be read.
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

/// Commands that were parsed before. In debug builds the parser checks its own descriptions at each parse, which takes
/// longer than most downloads of the tests.
private enum ParsedCommands {
    /// Immutable; the parser's types do not say that they may be sent.
    private struct Known: @unchecked Sendable {
        let command: any ContextCommand
    }

    private static let known = Mutex<[[String]: Known]>([:])

    /// Parses each list of options of `get` once, and enters the URLs of this command line; parses all other command
    /// lines once as they are. The errors of the parser are those of a whole parse.
    static func command(_ arguments: [String]) throws -> any ContextCommand {
        let (options, urls) = split(arguments)
        // One URL and several are not the same to the checks of the options.
        let key = options + Array(repeating: "http://a.invalid/", count: min(urls.count, 2))
        if let known = known.withLock({ $0[key] }) { return with(urls, known.command) }
        let command = try DLM.command(arguments)
        known.withLock { $0[key] = Known(command: command) }
        return command
    }

    private static func with(_ urls: [String], _ command: any ContextCommand) -> any ContextCommand {
        guard var get = command as? Get else { return command }
        get.urls = urls
        return get
    }

    /// Divides a `get` into what it parses as options and its URLs.
    private static func split(_ arguments: [String]) -> (options: [String], urls: [String]) {
        guard arguments.first == "get", let (_, catalog) = GivenArguments.command(of: arguments) else {
            return (arguments, [])
        }
        let words = CommandWord.words(arguments.dropFirst(), catalog)
        let urls = words.filter { $0.kind == .operand }.flatMap(\.arguments)
        let options = words.filter { $0.kind != .operand }.flatMap(\.arguments)
        return (["get"] + options, urls)
    }
}
