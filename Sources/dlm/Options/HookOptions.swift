import ArgumentParser
import DownloadKit

/// The options for the programs that run, and the messages that are sent, when a download has ended.
struct HookOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Run this program, a path or a name in PATH, once a download is complete: without a shell or arguments, "
                + "with DLM_* variables and its JSON on standard input.", valueName: "program"),
        completion: .file())
    var onComplete: String?

    @Option(
        help: ArgumentHelp(
            "Run this program in the same way once a download has failed for good.", valueName: "program"),
        completion: .file())
    var onError: String?

    @Option(
        help: ArgumentHelp(
            "For links that expire: run this command of a shell after an answer of 401, 403 or 410, or when the link says "
                + "that its time is over, and go on with the URL that it prints.", valueName: "command"))
    var urlCommand: String?

    @Option(
        help: ArgumentHelp(
            "Once a download is complete, send its JSON to this URL (http or https) by POST: a webhook, or a topic of ntfy. "
                + "Tried three times.", valueName: "url"))
    var onCompleteUrl: String?

    @Option(
        help: ArgumentHelp(
            "Send the token in this file with --on-complete-url, as Authorization: Bearer.", valueName: "file"),
        completion: .file())
    var onCompleteBearerFile: String?

    @Flag(exclusivity: .chooseLast) var notify: NotifyFlag?

    @Option(
        help: ArgumentHelp(
            "End a program that takes longer. Default: \(Seconds(Hooks.standardTimeLimit)).", valueName: "time"),
        transform: Seconds.init(argument:))
    var hookTimeout: Seconds?

    func validate() throws {
        if urlCommand == "" { throw ValidationError("--url-command: give a command") }
        if onCompleteBearerFile == "" { throw ValidationError("--on-complete-bearer-file: no file given") }
        if let onCompleteUrl { try CompletionPost.check(onCompleteUrl) }
        if hookTimeout?.value == 0 { throw ValidationError("--hook-timeout: give more than 0") }
    }

    /// Applies the options that were given, and changes nothing else. The programs are searched for here and not when
    /// the options are read, so that a missing program in a setting does not stop other commands.
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
        notify = words.last(["notify": .notify, "no-notify": .noNotify])
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
