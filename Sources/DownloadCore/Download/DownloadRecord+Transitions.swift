import Foundation

extension DownloadRecord {
    /// Changes the state. Debug builds check that this change is possible (``DownloadState/canMove(to:)``).
    package mutating func move(to next: DownloadState) {
        assert(state.canMove(to: next.kind) || state == next, "\(state.kind) -> \(next.kind)")
        state = next
    }

    package var failure: DownloadError? {
        if case .failed(let error) = state { error } else { nil }
    }

    /// Marks the file as whole, verified and synced, so that it may get its final name.
    package mutating func beginFinishing() {
        isFinishing = true
        resume.durable = resume.written
    }

    /// Marks the download as completed: its file has the final name, and no session runs it.
    package mutating func complete(at time: Date) {
        isFinishing = false
        state = .completed
        session = nil
        speed = nil
        updated = time
    }

    /// The record of the running attempt, which is the last one.
    package var lastAttempt: AttemptRecord {
        get { attempts[attempts.count - 1] }
        _modify { yield &attempts[attempts.count - 1] }
    }

    /// Completes the download with the file of an earlier completed run.
    package mutating func keepCurrent(_ candidate: CompletedFile?) {
        guard var current = candidate else { return }
        current.wasCurrent = true
        completed = current
        fileName = FileNaming.lastComponent(current.path)
    }

    // MARK: The session

    /// Makes the record of a download that is added to `session`, queued or paused.
    package init(adding request: DownloadRequest, id: DownloadID, to session: String, at now: Date) {
        self.init(
            id: id, request: request, state: request.startsPaused ? .paused(.user) : .queued, created: now)
        self.session = session
    }

    /// Gives the download to `session`, with all its data. A completed download begins a new history of attempts.
    package mutating func queue(for session: String, at now: Date, holdsBack: Bool = false) {
        if state == .completed { attempts = [] }
        state = holdsBack ? .paused(.user) : .queued
        self.session = session
        speed = nil
        updated = now
    }

    /// Removes a foreground session from a download that no session works on. A background session stays recorded.
    package mutating func leaveForeground() {
        if let session, SessionIdentifier.isForeground(session) { self.session = nil }
    }

    // MARK: The schedule

    /// Returns the time at which the schedule allows the download to run. Returns nil if it may run now.
    package func closedUntil(at date: Date) -> Date? {
        guard case .closed(let until)? = request.schedule?.answer(at: date) else { return nil }
        return until
    }

    /// Returns the time at which the schedule stops the download. Returns nil if the schedule never stops it,
    /// or does not allow it to run now.
    package func closes(at date: Date) -> Date? {
        guard case .open(let until)? = request.schedule?.answer(at: date) else { return nil }
        return until
    }

    package func waiting(until: Date) -> DownloadRecord {
        var record = self
        record.move(to: .waiting(.schedule, until: until))
        return record
    }

    // MARK: Changes by users

    /// Applies the change that `asker` requests. A foreground session keeps a download that it has paused on command,
    /// so that the download can be resumed in that session. Any other stopped download loses its foreground session, so
    /// that any session may take it. The stores call this method for downloads that no attempt runs.
    /// `SessionManager.pause(_:_:)` has the same rule for downloads that were stopped.
    /// - Returns: False if the change makes no difference.
    package mutating func apply(_ change: DownloadChange, for asker: String, at now: Date) -> Bool {
        guard apply(change) else { return false }
        switch change {
        case .pause where session == asker: break
        case .pause, .cancel: leaveForeground()
        case .priority, .rateLimit, .url, .mirrors: break
        }
        updated = now
        return true
    }

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
