import Foundation

/// Everything that the store has of one download.
///
/// Copies share one storage until one of them is changed. A record is in several places at a time (the book, the
/// attempt, the committer), and the record of a list is in the entry of each of its downloads (``DownloadEntry``).
///
/// The accessors have `get` and not `_read`. With `_read`, Swift 6.1 released the strings of a URL through the frame of
/// the accessor, which it had already freed, and the tests crashed.
package struct DownloadRecord: Sendable, Equatable {
    fileprivate struct Fields: Codable, Sendable, Equatable {
        var id: DownloadID
        @Boxed var request: DownloadRequest
        var state: DownloadState
        var session: String?
        var fileName: String?
        var isFinishing = false
        @Boxed var resume: ResumeData
        var speed: Double?
        var attempts: [AttemptRecord] = []
        var completed: CompletedFile?
        var created: Date
        var updated: Date

        init(id: DownloadID, request: DownloadRequest, state: DownloadState, created: Date) {
            self.id = id
            self.request = request
            self.state = state
            _resume = Self.noResume
            self.created = created
            updated = created
        }

        /// The resume data of downloads that have fetched nothing. It is shared, because thousands of downloads of a
        /// list are in memory at a time.
        private static let noResume = Boxed(wrappedValue: ResumeData())
    }

    /// The fields. They are changed only by a record that has the only reference to their storage. So Swift need not
    /// check at run time that nobody else uses them.
    private final class Storage: @unchecked Sendable {
        @exclusivity(unchecked) var fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }

    private var storage: Storage

    package init(id: DownloadID, request: DownloadRequest, state: DownloadState = .queued, created: Date) {
        storage = Storage(Fields(id: id, request: request, state: state, created: created))
    }

    private var fields: Fields {
        get { storage.fields }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.fields) }
            yield &storage.fields
        }
    }

    package var id: DownloadID {
        get { storage.fields.id }
        _modify { yield &fields.id }
    }

    package var request: DownloadRequest {
        get { storage.fields.request }
        _modify { yield &fields.request }
    }

    package var state: DownloadState {
        get { storage.fields.state }
        _modify { yield &fields.state }
    }

    /// The session that owns the download; nil if there is none.
    package var session: String? {
        get { storage.fields.session }
        _modify { yield &fields.session }
    }

    /// The final name, once it is decided.
    package var fileName: String? {
        get { storage.fields.fileName }
        _modify { yield &fields.fileName }
    }

    /// Whether the file is whole, verified and synced, and only has to be renamed. It is saved before the rename, so
    /// that a crash in between costs nothing.
    package var isFinishing: Bool {
        get { storage.fields.isFinishing }
        _modify { yield &fields.isFinishing }
    }

    package var resume: ResumeData {
        get { storage.fields.resume }
        _modify { yield &fields.resume }
    }

    /// The recent speed in bytes per second.
    package var speed: Double? {
        get { storage.fields.speed }
        _modify { yield &fields.speed }
    }

    package var attempts: [AttemptRecord] {
        get { storage.fields.attempts }
        _modify { yield &fields.attempts }
    }

    /// The file of the last completion, which is kept when the download is requested again.
    package var completed: CompletedFile? {
        get { storage.fields.completed }
        _modify { yield &fields.completed }
    }

    package var created: Date {
        get { storage.fields.created }
        _modify { yield &fields.created }
    }

    package var updated: Date {
        get { storage.fields.updated }
        _modify { yield &fields.updated }
    }

    // Other modules would copy the whole request to read one of its properties.
    package var priority: Int { request.priority }
    package var rateLimit: Int64? { request.rateLimit }

    /// The number of bytes on disk.
    package var received: Int64 { resume.written.count }

    /// Whether a checksum of the file is known, or a list that may have it.
    package var hasChecksum: Bool { request.checksums != nil || expected != nil }

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

extension DownloadRecord: CustomStringConvertible {
    /// The fields. The request among them hides its secrets.
    package var description: String { "\(storage.fields)" }
}

extension DownloadRecord: Codable {
    package init(from decoder: any Decoder) throws { storage = Storage(try Fields(from: decoder)) }

    package func encode(to encoder: any Encoder) throws { try storage.fields.encode(to: encoder) }
}

extension DownloadRecord {
    /// Returns whether both records are copies of one record and none of them was changed since. Takes no time.
    package func isCopy(of other: DownloadRecord) -> Bool { storage === other.storage }

    package static func == (first: DownloadRecord, second: DownloadRecord) -> Bool {
        first.storage === second.storage || first.storage.fields == second.storage.fields
    }
}
