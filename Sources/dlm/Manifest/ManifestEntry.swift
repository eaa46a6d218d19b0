import DownloadKit
import Foundation

/// A line of a manifest: the result for a URL.
struct ManifestEntry: Document, Codable, Equatable {
    enum Status: String, Codable, Sendable {
        case done, failed
    }

    struct Failure: Codable, Equatable, Sendable {
        let kind: String
        let reason: String
        let message: String
        let retryable: Bool
    }

    var version = 1
    let url: String
    let status: Status
    var path: String?
    var bytes: Int64 = 0
    var sha256: String?
    var mediaType: String?
    var httpStatus: Int?
    var etag: String?
    var attempts = 0
    var seconds = 0.0
    var ended: Date
    var shard: String?
    var shardBy: String?
    var error: Failure?

    /// - Parameter error: the error; nil if the file is complete and present.
    init(_ snapshot: DownloadSnapshot, error: DownloadError?, of filter: ShardFilter?, at date: Date) {
        let record = snapshot.record
        url = Self.fitting(record.request.url.string, Self.longestURL)
        status = error == nil ? .done : .failed
        bytes = snapshot.progress.received
        if error == nil, let file = record.completed {
            path = file.path
            bytes = file.bytes
            sha256 = file.checksum.flatMap { $0.algorithm == .sha256 ? $0.digest : nil }
            etag = file.validators.etag?.fieldValue
        }
        mediaType = record.resume.contentType
        // The metrics may be those of a redirect. The status of a redirect is not the status of the file.
        let last = record.attempts.last?.metrics?.status.flatMap { (300..<304).contains($0) || $0 > 304 ? nil : $0 }
        httpStatus = error == nil ? last : error?.httpStatus
        attempts = record.attempts.count
        let took = record.attempts.reduce(0.0) { sum, attempt in
            let seconds = attempt.ended.map { $0.timeIntervalSince(attempt.started) } ?? attempt.metrics?.total ?? 0
            return sum + max(0, seconds)
        }
        seconds = (took * 1000).rounded() / 1000
        ended = date
        self.error = error.map(Failure.init)
        mark(filter)
    }

    /// Creates the entry of a URL that did not become a download.
    init(rejected url: String, error: Failure, of filter: ShardFilter?, at date: Date) {
        self.url = Self.fitting(url, Self.longestURL)
        status = .failed
        ended = date
        self.error = error
        mark(filter)
    }

    /// The greatest length of a URL, in bytes. A longer one is cut, because readers of manifests refuse long lines.
    private static let longestURL = 64 << 10

    fileprivate static func fitting(_ text: String, _ bytes: Int) -> String {
        text.utf8.count <= bytes ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
    }

    private mutating func mark(_ filter: ShardFilter?) {
        shard = filter?.shard.description
        shardBy = filter?.rule.rawValue
    }

    /// - Throws: an error if the line is not an entry of a known version.
    init(line: some Sequence<UInt8>) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        self = try decoder.decode(ManifestEntry.self, from: Data(line))
        guard version == 1 else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "version \(version)"))
        }
    }

    func failed(_ error: DownloadError) -> ManifestEntry {
        var failed = ManifestEntry(rejected: url, error: Failure(error), of: nil, at: ended)
        (failed.bytes, failed.attempts, failed.seconds) = (bytes, attempts, seconds)
        (failed.shard, failed.shardBy) = (shard, shardBy)
        return failed
    }

    var kindOfError: String { error.map { "\($0.kind)/\($0.reason)" } ?? "unknown" }

    var host: String { (try? RequestMaker.address(url).get().0.host) ?? "" }
}

extension ManifestEntry.Failure {
    /// The greatest length of a message, in bytes. Messages may repeat a URL, which may be long.
    private static let longestMessage = 4 << 10

    init(_ error: DownloadError) {
        kind = error.kind
        reason = error.reason
        message = ManifestEntry.fitting(Redaction.describe(error), Self.longestMessage)
        retryable = error.isWorthAnotherRun
    }

    init(rejected message: String, retryable: Bool) {
        self.init(
            kind: "request", reason: "rejected", message: ManifestEntry.fitting(message, Self.longestMessage),
            retryable: retryable)
    }
}
