import ArgumentParser
import DownloadKit

/// The options for the programs that run, and the messages that are sent, when a download has ended.
struct HookOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "When a download is complete, run this program (a path, or a name in PATH) without a shell or arguments. "
                + "It gets DLM_* variables, and JSON on standard input.", valueName: "program"),
        completion: .file())
    var onComplete: String?

    @Option(
        help: ArgumentHelp(
            "When a download has failed for good, run this program in the same way.", valueName: "program"),
        completion: .file())
    var onError: String?

    @Option(
        help: ArgumentHelp(
            "For links that expire: run this shell command after status 401, 403 or 410, or before an attempt if the "
                + "URL shows that it has expired. The download continues from the URL that the command prints.",
            valueName: "command"))
    var urlCommand: String?

    @Option(
        help: ArgumentHelp(
            "When a download is complete, send its JSON by POST to this http or https URL, such as a webhook or an "
                + "ntfy topic. At most three attempts are made.", valueName: "url"))
    var onCompleteUrl: String?

    @Option(
        help: ArgumentHelp(
            "Send the token from this file (Authorization: Bearer) with --on-complete-url.", valueName: "file"),
        completion: .file())
    var onCompleteBearerFile: String?

    @Flag(exclusivity: .chooseLast) var notify: NotifyFlag?

    @Option(
        help: ArgumentHelp(
            "End a hook that runs longer than this. Default: \(Seconds(Hooks.standardTimeLimit)), and 60 for "
                + "--url-command.", valueName: "time"),
        transform: Seconds.init(argument:))
    var hookTimeout: Seconds?

    func validate() throws {
        if urlCommand == "" { throw ValidationError("--url-command: give a command") }
        if onCompleteBearerFile == "" { throw ValidationError("--on-complete-bearer-file: no file given") }
        if let onCompleteUrl { try CompletionPost.check(onCompleteUrl) }
        if hookTimeout?.value == 0 { throw ValidationError("--hook-timeout: give more than 0") }
    }

    /// Applies the options that were given, and changes nothing else. The programs are searched for here instead of
    /// when the options are read. So a missing program in a setting does not stop other commands.
    /// - Parameter workingFolder: the absolute path from which relative paths start.
    func apply(to request: inout DownloadRequest, in workingFolder: String?) throws {
        let isGiven = onComplete != nil || onError != nil || urlCommand != nil || hookTimeout != nil
        guard isGiven || onCompleteUrl != nil || onCompleteBearerFile != nil || notify != nil else { return }
        var hooks = request.hooks ?? Hooks()
        if let onComplete {
            hooks.onComplete = try HookProgram.path(of: onComplete, option: "--on-complete", in: workingFolder)
        }
        if let onError { hooks.onError = try HookProgram.path(of: onError, option: "--on-error", in: workingFolder) }
        if let urlCommand { hooks.urlCommand = urlCommand }
        if let onCompleteUrl { hooks.completeURL = onCompleteUrl }
        if let onCompleteBearerFile { hooks.completeBearerFile = FolderPath.file(onCompleteBearerFile) }
        if let notify { hooks.notifies = notify == .notify }
        if let hookTimeout { hooks.timeLimit = hookTimeout.value }
        request.hooks = hooks
    }
}

extension HookOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        onComplete = words.path("on-complete")
        onError = words.path("on-error")
        urlCommand = words.text("url-command")
        onCompleteUrl = words.text("on-complete-url")
        onCompleteBearerFile = words.path("on-complete-bearer-file")
        notify = words.pair("notify")
        hookTimeout = words.value("hook-timeout", as: Seconds.init(argument:))
    }
}

extension HookOptions: TellingOptions {
    static func given(in request: DownloadRequest) -> GivenOptions.List {
        let hooks = request.hooks
        return [
            ("on-complete", hooks?.onComplete), ("on-error", hooks?.onError), ("url-command", hooks?.urlCommand),
            ("on-complete-url", hooks?.completeURL.map(Redaction.hidden)),
            ("on-complete-bearer-file", hooks?.completeBearerFile),
            ("notify", GivenOptions.flag(hooks?.notifies ?? false)),
            ("hook-timeout", hooks?.timeLimit.map(GivenOptions.seconds)),
        ]
    }
}
