import DownloadCore
import Foundation

/// A handle for one download. Several handles for the same download are equivalent, and a handle may be released at any
/// time. The download continues as long as its session exists. Each handle keeps the session alive.
public final class DownloadTask: Sendable, Identifiable {
    /// The number of the download. A store never uses a number again.
    public let id: DownloadID
    /// The request as it was when the handle was made.
    public let request: DownloadRequest
    private let observer: TaskObserver
    private let session: DownloadSession

    init(_ snapshot: DownloadSnapshot, _ observer: TaskObserver, _ session: DownloadSession) {
        id = snapshot.id
        request = snapshot.record.request
        self.observer = observer
        self.session = session
    }

    private var service: any DownloadService { observer.service }

    // MARK: Waiting

    /// The finished file, under its final name. Reading this property waits until the download has ended.
    ///
    /// If the waiting Swift task is cancelled, the download is cancelled as well. Its resume data is on disk when the
    /// error is thrown; see ``resumeData``.
    /// - Throws: The ``DownloadError`` with which the download failed, or ``DownloadError/cancelled`` if it was
    ///   cancelled.
    public var value: DownloadedFile {
        get async throws {
            let events = observer.events(of: id)
            if let file = try await snapshot.finishedFile() { return file }
            for await event in events {
                if case .didRemove = event { throw DownloadError.noSuchDownload(id) }
                if let file = try event.snapshot.finishedFile() { return file }
            }
            if Task.isCancelled {
                // The current task is cancelled, so the call needs a new task.
                _ = try await Task { try await self.cancel() }.value
                throw DownloadError.cancelled
            }
            throw DownloadError.sessionUnavailable(.shuttingDown)
        }
    }

    /// The progress of the download: the current progress, then updates a few times a second while bytes arrive and at
    /// each change of state. The sequence ends when the download ends. A slow reader gets only the newest element.
    public var progress: AsyncStream<DownloadProgress> { observer.progress(of: id) }

    /// The events of this download from now on. The sequence ends when the session ends.
    public var events: AsyncStream<DownloadEvent> { observer.events(of: id) }

    /// The download at this moment.
    /// - Throws: ``DownloadError/noSuchDownload(_:)`` if the download was removed.
    public var snapshot: DownloadSnapshot {
        get async throws { try await service.snapshot(id) }
    }

    /// The state of the download at this moment.
    public var state: DownloadState {
        get async throws { try await snapshot.state }
    }

    // MARK: Changing

    /// Pauses the download. When this method returns, the resume data is saved and survives the end of the process.
    public func pause() async throws { _ = try await service.pause([id]) }

    /// Resumes the download after it was paused or cancelled, or has failed.
    public func resume() async throws { _ = try await service.resume([id], overrides: RequestOverrides()) }

    /// Cancels the download, and keeps the fetched bytes.
    /// - Returns: The data for ``DownloadSession/download(resumingWith:credential:headers:)``; nil if the download was
    ///   already complete.
    @discardableResult
    public func cancel() async throws -> ResumeData? {
        _ = try await service.cancel([id])
        return try await resumeData
    }

    /// The data with which the download can be resumed; nil if the download is complete.
    public var resumeData: ResumeData? {
        get async throws {
            let record = try await snapshot.record
            return record.state == .completed ? nil : ResumeData(record)
        }
    }

    /// Removes the download from the store, and deletes its partial file.
    /// - Parameter deletingFile: Whether to delete the finished file, too.
    public func remove(deletingFile: Bool = false) async throws {
        try await service.remove([id], deletesFile: deletingFile)
    }

    /// Changes the priority. Downloads with a higher priority start earlier.
    public func setPriority(_ priority: Int) async throws { _ = try await service.change([id], .priority(priority)) }

    /// Limits the speed of this download.
    /// - Parameter limit: The limit in bytes per second; nil for no limit.
    /// - Throws: ``DownloadError`` if the limit is not positive.
    public func setRateLimit(_ limit: Int64?) async throws {
        var changed = request
        changed.rateLimit = limit
        try RequestDocument.requirePossible(changed)
        _ = try await service.change([id], .rateLimit(limit))
    }

    /// Continues the download of the same file from another URL, for example when the old URL has expired. Bytes on
    /// disk are compared with the file at the new URL.
    public func setURL(_ url: URL) async throws {
        let request = try DownloadRequest(url)
        _ = try await service.change([id], .url(request.url, request.credential))
    }

    /// Replaces the mirrors; see ``DownloadRequest/mirrors``.
    /// - Throws: ``DownloadError`` if a URL is malformed, or if its scheme is not supported.
    public func setMirrors(_ urls: [URL]) async throws {
        let mirrors = try urls.map { try SourceURL($0) }
        _ = try await service.change([id], .mirrors(mirrors))
    }
}

extension DownloadSnapshot {
    /// Returns the finished file, or nil if the download has not ended. Throws the error with which the download ended.
    fileprivate func finishedFile() throws -> DownloadedFile? {
        switch record.state {
        case .completed: try DownloadedFile(record)
        case .failed(let error): throw error
        case .cancelled: throw DownloadError.cancelled
        case .queued, .running, .waiting, .paused: nil
        }
    }
}

// MARK: Foundation

extension DownloadTask {
    /// Makes a `Progress` that follows the download, in bytes: the counterpart of `URLSessionTask.progress`. It is
    /// indeterminate until the size is known, and finished when the file has its final name. Its `cancel()`, `pause()`
    /// and `resume()`, and those of its parents, act on the download. It keeps the session alive.
    ///
    /// Foundation for Linux has neither locks nor key-value observing in `Progress`, so the values change on the main
    /// actor, together with ``progress``.
    @MainActor public func makeProgress() -> Progress {
        let result = Progress(totalUnitCount: -1)
        result.kind = .file
        result.isPausable = true
        result.cancellationHandler = { Task { try await self.cancel() } }
        result.pausingHandler = { Task { try await self.pause() } }
        result.resumingHandler = { Task { try await self.resume() } }
        let updates = progress
        Task { [weak result] in
            for await update in updates {
                guard let result else { return }
                result.follow(update)
            }
        }
        return result
    }
}

extension Progress {
    @MainActor fileprivate func follow(_ download: DownloadProgress) {
        if case .cancelled = download.state, !isCancelled {
            cancellationHandler = nil
            cancel()
        }
        // A `Progress` is finished with its last unit, and a file only with its name. An empty file counts as one unit.
        let isComplete = download.state.kind == .completed
        let total = isComplete ? max(1, download.received) : download.total ?? -1
        totalUnitCount = total
        completedUnitCount = isComplete ? total : total > 0 ? min(download.received, total - 1) : download.received
    }
}
