/// The programs to run and the notices to send when a download has ended, and the command for new URLs. They are part
/// of the request.
package struct Hooks: Sendable, Equatable {
    /// The absolute path of the program to run when the download is complete, without a shell and without arguments.
    package var onComplete: String?
    /// The absolute path of the program to run when the download has failed and is not tried again.
    package var onError: String?
    /// A shell command that prints a new URL for the download when its URL has expired.
    package var urlCommand: String?
    /// The URL (http or https) to which the JSON document of a completed download is sent by POST.
    package var completeURL: String?
    /// The absolute path of a file with the bearer token for ``completeURL``. The file is read each time.
    package var completeBearerFile: String?
    /// Whether the user's desktop shows a notice when the download has ended.
    package var notifies = false
    /// The time limit of a program in seconds. If nil, the limit is ``standardTimeLimit`` at the end of a download, and
    /// 60 seconds for ``urlCommand``.
    package var timeLimit: Double?

    package static let standardTimeLimit = 300.0

    /// Whether there is no hook, no command for new URLs and no notice.
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

/// The hook of a download that has ended. It is due until a session takes it from the store, and is run at most once.
package struct DueHook: Sendable, Equatable {
    /// The record at the end of the download.
    package let record: DownloadRecord
    /// The program; nil if there is none.
    package let program: String?
    /// The URL to which the document of the download is sent; nil for none.
    package let url: String?
    /// The time limit in seconds for the program, and for sending the document.
    package let timeLimit: Double

    /// Returns nil if there is nothing to run. There is nothing to run for a download that continues or was cancelled.
    /// There is also nothing to run if nothing was fetched, because the file on disk was still current.
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

package protocol HookRunner: Sendable {
    /// Runs a hook, and returns when its program has ended. If the task is cancelled, the program is ended.
    /// - Returns: The error as text for the user; nil if there was none.
    func run(_ hook: DueHook) async -> String?
    /// Runs the command that prints a new URL for a download whose URL has expired. If the task is cancelled, the
    /// command is ended.
    /// - Parameter status: the status of the server's answer; nil if no request was made.
    /// - Returns: The output of the command, or the error as text for the user.
    func newURL(for record: DownloadRecord, command: String, status: Int?) async -> Result<String, LinkFailure>
}

/// The reason why there is no new URL.
package struct LinkFailure: Error, Sendable, Equatable {
    package let text: String
    package init(_ text: String) { self.text = text }
}
