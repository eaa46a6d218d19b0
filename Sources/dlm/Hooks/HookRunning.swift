import CSystem
import DownloadKit
import Foundation
import Glibc

extension HookProgram {
    struct Runner: HookRunner {
        let environment: [String: String]
        var time: any TimeSource = SystemTime()

        /// Runs the program, then sends the request to the URL, then shows the notification. The program is first,
        /// because it may move the file, and the notification must describe the final situation.
        func run(_ hook: DueHook) async -> String? {
            let document = FinishedDocument(EndedDownload(DownloadSnapshot(record: hook.record)))
            var problems: [String] = []
            if let program = hook.program, let problem = await run(program, of: hook, document) {
                problems.append("\(program): \(problem)")
            }
            if let url = hook.url,
                let problem = await CompletionPost.send(document, to: url, of: hook, environment, time)
            {
                problems.append("\(Redaction.hidden(url)): \(problem)")
            }
            if hook.record.request.hooks?.notifies ?? false, let notice = DesktopNotice(hook.record, environment) {
                if let problem = await notice.show(time) { problems.append("\(notice.program): \(problem)") }
            }
            return problems.isEmpty ? nil : problems.joined(separator: "; ")
        }

        private func run(_ program: String, of hook: DueHook, _ document: FinishedDocument) async -> String? {
            await UserProgram.run(
                program, environment: HookVariables.environment(document, inherited: environment),
                folder: Self.folder(of: hook.record), input: document.json + "\n", within: hook.timeLimit,
                overdue: "was ended after \(Units.duration(hook.timeLimit)); allow more with --hook-timeout", time: time
            )
        }

        /// Returns the folder of the file, or after a failure of the download; `/` if the folder cannot be used.
        private static func folder(of record: DownloadRecord) -> String {
            let path = record.state == .completed ? record.completed?.path : nil
            let folder = path.map { ($0 as NSString).deletingLastPathComponent } ?? record.request.destination.folder
            return access(folder, X_OK) == 0 ? folder : "/"
        }
    }
}

enum HookVariables {
    /// The variables that a service manager has set for dlm itself.
    static let foreign = SocketActivation.variables + [ServiceNotifier.variable, "WATCHDOG_USEC"]
    /// The variables that set hooks. If a dlm that the program calls inherited them, it would run the hook without end.
    private static let hooks = ["DLM_ON_COMPLETE", "DLM_ON_ERROR", "DLM_URL_COMMAND", "DLM_ON_COMPLETE_URL"]

    static func inherited(_ environment: [String: String]) -> [String: String] {
        environment.filter { !(foreign + hooks).contains($0.key) }
    }

    static func environment(_ document: FinishedDocument, inherited: [String: String]) -> [String: String] {
        let own: [String: String?] = [
            "DLM_ID": "\(document.id)", "DLM_STATE": document.state, "DLM_PATH": document.path,
            // The environment of a process appears in more places than its standard input, for example in logs. So
            // values that may be secret are hidden in the variables, but not in the JSON.
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
            // A zero byte would end the value of the variable.
            if let value { environment[name] = value.replacing("\0", with: " ") }
        }
        return environment
    }
}
