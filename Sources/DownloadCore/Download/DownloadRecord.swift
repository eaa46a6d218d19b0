import Foundation

/// The number of a download. A store never uses a number again.
public typealias DownloadID = Int64

/// Everything that the store has of one download.
package struct DownloadRecord: Codable, Sendable, Equatable {
    package var id: DownloadID
    @Boxed package var request: DownloadRequest
    package var state: DownloadState
    /// The session that owns the download; nil if there is none.
    package var session: String?
    /// The final name, once it is decided.
    package var fileName: String?
    /// Whether the file is whole, verified and synced, and only has to be renamed. It is saved before the rename, so
    /// that a crash in between costs nothing.
    package var isFinishing = false
    @Boxed package var resume: ResumeData
    /// The recent speed in bytes per second.
    package var speed: Double?
    package var attempts: [AttemptRecord] = []
    /// The file of the last completion, which is kept when the download is requested again.
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

    /// The resume data of downloads that have fetched nothing. It is shared, because thousands of downloads of a list
    /// are in memory at a time.
    private static let noResume = Boxed(wrappedValue: ResumeData())

    /// The number of bytes on disk.
    package var received: Int64 { resume.written.count }

    /// Whether a checksum of the file is known, or a list that may have it.
    package var hasChecksum: Bool { request.checksum != nil || request.checksums != nil || resume.digest != nil }

    /// The numbers of bytes that are shown: those on disk, or those of the finished file.
    package var present: (received: Int64, total: Int64?) {
        guard case .completed = state else { return (received, resume.total) }
        return (completed?.bytes ?? received, completed?.bytes)
    }

    /// The name for users: the final name, the requested name, or the last part of the URL.
    package var displayName: String {
        fileName ?? request.destination.fileName ?? FileNaming.name(fromPath: request.url.path) ?? request.url.host
    }

    package var finalPath: String? {
        fileName.map { FileNaming.path(request.destination.folder, $0) }
    }

    /// The number of attempts that are kept, so that the record of a download that fails for months does not grow
    /// without limit.
    package static let attemptsKept = 20
}
