import CSystem
import DownloadKit
import Foundation
import Glibc

extension HookProgram {
    /// Runs the programs of a session.
    struct Runner: HookRunner {
        /// What they inherit.
        let environment: [String: String]
        var time: any TimeSource = SystemTime()

        /// The program comes first: it may take the file away, and a notice is for what has been done.
        func run(_ hook: DueHook) async -> String? {
            let document = FinishedDocument(DownloadSnapshot(record: hook.record))
            var problems: [String] = []
            if let program = hook.program, let problem = await run(program, of: hook, document) {
                problems.append("\(program): \(problem)")
            }
            if let url = hook.url, let problem = await CompletionPost(url, of: hook, document).send(environment, time) {
                problems.append("\(Redaction.hidden(url)): \(problem)")
            }
            if hook.record.request.hooks?.notifies ?? false, let notice = DesktopNotice(hook.record, environment) {
                if let problem = await notice.show(time) { problems.append("\(notice.program): \(problem)") }
            }
            return problems.isEmpty ? nil : problems.joined(separator: "; ")
        }

        private func run(_ program: String, of hook: DueHook, _ document: FinishedDocument) async -> String? {
            let variables = HookVariables(document, inherited: environment)
            let process: HookProcess
            switch HookProcess.start(
                program, environment: variables.environment, folder: Self.folder(of: hook.record),
                input: document.json + "\n", time: time)
            {
            case .success(let started): process = started
            case .failure(let failure): return "cannot be run: \(failure.text)"
            }
            switch await process.end(within: .seconds(hook.timeLimit)) {
            case .exited(0): return nil
            case .exited(let status): return "ended with status \(status)"
            case .signalled(let signal): return "was ended by signal \(signal)"
            case .timedOut: return "was ended after \(Units.duration(hook.timeLimit)); allow more with --hook-timeout"
            case .stopped: return "was ended with this session"
            }
        }

        /// That of the file, or the one that it was to be in.
        private static func folder(of record: DownloadRecord) -> String {
            let path = record.state == .completed ? record.completed?.path : nil
            let folder = path.map { ($0 as NSString).deletingLastPathComponent } ?? record.request.destination.folder
            return access(folder, X_OK) == 0 ? folder : "/"
        }
    }
}

/// What a hook is told in its environment.
struct HookVariables {
    let environment: [String: String]

    /// What the manager of another service told its own process.
    private static let foreign = ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC"]
    /// A dlm that the program runs has hooks of its own, or it could go on for ever.
    private static let hooks = ["DLM_ON_COMPLETE", "DLM_ON_ERROR", "DLM_URL_COMMAND", "DLM_ON_COMPLETE_URL"]

    static func inherited(_ environment: [String: String]) -> [String: String] {
        environment.filter { !(foreign + hooks).contains($0.key) }
    }

    init(_ document: FinishedDocument, inherited: [String: String]) {
        let own: [String: String?] = [
            "DLM_ID": "\(document.id)", "DLM_STATE": document.state, "DLM_PATH": document.path,
            // A process's environment is told where its JSON is not: what is called like a secret is hidden.
            "DLM_URL": Redaction.hidden(document.url),
            "DLM_EFFECTIVE_URL": document.effectiveURL.map(Redaction.hidden),
            "DLM_BYTES": "\(document.bytes)", "DLM_CHECKSUM": document.checksum,
            "DLM_ERROR": document.error?.message, "DLM_ERROR_KIND": document.error?.kind,
            "DLM_ERROR_REASON": document.error?.reason,
            "DLM_HTTP_STATUS": document.error?.httpStatus.map { "\($0)" },
            "DLM_EXIT_STATUS": "\(document.error?.exitStatus ?? 0)",
        ]
        var environment = Self.inherited(inherited).filter { own[$0.key] == nil }
        for (name, value) in own {
            // What cannot be said there ends it.
            if let value { environment[name] = value.replacing("\0", with: " ") }
        }
        self.environment = environment
    }
}
