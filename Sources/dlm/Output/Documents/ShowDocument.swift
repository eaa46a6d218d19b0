import DownloadKit
import Foundation

/// Everything that is recorded about one download (`dlm show`).
struct ShowDocument: Document, Equatable {
    struct Attempt: Encodable, Equatable, Sendable {
        let started: Date
        let ended: Date?
        let received: Int64
        let connections: Int
        let connectionReason: String?
        let redirects: Int
        let remoteAddress: String?
        let httpVersion: String?
        let outcome: String?
        let timings: TimingsDocument?

        init(_ attempt: AttemptRecord) {
            started = attempt.started
            ended = attempt.ended
            received = attempt.received
            connections = attempt.connections
            connectionReason = attempt.connectionReason
            redirects = attempt.redirects
            remoteAddress = attempt.metrics?.remoteAddress
            httpVersion = attempt.metrics?.httpVersion
            outcome = attempt.outcome
            timings = attempt.metrics.map(TimingsDocument.init)
        }
    }

    /// One of the sources of a download.
    struct Source: Encodable, Equatable, Sendable {
        let url: String
        /// The number of bytes that came from this source.
        let received: Int64
        /// The reason of the last failure of this source, after which dlm used another source.
        let failure: String?

        init(_ standing: SourceStanding) {
            url = standing.url
            received = standing.received
            failure = standing.failure
        }
    }

    var version = 1
    let id: DownloadID
    let name: String
    let state: String
    let note: String?
    let url: String
    let effectiveURL: String?
    let folder: String
    let path: String?
    /// What became of the file of a completed download: `there`, `gone` or `changed`.
    let file: String?
    let received: Int64
    let total: Int64?
    let percent: Int?
    let speed: Double?
    let connections: Int
    /// The limit N of `--connections auto:N`; nil if the number of connections is fixed or has the default limit.
    let connectionLimit: Int?
    let acceptsRanges: Bool
    let etag: String?
    let lastModified: String?
    let contentType: String?
    /// The header fields with names and values. The values of secret fields are not stored.
    let headers: [String]
    /// The other options of the download, written like the option lines below a URL in an input list.
    let options: [String]
    let insecure: Bool
    let acceptsUnverified: Bool
    let ifExists: String
    /// The checksum with which the file was verified. Before that, the checksum that the user or the server gives for
    /// it.
    let checksum: String?
    /// The source of the checksum, `user` or `server`; nil until the file was verified.
    let verifiedBy: String?
    let priority: Int
    /// The speed limit in bytes per second; nil for no limit.
    let rateLimit: Int64?
    let session: String?
    /// Whether the session of the download runs.
    let isAttended: Bool?
    let attempts: [Attempt]
    /// The sources of the file; nil if there is only one.
    let sources: [Source]?
    /// The URL of the Metalink document that the server named, if dlm uses the document's mirrors and digests.
    let describedBy: String?
    /// The reason why dlm does not use the Metalink document that the server named.
    let documentFailure: String?
    let error: ErrorDocument?
    let waitingFor: String?
    let waitingUntil: Date?
    let created: Date
    let updated: Date

    init(_ snapshot: DownloadSnapshot, fate: CompletedFileFate? = nil, now: Date) {
        let record = snapshot.record
        file = fate?.rawValue
        let request = record.request
        let validators = record.state == .completed ? record.completed?.validators : record.resume.validators
        id = record.id
        name = record.displayName
        state = record.state.kind.rawValue
        note =
            Idleness.isInterrupted(snapshot)
            ? StandingText.interrupted : StateText.note(fate) ?? StateText.note(record.state, now: now)
        url = request.url.string
        effectiveURL = record.resume.finalURL?.string
        folder = request.destination.folder
        path = record.completed?.path ?? record.finalPath
        received = snapshot.progress.received
        total = snapshot.progress.total
        percent = Units.percent(received, of: total)
        speed = snapshot.progress.speed
        connections = request.connectionsWithoutLimit
        connectionLimit = request.connectionLimit
        acceptsRanges = record.resume.acceptsRanges
        etag = validators?.etag?.fieldValue
        lastModified = validators?.lastModified
        contentType = record.resume.contentType
        headers = request.headers.map { "\($0.name): \($0.isSecret ? "(not stored)" : $0.value ?? "(not stored)")" }
        options = GivenOptions.lines(request)
        insecure = !request.trust.verifiesServer
        acceptsUnverified = request.acceptsUnverified
        ifExists = request.destination.ifExists.rawValue
        let verified = record.state == .completed ? record.completed?.verified : nil
        checksum = (verified?.checksum ?? request.checksum ?? record.resume.digest)?.description
        verifiedBy = verified?.source.rawValue
        priority = request.priority
        rateLimit = request.rateLimit
        session = record.session
        isAttended = record.session.map { _ in snapshot.isAttended }
        attempts = record.attempts.map(Attempt.init)
        (waitingFor, waitingUntil) = record.state.waiting
        let book = record.resume.sources ?? SourceBook()
        sources = request.mirrors.isEmpty ? nil : request.sources.map { Source(book.standing(of: $0.string)) }
        describedBy = request.describedBy?.string
        documentFailure = book.documentFailure
        error = record.state.error.map(ErrorDocument.init)
        created = record.created
        updated = record.updated
    }
}
