import ArgumentParser
import DownloadKit

/// The options for the programs that run, and the messages that are sent, when a download has ended.
struct HookOptions: OptionTable {
    @Option(
        "When a download is complete, run this program (a path, or a name in PATH) without a shell or arguments. It "
            + "gets DLM_* variables, and JSON on standard input.", value: "program", completion: .file())
    var onComplete: String?

    @Option(
        "When a download has failed for good, run this program in the same way.", value: "program", completion: .file())
    var onError: String?

    @Option(
        "For links that expire: run this shell command after status 401, 403 or 410, or before an attempt if the URL "
            + "shows that it has expired. The download continues from the URL that the command prints.",
        value: "command")
    var urlCommand: String?

    @Option(
        "When a download is complete, send its JSON by POST to this http or https URL, such as a webhook or an ntfy "
            + "topic. At most three attempts are made.", value: "url")
    var onCompleteUrl: String?

    @Option(
        "Send the token from this file (Authorization: Bearer) with --on-complete-url.", value: "file",
        completion: .file())
    var onCompleteBearerFile: String?

    @Flag(exclusivity: .chooseLast) var notify: NotifyFlag?

    @Option(
        "End a hook that runs longer than this. Default: \(Seconds(Hooks.standardTimeLimit)), and 60 for --url-command.",
        value: "time")
    var hookTimeout: Seconds?

    func validate() throws {
        if urlCommand == "" { throw ValidationError("--url-command: give a command") }
        if onCompleteBearerFile == "" { throw ValidationError("--on-complete-bearer-file: no file given") }
        if let onCompleteUrl { try CompletionPost.check(onCompleteUrl) }
        if hookTimeout?.value == 0 { throw ValidationError("--hook-timeout: give more than 0") }
    }

    mutating func rows(_ row: inout OptionRows) {
        let folder = row.workingFolder
        onComplete = row("on-complete", .path, onComplete, Self.program(\.onComplete, "--on-complete", folder))
        onError = row("on-error", .path, onError, Self.program(\.onError, "--on-error", folder))
        urlCommand = row("url-command", .text, urlCommand, .field(\.ownHooks.urlCommand))
        onCompleteUrl = row(
            "on-complete-url", .text, onCompleteUrl, .field(\.ownHooks.completeURL, shows: Redaction.hidden))
        onCompleteBearerFile = row(
            "on-complete-bearer-file", .path, onCompleteBearerFile, .file(\.ownHooks.completeBearerFile))
        notify = row.pair(
            "notify", notify,
            .sets(
                { $0.ownHooks.notifies = $1.isOn }, shows: { GivenOptions.flag($0.hooks?.notifies ?? false) }))
        hookTimeout = row("hook-timeout", .value(), hookTimeout, .seconds(\.ownHooks.timeLimit))
    }

    /// Returns the effect of an option that names a program. The program is searched for when the option is applied
    /// instead of when it is read. So a missing program in a setting does not stop other commands.
    private static func program(
        _ path: WritableKeyPath<Hooks, String?>, _ option: String, _ workingFolder: String?
    ) -> OptionEffect<String> {
        .sets(
            { $0.ownHooks[keyPath: path] = try HookProgram.path(of: $1, option: option, in: workingFolder) },
            shows: { $0.hooks?[keyPath: path] })
    }
}
