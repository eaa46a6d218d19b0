/// Programs to run once a download has ended: part of what the user asked for.
package struct Hooks: Sendable, Equatable {
    /// Absolute path; run without a shell and without arguments.
    package var onComplete: String?
    /// Run when it has failed for good: what is tried again has not.
    package var onError: String?
    /// A shell command that prints a new URL for one that has expired.
    package var urlCommand: String?
    /// A URL of http or https to which the JSON document of a complete download is sent by POST.
    package var completeURL: String?
    /// Absolute path of a file with the bearer token for ``completeURL``, read each time.
    package var completeBearerFile: String?
    /// Whether the desktop of the user shows a notice of the end.
    package var notifies = false
    /// Seconds after which one is ended; nil for ``standardTimeLimit``.
    package var timeLimit: Double?

    package static let standardTimeLimit = 300.0
    package static let possibleTimeLimits = 0.001...1e9

    /// There is nothing to do.
    package var isEmpty: Bool {
        onComplete == nil && onError == nil && urlCommand == nil && completeURL == nil && !notifies
    }

    package init(
        onComplete: String? = nil, onError: String? = nil, urlCommand: String? = nil, timeLimit: Double? = nil
    ) {
        self.onComplete = onComplete
        self.onError = onError
        self.urlCommand = urlCommand
        self.timeLimit = timeLimit
    }
}

extension Hooks: DocumentObject {
    static let documentFields: [DocumentField<Hooks>] = [
        DocumentField("onComplete", \.onComplete),
        DocumentField("onError", \.onError),
        DocumentField("urlCommand", \.urlCommand),
        DocumentField("completeURL", \.completeURL),
        DocumentField("completeBearerFile", \.completeBearerFile),
        DocumentField("notifies", \.notifies),
        DocumentField("timeLimit", \.timeLimit),
    ]
}

/// The hook of a download that has ended. It is due until somebody takes it from the store, and is run at most once.
package struct DueHook: Sendable, Equatable {
    /// As its download ended.
    package let record: DownloadRecord
    /// Nil where there is only a notice to give.
    package let program: String?
    /// Where the document of the download is sent; nil for nowhere.
    package let url: String?
    /// Seconds.
    package let timeLimit: Double

    /// Nil when nothing is to be run: of what goes on or was cancelled, and of a file that was current, for which nothing
    /// was fetched.
    package init?(_ record: DownloadRecord) {
        guard let hooks = record.request.hooks else { return nil }
        switch record.state {
        case .completed where record.completed?.wasCurrent != true:
            (program, url) = (hooks.onComplete, hooks.completeURL)
        case .failed: (program, url) = (hooks.onError, nil)
        case .completed, .queued, .running, .waiting, .paused, .cancelled: return nil
        }
        if program == nil, url == nil, !hooks.notifies { return nil }
        self.record = record
        timeLimit = hooks.timeLimit ?? Hooks.standardTimeLimit
    }
}

/// Runs the programs of hooks.
package protocol HookRunner: Sendable {
    /// Returns once the program has ended; when the task is cancelled it is ended.
    /// - Returns: what went wrong, for people; nil when nothing did.
    func run(_ hook: DueHook) async -> String?
    /// Runs the command of a download whose link has expired; when the task is cancelled it is ended.
    /// - Parameter status: what the server answered; nil before it was asked.
    /// - Returns: what the command printed, or what went wrong, for people.
    func newURL(for record: DownloadRecord, command: String, status: Int?) async -> Result<String, LinkFailure>
}

/// Why there is no new link.
package struct LinkFailure: Error, Sendable, Equatable {
    package let text: String
    package init(_ text: String) { self.text = text }
}

extension HookRunner {
    package func newURL(
        for record: DownloadRecord, command: String, status: Int?
    ) async -> Result<String, LinkFailure> { .failure(LinkFailure("cannot be run here")) }
}
