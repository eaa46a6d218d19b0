import DownloadCore
import DownloadTestSupport
import Foundation
import GRDB
import Testing

@testable import DownloadStorage

/// The stores that must keep the same contract.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// The store of recorded sessions, with a database file.
    case sqlite
    /// The store of unrecorded sessions, with a database in memory.
    case sqliteInMemory

    var testDescription: String { rawValue }

    /// Returns an empty store. Sessions with "dead" in their name are dead.
    func make(in folder: TemporaryFolder) throws -> any DownloadStore {
        let isAlive: @Sendable (String) -> Bool = { !$0.contains("dead") }
        switch self {
        case .sqlite: return try SQLiteDownloadStore(folder: folder.path, isAlive: isAlive)
        case .sqliteInMemory: return try SQLiteDownloadStore(folder: nil, isAlive: isAlive)
        }
    }
}

/// A folder for one test, deleted with this object.
final class TemporaryFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.path + "/dlm-store-\(UUID().uuidString)"

    var store: String { path + "/downloads.sqlite" }

    init() { try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open(isAlive: @escaping @Sendable (String) -> Bool = { _ in true }) throws -> SQLiteDownloadStore {
        try SQLiteDownloadStore(folder: path, isAlive: isAlive)
    }

    /// Runs statements as another program.
    func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: store)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }
}

extension SQLiteDownloadStore {
    /// Runs statements with the connection of the store.
    func execute(_ sql: String, _ arguments: StatementArguments = []) async throws {
        try await perform { try $0.execute(sql: sql, arguments: arguments) }
    }
}

extension DownloadStore {
    /// Saves records as a session does: as small files where this is possible.
    func saveAsSession(_ records: [DownloadRecord], session: String, durably: Bool = false) async throws
        -> Set<DownloadID>
    {
        var files = SmallFiles()
        var rest: [DownloadRecord] = []
        for record in records {
            if let file = SmallFile(record, of: session), record.state == .completed {
                files.completed.append(file)
            } else if let file = SmallFile(record, of: session), record.isFinishing {
                files.finishing.append(file)
            } else {
                rest.append(record)
            }
        }
        return try await save(files, rest, session: session, durably: durably)
    }
}

extension SmallFile {
    /// Makes the small file with this record. Returns nil for records that are not about to complete, and for records
    /// with anything that a small file does not have.
    convenience init?(_ record: DownloadRecord, of session: String) {
        guard let name = record.fileName, record.state == .completed ? record.completed != nil : record.isFinishing
        else {
            return nil
        }
        var queued = DownloadRecord(id: record.id, request: record.request, created: record.created)
        queued.session = session
        let attempt = record.attempts.first
        self.init(
            DownloadEntry(queued), name: name, size: record.completed?.bytes ?? record.resume.total ?? 0,
            answer: Answer(
                validators: record.completed?.validators ?? record.resume.validators,
                contentType: record.resume.contentType, acceptsRanges: record.resume.acceptsRanges,
                digest: record.completed?.checksum ?? record.resume.verified?.checksum),
            showsURL: record.resume.finalURL != nil,
            identity: record.completed?.identity ?? record.resume.file ?? FileIdentity(inode: 1, born: nil),
            metrics: attempt?.metrics, began: attempt?.started ?? record.created,
            written: attempt?.ended ?? record.updated)
        guard let completed = record.completed else { return }
        take(
            path: completed.path, bytes: completed.bytes, identity: completed.identity, modified: completed.modified)
        end(at: record.updated)
        if self.record != record { return nil }
    }
}

enum Sample {
    static func request(
        _ name: String = "a", folder: String = "/home/me", as fileName: String? = nil, priority: Int = 0
    ) throws -> DownloadRequest {
        let url = try SourceURL.parse("https://example.org/files/\(name)").get().url
        var request = DownloadRequest(url: url, destination: Destination(folder: folder, fileName: fileName))
        request.priority = priority
        return request
    }

    /// Returns the record with values in most fields of the record, and in some fields of its request.
    static func filled(_ record: DownloadRecord) throws -> DownloadRecord {
        var record = record
        record.request = try request("moved", folder: "/srv/data", as: "asked.bin", priority: 7)
        record.request.headers = [RequestHeader(name: "X-Purpose", value: "é\n\"quoted\"")]
        record.request.checksum = Checksum(algorithm: .md5, digest: String(repeating: "ab", count: 16))
        record.request.connections = 4
        record.request.destination.ifExists = .rename
        record.request.destination.createsFolders = false
        record.request.retry = RetryPolicy(limit: 9, delay: .seconds(0.25), maximumDelay: .seconds(1e15))
        record.request.redirect = RedirectPolicy(limit: 3)
        record.request.trust = .insecure
        record.request.trust.authorities = "/ca.pem"
        record.request.http.method = "POST"
        record.request.http.body = RequestBody(nil)
        record.request.http.userAgent = "me"
        record.request.secretFiles.netrc = "/home/me/.netrc"
        record.request.network.proxy = ProxyAddress(
            url: "http://proxy:3128", credential: Credential(user: "me", password: nil))
        record.request.network.addresses = [PinnedAddress(host: "a", port: 443, address: "[::1]")]
        record.request.redirect.schemes = ["https"]
        record.request.timeouts = DownloadRequest.Timeouts(connect: .seconds(1.5), stall: .seconds(1e15))
        record.state = .waiting(
            .retry(.networkFailed(.stalled, TransportDiagnosis(code: 28, message: "slow", errno: 110))),
            until: Date(timeIntervalSince1970: 1_800_000_000.5))
        record.fileName = "name (1).bin"
        record.isFinishing = true
        record.resume.validators = Validators(
            etag: EntityTag(opaque: "v1"), lastModified: "Mon, 01 Jan 2024 00:00:00 GMT", lastModifiedIsStrong: true)
        record.resume.total = 5_000_000_000
        record.resume.finalURL = try request("elsewhere").url
        record.resume.contentType = "application/zip"
        record.resume.acceptsRanges = true
        record.resume.written = ByteRanges([0..<100, 200..<300])
        record.resume.durable = ByteRanges([0..<100])
        record.resume.file = FileIdentity(inode: .max, born: 1_700_000_000_000_000_001)
        record.resume.bootID = "boot"
        record.speed = 12.5
        record.attempts = [attempt()]
        record.completed = CompletedFile(
            path: "/srv/data/name (1).bin", bytes: 42, identity: FileIdentity(inode: 7, born: nil),
            modified: 1_700_000_000_123,
            validators: Validators(etag: EntityTag(opaque: "old", isWeak: true)), checksum: record.request.checksum)
        record.updated = Date(timeIntervalSince1970: 1_750_000_000.123)
        return record
    }

    private static func attempt() -> AttemptRecord {
        var attempt = AttemptRecord(started: Date(timeIntervalSince1970: 1_700_000_000.25))
        attempt.ended = Date(timeIntervalSince1970: 1_700_000_001)
        attempt.received = 100
        attempt.outcome = "stalled"
        attempt.metrics = TransferMetrics()
        attempt.metrics?.remoteAddress = "192.0.2.7"
        attempt.metrics?.firstByte = 0.125
        return attempt
    }
}
