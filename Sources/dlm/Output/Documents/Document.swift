import DownloadKit
import Foundation

/// A value that `--json` prints. The text output is made from the same value. Later versions of dlm may add fields, but
/// never remove or change a field. docs/json-schema.json describes the fields.
protocol Document: Encodable, Sendable {
    var version: Int { get }
}

extension Document {
    /// The document as one line of JSON. Characters that could harm a terminal are escaped.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        do {
            return Escaping.json(String(decoding: try encoder.encode(self), as: UTF8.self))
        } catch {
            // This happens only for a number that JSON cannot express, such as infinity.
            return #"{"version":1,"error":"cannot be encoded"}"#
        }
    }
}

extension Console {
    func print(_ document: some Document, _ options: OutputOptions, text: () -> [String]) {
        if options.json { return print(document.json) }
        if !options.quiet { for line in text() { print(line) } }
    }
}

struct ErrorDocument: Encodable, Equatable, Sendable {
    let kind: String
    let reason: String
    let message: String
    let curlCode: Int?
    let httpStatus: Int?
    let errno: Int32?
    let exitStatus: Int32

    init(_ error: DownloadError) {
        kind = error.kind
        reason = error.reason
        message = Redaction.describe(error)
        curlCode = error.curlCode
        httpStatus = error.httpStatus
        errno = error.systemErrno
        exitStatus = error.exitStatus
    }
}

/// The times of an attempt's first transfer, in seconds from its start.
struct TimingsDocument: Encodable, Equatable, Sendable {
    let nameLookup: Double
    let connect: Double
    let tls: Double
    let firstByte: Double
    let total: Double
    let reusedConnection: Bool

    init(_ metrics: TransferMetrics) {
        nameLookup = metrics.nameLookup
        connect = metrics.connect
        tls = metrics.tls
        firstByte = metrics.firstByte
        total = metrics.total
        reusedConnection = metrics.reusedConnection
    }
}

/// A session whose speed limit was changed (`dlm limit RATE`), or is shown (`dlm limit`).
struct LimitDocument: Document, Equatable {
    var version = 1
    var event = "changed"
    let session: String
    let rateLimit: Int64?
}

/// A line of `dlm verify`.
struct VerifiedDocument: Document {
    var version = 1
    var event = "verified"
    let id: DownloadID?
    let path: String
    var verified = false
    var checksum: String?
    var source: String?
    var signedBy: String?
    var bytes: Int64?
    var error: ErrorDocument?

    init(_ subject: VerifySubject) {
        id = subject.record?.id
        path = subject.path
    }
}
