/// Programs to run once a download has ended: part of what the user asked for.
package struct Hooks: Sendable, Equatable {
    /// Absolute path; run without a shell and without arguments.
    package var onComplete: String?
    /// Run when it has failed for good: what is tried again has not.
    package var onError: String?
    /// A shell command that prints a new URL for one that has expired.
    package var urlCommand: String?
    /// Seconds after which one is ended; nil for ``standardTimeLimit``.
    package var timeLimit: Double?

    package static let standardTimeLimit = 300.0
    package static let possibleTimeLimits = 0.001...1e9

    /// There is nothing to run.
    package var isEmpty: Bool { onComplete == nil && onError == nil && urlCommand == nil }

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
        DocumentField("timeLimit", \.timeLimit),
    ]
}

/// The hook of a download that has ended. It is due until somebody takes it from the store, and is run at most once.
package struct DueHook: Sendable, Equatable {
    /// As its download ended.
    package let record: DownloadRecord
    package let program: String
    /// Seconds.
    package let timeLimit: Double

    /// Nil when nothing is to be run: of what goes on or was cancelled, and of a file that was current, for which nothing
    /// was fetched.
    package init?(_ record: DownloadRecord) {
        guard let hooks = record.request.hooks else { return nil }
        let program: String? =
            switch record.state {
            case .completed: record.completed?.wasCurrent == true ? nil : hooks.onComplete
            case .failed: hooks.onError
            case .queued, .running, .waiting, .paused, .cancelled: nil
            }
        guard let program else { return nil }
        self.record = record
        self.program = program
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
