/// A change of a download that does not start it. The download may be running or not.
package enum DownloadChange: Sendable, Equatable {
    case pause
    /// Ends the download, and keeps its partial file.
    case cancel
    /// Sets the priority. Downloads with a higher priority start earlier.
    case priority(Int)
    /// Sets the speed limit in bytes per second; nil removes the limit.
    case rateLimit(Int64?)
    /// Sets another URL of the same file, for example because the old URL has expired.
    case url(SourceURL, Credential?)
    /// Sets the mirrors: the other URLs of the same file.
    case mirrors([SourceURL])
}

/// A download after a change.
package struct ChangedDownload: Sendable, Equatable {
    package var snapshot: DownloadSnapshot
    /// Whether the download changed. It did not change if it already had the wanted value or state, or if it had ended.
    package var didChange: Bool

    package init(snapshot: DownloadSnapshot, didChange: Bool) {
        self.snapshot = snapshot
        self.didChange = didChange
    }
}

extension DownloadRecord {
    /// Applies the change to this record only. A running attempt is not told.
    /// - Returns: Whether the record changed.
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

    /// Changes the URL. Secrets for one origin are not sent to another origin. The old validators prove nothing about
    /// the new URL, so the bytes on disk are compared instead (``ResumeData/movedFrom``).
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
