/// What may be done to a download, running or not, without starting it.
package enum DownloadChange: Sendable, Equatable {
    case pause
    /// Ends it, and keeps what was fetched.
    case cancel
    /// Higher starts earlier.
    case priority(Int)
    /// Bytes per second; nil lifts the limit.
    case rateLimit(Int64?)
    /// The same file from another address, for links that expired.
    case url(SourceURL, Credential?)
    /// The other addresses of the same file.
    case mirrors([SourceURL])
}

/// A download after a change.
package struct ChangedDownload: Sendable, Equatable {
    package var snapshot: DownloadSnapshot
    /// False: it was so already, or had ended.
    package var didChange: Bool

    package init(snapshot: DownloadSnapshot, didChange: Bool) {
        self.snapshot = snapshot
        self.didChange = didChange
    }
}

extension DownloadRecord {
    /// Makes the change to a download that no runner works on.
    /// - Returns: false when there is nothing to do.
    package mutating func apply(_ change: DownloadChange) -> Bool {
        switch change {
        case .pause:
            guard state.kind.isActive || state.kind == .paused, state != .paused(.user) else { return false }
            state = .paused(.user)
            speed = nil
        case .cancel:
            guard state.kind != .completed, state.kind != .cancelled else { return false }
            state = .cancelled
            speed = nil
        case .priority(let priority):
            guard request.priority != priority else { return false }
            request.priority = priority
        case .rateLimit(let limit):
            guard request.rateLimit != limit else { return false }
            request.rateLimit = limit
        case .url(let url, let credential):
            guard state.kind != .completed, request.url != url || credential != nil else { return false }
            move(to: url, credential)
        case .mirrors(let mirrors):
            guard state.kind != .completed, request.mirrors != mirrors else { return false }
            request.mirrors = mirrors
        }
        return true
    }

    /// Secrets meant for one origin are not sent to another. Of the bytes that are here, the old validators prove
    /// nothing about the new address: they are compared instead (``ResumeData/movedFrom``).
    private mutating func move(to url: SourceURL, _ credential: Credential?) {
        if url.origin != request.url.origin {
            request.headers.removeAll(where: \.isSecret)
            request.credential = nil
            request.secretFiles.bearer = nil
            if request.http.body != nil { request.http.body = RequestBody(nil) }
        }
        if let credential { request.credential = credential }
        if !resume.written.isEmpty { resume.movedFrom = resume.movedFrom ?? request.url }
        resume.validators = Validators()
        resume.finalURL = nil
        resume.sources = nil
        request.url = url
    }
}
