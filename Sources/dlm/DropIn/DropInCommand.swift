import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The command that runs dlm instead of another program.
struct DropInCommand: ContextAction {
    let program: DropInProgram
    let line: DropInCommandLine

    func run(in context: Context) async throws -> Int32 {
        if let part = line.information {
            context.console.print(part == .help ? DropInText.help(program) : DropInText.version(program))
            return 0
        }
        var context = context
        for (name, value) in line.environment {
            context.environment[name] = value
            setenv(name, value, 1)
        }
        for notice in line.notices where !isQuiet { context.console.report(notice) }
        var result: Int32 = 0
        for (number, words) in line.lines.enumerated() {
            let output = line.discarded.contains(number) ? Self.discardOutput() : nil
            let status = await status(of: words, in: context)
            if let output {
                dup2(output, STDOUT_FILENO)
                close(output)
            }
            // The exit status is that of the last failure.
            if status != 0 { result = status }
        }
        return result
    }

    private var isQuiet: Bool { line.lines.contains { $0.contains("--quiet") } }

    private func status(of words: [String], in context: Context) async -> Int32 {
        let arguments = ["get"] + words
        var own = context
        own.arguments = arguments
        own.failures = FailureRecord()
        // The replaced programs ask for nothing beside the file.
        own.usualProof = .headers
        let command: any ContextAction
        do {
            command = try DLM.command(arguments)
        } catch {
            _ = UsageReport(error, arguments: arguments).print(on: context.console)
            return program.usageStatus
        }
        // The replaced programs print no paths, so standard output gets the file or nothing.
        if let get = command as? Get, !get.streams { own.console = context.console.withoutOutput() }
        let status = await own.status(of: command)
        return program.status(of: own.failures?.last as? DownloadError, status)
    }

    /// Redirects standard output to /dev/null. Returns a descriptor of the original standard output; nil on failure.
    private static func discardOutput() -> Int32? {
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard null >= 0 else { return nil }
        defer { close(null) }
        let output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        dup2(null, STDOUT_FILENO)
        return output >= 0 ? output : nil
    }
}

extension DropInCommand {
    /// Parses the command line, and hides its secrets from the list of processes.
    init(_ program: DropInProgram, _ arguments: [String]) throws(DropInFailure) {
        let (words, secrets) = try DropInWord.words(arguments, of: program)
        ArgumentSecrets.hide(secrets)
        self.init(program: program, line: try DropInCommandLine(words, of: program))
        if line.information == nil { DownloadSession.prepareTransfers() }
    }
}

/// A record of the last error, for callers that do not get the error itself.
final class FailureRecord: Sendable {
    private let failure = Mutex<(any Error)?>(nil)

    var last: (any Error)? { failure.withLock(\.self) }

    func record(_ error: (any Error)?) {
        if let error { failure.withLock { $0 = error } }
    }
}
