import ArgumentParser
import DownloadKit
import Foundation

/// Everything outside of a command that the command uses. Tests replace parts of it.
struct Context: Sendable {
    var console: Console
    let signals: Signals
    let settingsMemory = SettingsMemory()
    var environment = ProcessInfo.processInfo.environment
    /// The command line, without the name of the program.
    var arguments = Array(CommandLine.arguments.dropFirst())
    var workingFolder = FolderPath.working
    var time: any TimeSource = SystemTime()
    /// The record of failures, for a caller that needs more than the exit status.
    var failures: FailureRecord?
    /// The digests that a file must match if neither the command nor the settings say so.
    var usualProof = ProofPolicy.auto
    var open: Open = { configuration, environment, notice in
        try await DownloadSession.open(
            configuration, environment: environment,
            startBackground: {
                try await DaemonProcess.start(environment: environment, until: $0, configuration.time)
            },
            hooks: HookProgram.Runner(environment: environment, time: configuration.time), notice: notice)
    }

    var fetch: Fetch = { request, largest, environment, time in
        try await DownloadSession.document(request, largest: largest, environment: environment, time: time)
    }

    var fate: FateOfFile = { $0.completedFileFate }

    var askPassword: @Sendable (_ user: String, Signals) throws -> String = PasswordPrompt.ask

    /// A function that returns what became of the file of a completed download, or nil if that cannot be known.
    typealias FateOfFile = @Sendable (DownloadRecord) -> CompletedFileFate?

    typealias Fetch =
        @Sendable (
            DownloadRequest, _ largest: Int, _ environment: [String: String], any TimeSource
        ) async throws -> [UInt8]

    typealias Open =
        @Sendable (
            SessionConfiguration, _ environment: [String: String], _ notice: @escaping @Sendable (String) -> Void
        ) async throws -> any SessionRouting

    func path(of folder: String, _ option: String) throws -> String {
        guard let start = folder.hasPrefix("/") ? "" : workingFolder else {
            throw ValidationError("\(option): the working folder is gone; give an absolute folder")
        }
        return FolderPath.canonical(FolderPath.joined(start, folder))
    }

    /// Returns this context, but with the folder of `--state`, if it is given, instead of `$XDG_STATE_HOME`.
    func with(state: String?) throws -> Context {
        guard let state else { return self }
        var own = self
        own.environment["XDG_STATE_HOME"] = try path(of: state, "--state")
        return own
    }

    /// Returns the style of text that goes to stdout.
    func style(_ options: OutputOptions) -> Style {
        Style.chosen(
            options.color ?? knownSettings.color, isTerminal: console.outputIsTerminal, environment: environment)
    }

    func withService(
        kind: SessionConfiguration.Kind = .foreground,
        _ change: (inout SessionConfiguration) -> Void = { _ in },
        _ body: (any SessionRouting) async throws -> Int32
    ) async throws -> Int32 {
        let folder = kind.isRecorded ? try SessionConfiguration.stateFolder(environment: environment) : ""
        var configuration = SessionConfiguration(kind: kind, stateFolder: folder)
        configuration.time = time
        try settings().apply(to: &configuration)
        change(&configuration)
        let service = try await open(configuration, environment) { [console] in console.report($0) }
        do {
            let status = try await body(service)
            await service.close()
            return status
        } catch {
            await service.close()
            throw error
        }
    }

    /// Runs the command, and returns its status. An error is printed as one line.
    func status(of command: any ContextAction) async -> Int32 {
        do {
            return try await command.run(in: self)
        } catch let error as DownloadError {
            console.report(Redaction.describe(error))
            failures?.record(error)
            return error.exitStatus
        } catch let failure as ChecksumFile.Failure {
            console.report(failure.message)
            failures?.record(failure.error)
            return failure.error.exitStatus
        } catch let error as SettingsError {
            console.report(error.message)
            return SettingsError.exitStatus
        } catch {
            return UsageReport(error, arguments: arguments).print(on: console)
        }
    }
}
