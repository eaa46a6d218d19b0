import Foundation

/// A download's number: small, never reused within a store.
public typealias DownloadID = Int64

/// Everything the store keeps of one download.
package struct DownloadRecord: Codable, Sendable, Equatable {
    package var id: DownloadID
    @Boxed package var request: DownloadRequest
    package var state: DownloadState
    /// The session that runs it; nil when none does.
    package var session: String?
    /// The final name, once decided.
    package var fileName: String?
    /// The file is whole, verified and synced; what is left is the rename. Set before it, so that a crash in
    /// between costs nothing.
    package var isFinishing = false
    @Boxed package var resume: ResumeData
    /// Bytes per second, of late.
    package var speed: Double?
    package var attempts: [AttemptRecord] = []
    /// The file of the last completion, kept when the download is asked for again.
    package var completed: CompletedFile?
    package var created: Date
    package var updated: Date

    package init(id: DownloadID, request: DownloadRequest, state: DownloadState = .queued, created: Date) {
        self.id = id
        self.request = request
        self.state = state
        _resume = Self.noResume
        self.created = created
        self.updated = created
    }

    /// Shared by all that have fetched nothing: thousands of a list are in memory at a time.
    private static let noResume = Boxed(wrappedValue: ResumeData())

    /// Bytes on disk.
    package var received: Int64 { resume.written.count }

    /// What its file must hash to is known, or a list that may say so.
    package var hasChecksum: Bool { request.checksum != nil || request.checksums != nil || resume.digest != nil }

    /// What is told of its bytes: those on disk, or those of the finished file.
    package var present: (received: Int64, total: Int64?) {
        guard case .completed = state else { return (received, resume.total) }
        return (completed?.bytes ?? received, completed?.bytes)
    }

    /// What people call it: the final name, the name asked for, or the last part of the URL.
    package var displayName: String {
        fileName ?? request.destination.fileName ?? FileNaming.name(fromPath: request.url.path) ?? request.url.host
    }

    package var finalPath: String? {
        fileName.map { FileNaming.path(request.destination.folder, $0) }
    }

    /// Attempts are told from the newest; a download that failed for months must not grow without bound.
    package static let attemptsKept = 20
}
