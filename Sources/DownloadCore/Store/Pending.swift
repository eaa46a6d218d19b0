import Foundation

// Pending: goes away with issue 3.
extension DownloadStore {
    public func change(
        _ ids: [DownloadID], _ change: DownloadChange, session: String
    ) async throws -> [ChangedRecord] { throw DownloadError.unexpected("pending") }
    public func requeue(session: String) async throws { throw DownloadError.unexpected("pending") }
    public func queuedCount(session: String) async throws -> Int { throw DownloadError.unexpected("pending") }
    public func events(after cursor: EventCursor, limit: Int) async throws -> [LoggedEvent] {
        throw DownloadError.unexpected("pending")
    }
    public func eventBounds() async throws -> (dropped: EventCursor, last: EventCursor) {
        throw DownloadError.unexpected("pending")
    }
    public func dropEvents(keeping count: Int) async throws { throw DownloadError.unexpected("pending") }
    public func ended(before date: Date, limit: Int) async throws -> [DownloadID] {
        throw DownloadError.unexpected("pending")
    }
}

extension DownloadService {
    public func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload] {
        throw DownloadError.unexpected("pending")
    }
    public func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        throw DownloadError.unexpected("pending")
    }
    public func status() async throws -> SessionStatus { throw DownloadError.unexpected("pending") }
    public func configure(_ settings: SessionSettings) async throws { throw DownloadError.unexpected("pending") }
    public func shutdown(_ mode: ShutdownMode) async throws { throw DownloadError.unexpected("pending") }
}
