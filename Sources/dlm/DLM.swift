import ArgumentParser
import CSystem
import DownloadKit
import Foundation
import Glibc

/// The root of the command line.
struct DLM: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dlm",
        abstract: "Download files, and pause, resume and continue them after any interruption.",
        discussion: """
            A file gets its final name only when it is complete and verified. Status 0 means that all files are \
            complete and verified. No matter how dlm ends, the fetched bytes are kept, and dlm resume continues the \
            download.
            """,
        version: "dlm \(DownloadSession.version)",
        subcommands: [
            Get.self, List.self, Show.self, Pause.self, Resume.self, Cancel.self, Remove.self, Wait.self,
            Watch.self,
            Events.self, Limit.self, Priority.self, SetURL.self, Verify.self, Work.self, ManifestCommand.self,
            Daemon.self,
            RPC.self, Doctor.self,
            Config.self,
        ])

    /// Returns whether a command line probably starts a download. The command line includes the name of the program.
    static func downloads(_ arguments: [String]) -> Bool {
        arguments.count > 2 && arguments[1] == Get.configuration.commandName
            || arguments.count > 1 && arguments[1].contains("://")
    }

    static let commandNames = Set(
        configuration.subcommands.flatMap { [$0.configuration.commandName ?? ""] + $0.configuration.aliases })

    /// Reads the command line. For help and version, throws an error with the text to print.
    static func command(_ arguments: [String]? = nil) throws -> any ContextAction {
        let given = arguments ?? Array(CommandLine.arguments.dropFirst())
        if given.isEmpty { return Overview() }
        return try scanned(given) ?? parsed(given)
    }

    /// Reads a command line of `get` without the parser. Returns nil if the parser must read it.
    static func scanned(_ arguments: [String]) -> Get? {
        // The search for aliases is avoided for `get`, because it takes longer than reading most command lines.
        let words = arguments.first == "get" ? arguments : CommandAlias.resolved(arguments)
        return words.first == "get" ? Get.scanned(words.dropFirst()) : nil
    }

    static func parsed(_ arguments: [String]) throws -> any ContextAction {
        var parsed = try parseAsRoot(GivenArguments.normalized(arguments))
        if let command = parsed as? any ContextCommand { return command }
        if !(parsed is DLM) { try parsed.run() }
        throw ValidationError("no command given")
    }
}

/// An action that uses a ``Context`` and ends with an exit status.
protocol ContextAction {
    func run(in context: Context) async throws -> Int32
}

/// A command of the argument parser. Each command sets its name explicitly, because deriving the names from the types
/// would take 2 ms at each start of the program.
protocol ContextCommand: ParsableCommand, ContextAction {}

@main
enum Program {
    static func main() {
        Console.openClosedStreams()
        Surroundings.keepOwnFilesReadable()
        Surroundings.findHome()
        dlm_set_up_memory()
        let signals = Signals()
        signals.block()
        let console = Console()
        let fault = Surroundings.fault()
        let program = DropInProgram(calledAs: CommandLine.arguments.first ?? "")
        if fault == nil, program == nil, DLM.downloads(CommandLine.arguments) { DownloadSession.prepareTransfers() }
        let command: any ContextAction
        do {
            try ArgumentEncoding.check()
            let arguments = Array(CommandLine.arguments.dropFirst())
            ArgumentSecrets.hide()
            command = if let program { try DropInCommand(program, arguments) } else { try DLM.command(arguments) }
        } catch let failure as DropInFailure {
            console.report(failure.message(path: ProcessInfo.processInfo.environment["PATH"]))
            _exit(console.finish(failure.program.usageStatus))
        } catch {
            _exit(console.finish(UsageReport(error).print(on: console)))
        }
        if let fault {
            console.report(fault)
            _exit(console.finish(1))
        }
        let context = Context(console: console, signals: signals)
        Task.detached {
            let status = await context.status(of: command)
            // exit(3) is not used, because the destructors of C libraries must not run while the engine threads still
            // run.
            _exit(console.finish(status))
        }
        signals.deliver()
    }
}
