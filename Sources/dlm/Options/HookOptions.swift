import ArgumentParser
import DownloadKit

/// The options for the programs that run, and the messages that are sent, when a download has ended.
struct HookOptions: OptionTable {
    var onComplete: String?
    var onError: String?
    var urlCommand: String?
    var onCompleteUrl: String?
    var onCompleteBearerFile: String?
    var notify: NotifyFlag?
    var hookTimeout: Seconds?

    func validate() throws {
        if urlCommand == "" { throw ValidationError("--url-command: give a command") }
        if onCompleteBearerFile == "" { throw ValidationError("--on-complete-bearer-file: no file given") }
        if let onCompleteUrl { try CompletionPost.check(onCompleteUrl) }
        if hookTimeout?.value == 0 { throw ValidationError("--hook-timeout: give more than 0") }
    }

    mutating func rows(_ row: inout OptionRows) {
        let folder = row.workingFolder
        row(
            &onComplete, "on-complete", in: .trusted, .path("program"),
            "When a download is complete, run this program (a path, or a name in PATH) without a shell or arguments. "
                + "It gets DLM_* variables, and JSON on standard input.",
            Self.program(\.onComplete, "--on-complete", folder))
        row(
            &onError, "on-error", in: .trusted, .path("program"),
            "When a download has failed for good, run this program in the same way.",
            Self.program(\.onError, "--on-error", folder))
        row(
            &urlCommand, "url-command", in: .trusted, .word("command"),
            "For links that expire: run this shell command after status 401, 403 or 410, or before an attempt if the "
                + "URL shows that it has expired. The download continues from the URL that the command prints.",
            .field(\.ownHooks.urlCommand))
        row(
            &onCompleteUrl, "on-complete-url", in: .trusted, .word("url"),
            "When a download is complete, send its JSON by POST to this http or https URL, such as a webhook or an "
                + "ntfy topic. At most three attempts are made.",
            .field(\.ownHooks.completeURL, shows: Redaction.hidden))
        row(
            &onCompleteBearerFile, "on-complete-bearer-file", in: .trusted, .path("file"),
            "Send the token from this file (Authorization: Bearer) with --on-complete-url.",
            .file(\.ownHooks.completeBearerFile))
        row.pair(
            &notify, "notify", in: .trusted,
            .sets(
                { $0.ownHooks.notifies = $1.isOn }, shows: { GivenOptions.flag($0.hooks?.notifies ?? false) }))
        row(
            &hookTimeout, "hook-timeout", in: .trusted, usual: "\(Seconds(Hooks.standardTimeLimit))", .value("time"),
            "End a hook that runs longer than this. Default: \(Seconds(Hooks.standardTimeLimit)), and 60 for "
                + "--url-command.", .seconds(\.ownHooks.timeLimit))
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

enum NotifyFlag: FlagPair {
    case notify, noNotify

    static let texts = (
        on: """
        Notify on the desktop (notify-send) when a download is complete or has failed. In a terminal, also ring \
        the bell when the command ends, and without a desktop send a notification (OSC 9 or 99). Default: off.
        """,
        off: "Send no notifications, and do not ring the bell."
    )
}
