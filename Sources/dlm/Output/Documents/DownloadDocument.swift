import DownloadKit
import Foundation

/// A download, as `dlm list` and `dlm show` print it. The two commands print different fields of the same document.
struct DownloadDocument: Document {
    /// The fields: `dlm list` prints those up to `updated`, `dlm show` those from `version` on.
    enum Field: String, CodingKey, CaseIterable {
        case secondsLeft, ended, seconds
        case version, id, state, name, url, path, file, received, total, percent, speed, note, error
        case waitingFor, waitingUntil, priority, session, isAttended, created, updated
        case effectiveURL, folder, connections, connectionLimit, acceptsRanges, etag, lastModified, contentType
        case headers, options, insecure, acceptsUnverified, ifExists, checksum, verifiedBy, rateLimit, attempts, sources
        case describedBy, documentFailure, proofStrength, signedBy, activeConnections, written

        static let listed = Array(allCases.prefix { $0 != .effectiveURL })
        static let shown = Array(allCases.drop { $0 != .version })
    }

    var version = 1
    let fields: [Field]
    let snapshot: DownloadSnapshot
    /// Whether a completed file is still there; nil if it is not known.
    let fate: CompletedFileFate?
    /// The reason for the state as text for the user; in `dlm list` also the time at which the download ended.
    let note: String?

    /// Creates the document of `dlm show`.
    init(_ snapshot: DownloadSnapshot, fate: CompletedFileFate? = nil, now: Date) {
        fields = Field.shown
        self.snapshot = snapshot
        self.fate = fate
        note = Self.reason(snapshot, fate, now)
    }

    /// Creates a row of `dlm list`. Its note says when a failed download ended only with `isHistory`.
    init(row snapshot: DownloadSnapshot, isHistory: Bool = false, fate: CompletedFileFate? = nil, now: Date) {
        fields = Field.listed
        self.snapshot = snapshot
        self.fate = fate
        let (record, reason) = (snapshot.record, Self.reason(snapshot, fate, now))
        let saysEnd = isHistory || record.state.kind != .failed
        let end = saysEnd ? record.ended.map { StateText.end($0, seconds: record.secondsOfAttempts) } : nil
        note = reason == nil && end == nil ? nil : [reason, end].compactMap(\.self).joined(separator: "; ")
    }

    private static func reason(_ snapshot: DownloadSnapshot, _ fate: CompletedFileFate?, _ now: Date) -> String? {
        if Idleness.isInterrupted(snapshot) { return StandingText.interrupted }
        return StateText.note(fate) ?? StateText.note(snapshot.record.state, now: now)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Field.self)
        let (record, request, progress) = (snapshot.record, snapshot.record.request, snapshot.progress)
        for field in fields {
            func write(_ value: (some Encodable)?) throws { try values.encodeIfPresent(value, forKey: field) }
            switch field {
            case .version: try write(version)
            case .id: try write(record.id)
            case .state: try write(record.state.kind.rawValue)
            case .name: try write(record.displayName)
            case .url: try write(request.url.string)
            case .path: try write(snapshot.path)
            case .file: try write(fate?.rawValue)
            case .received: try write(progress.received)
            case .total: try write(progress.total)
            case .percent: try write(percent)
            case .speed: try write(progress.speed)
            case .note: try write(note)
            case .error: try write(record.state.error.map(ErrorDocument.init))
            case .waitingFor: try write(record.state.waiting.what)
            case .waitingUntil: try write(record.state.waiting.until)
            case .priority: try write(request.priority)
            case .session: try write(record.session)
            case .isAttended: try write(record.session.map { _ in snapshot.isAttended })
            case .created: try write(record.created)
            case .updated: try write(record.updated)
            case .secondsLeft: try write(secondsLeft)
            case .ended: try write(record.ended)
            case .seconds: try write(record.secondsOfAttempts)
            case .effectiveURL: try write(record.resume.finalURL?.string)
            case .folder: try write(request.destination.folder)
            case .connections: try write(request.connections.number)
            case .connectionLimit: try write(request.connections.limit)
            case .acceptsRanges: try write(record.resume.acceptsRanges)
            case .etag: try write(validators?.etag?.fieldValue)
            case .lastModified: try write(validators?.lastModified)
            case .contentType: try write(record.resume.contentType)
            case .headers: try write(headers)
            case .options: try write(GivenOptions.lines(request))
            case .insecure: try write(!request.trust.verifiesServer)
            case .acceptsUnverified: try write(request.acceptsUnverified)
            case .ifExists: try write(request.destination.ifExists.rawValue)
            case .checksum: try write(checksum)
            case .verifiedBy: try write(verified?.source.rawValue)
            case .proofStrength: try write(verified == nil ? nil : ProofStrength(of: record))
            case .signedBy: try write(signature?.key)
            case .rateLimit: try write(request.rateLimit)
            case .attempts: try write(record.attempts.map(Attempt.init))
            case .sources: try write(sources?.map(Source.init))
            case .describedBy: try write(request.describedBy?.string)
            case .activeConnections: try write(snapshot.activeConnections)
            case .written: try write(isComplete ? nil : record.resume.written)
            case .documentFailure: try write(record.resume.sources?.documentFailure)
            }
        }
    }

    var percent: Int? { Units.percent(snapshot.progress.received, of: snapshot.progress.total) }

    var secondsLeft: Double? { snapshot.progress.secondsLeft }

    var isComplete: Bool { snapshot.record.state == .completed }

    var validators: Validators? {
        isComplete ? snapshot.record.completed?.validators : snapshot.record.resume.validators
    }

    /// The header fields with names and values. The values of secret fields are not stored.
    var headers: [String] {
        snapshot.request.headers.map {
            "\($0.name): \($0.isSecret ? "(not stored)" : $0.value ?? "(not stored)")"
        }
    }

    var signature: FileSignature? { isComplete ? snapshot.record.resume.signature : nil }

    /// The checksum with which the file was verified, and its source; nil until the file was verified.
    var verified: VerifiedChecksum? { isComplete ? snapshot.record.completed?.verified : nil }

    /// The checksum with which the file was verified; before, the one that the user or the server gives.
    var checksum: String? {
        (verified?.checksum ?? snapshot.record.expected?.checksum)?.description
    }

    /// The states of the sources of the file; nil if there is only one source.
    var sources: [SourceStanding]? {
        let (request, book) = (snapshot.request, snapshot.record.resume.sources ?? SourceBook())
        return request.mirrors.isEmpty ? nil : request.sources.map { book.standing(of: $0.string) }
    }

    struct Attempt: Encodable, Equatable, Sendable {
        let started: Date
        let ended: Date?
        let received: Int64
        let connections: Int
        let connectionReason: String?
        let redirects: Int
        let remoteAddress: String?
        let otherAddresses: [String]?
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
            otherAddresses = attempt.otherAddresses
            httpVersion = attempt.metrics?.httpVersion
            outcome = attempt.outcome
            timings = attempt.metrics.map(TimingsDocument.init)
        }
    }

    struct Source: Encodable, Equatable, Sendable {
        let url: String
        let received: Int64
        let failure: String?

        init(_ standing: SourceStanding) {
            url = standing.url
            received = standing.received
            failure = standing.failure
        }
    }
}

extension DownloadRecord {
    fileprivate var ended: Date? { state.kind.isEnded ? updated : nil }

    /// The time that all recorded attempts took together, in seconds; nil without attempts.
    fileprivate var secondsOfAttempts: Double? {
        attempts.isEmpty ? nil : attempts.reduce(0) { $0 + ($1.ended ?? updated).timeIntervalSince($1.started) }
    }
}
