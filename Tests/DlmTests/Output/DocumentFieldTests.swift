import DownloadCore
import DownloadStoragePostgres
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

/// The names of the fields are public, because scripts read them. A new field is added here, and no field is ever
/// removed.
@Suite("The fields of JSON", .inTurn, .serialized)
struct DocumentFieldTests {
    /// The expected fields, by the definition in docs/json-schema.json.
    static let fields: [String: String] = [
        "error": "curlCode errno exitStatus httpStatus kind message reason",
        "timings": "connect firstByte nameLookup reusedConnection tls total",
        "attempt":
            "connectionReason connections ended httpVersion outcome received redirects remoteAddress started timings",
        "finished": """
        attempts bytes checksum effectiveURL error event file id path result state timings url verifiedBy version wasCurrent
        """,
        "change": """
        error event id name offset priority rateLimit reason received session state total url version waitingFor \
        waitingUntil
        """,
        "rejected": "event exitStatus file line message url version",
        "verified": "bytes checksum error event id path source verified version",
        "limited": "event rateLimit session version",
        "logged": """
        cursor error event file id name received session state time total url version waitingFor \
        waitingUntil
        """,
        "listed": """
        created ended error file id isAttended name note path percent priority received seconds secondsLeft session speed \
        state total updated url version waitingFor waitingUntil
        """,
        "shown": """
        acceptsRanges acceptsUnverified attempts checksum connectionLimit connections contentType created describedBy \
        documentFailure \
        effectiveURL error etag file folder \
        headers id ifExists insecure isAttended lastModified name note options path percent priority rateLimit \
        received session sources speed state total updated url verifiedBy version waitingFor waitingUntil
        """,
        "source": "failure received url",
        "setting": "host key origin place rule value version",
        "finding": "advice detail exitStatus name result section timings version",
        "daemon": """
        identifier isFinishing maxConcurrent maxPerHost pid program queued rateLimit running socket started version \
        waiting
        """,
        "progress": "event id name note percent received secondsLeft speed state total version waitingFor waitingUntil",
        "total": "cancelled done downloads event failed percent received secondsLeft speed total version",
        "manifest": """
        attempts bytes ended error etag httpStatus mediaType path seconds sha256 shard shardBy status url version
        """,
        "manifestSummary": "bytes done errors failed hosts retryable urls version",
        "count": "name urls",
        "queued": "added event known rejected version",
        "queue": "bytes done event failed failedForGood hosts isPaused leased queued version workers",
        "queueHost": "isPaused leased name queued workers",
        "queueWorker": "id leased name secondsLeft",
        "queueItem": "attempts cursor error event id result state url version worker",
    ]

    static let snapshot = DownloadSnapshot(record: .example())
    static let values: [(String, any Sendable)] = [
        ("error", ErrorDocument(.cancelled)), ("timings", TimingsDocument(TransferMetrics())),
        ("attempt", ShowDocument.Attempt(AttemptRecord(started: .distantPast))),
        ("finished", FinishedDocument(snapshot)), ("change", EventDocument("added", snapshot)),
        ("rejected", RejectedDocument(.cancelled)), ("verified", VerifiedDocument(VerifySubject(snapshot.record))),
        ("limited", LimitDocument(session: "", rateLimit: nil)),
        ("logged", LogDocument(.didFinishEvents(1))), ("listed", ListDocument(snapshot, now: Date())),
        ("shown", ShowDocument(snapshot, now: Date())), ("source", ShowDocument.Source(SourceStanding(url: ""))),
        ("setting", SettingDocument("connections", nil)),
        ("finding", FindingDocument(.ok(.files, "", ""))), ("daemon", DaemonDocument(socket: "")),
        ("progress", ProgressDocument(snapshot)),
        ("total", TotalDocument(.init(downloads: 1, done: 0, failed: 0, received: 0))),
        ("manifest", ManifestEntry(snapshot, error: nil, of: nil, at: .distantPast)),
        ("manifestSummary", ManifestSummary.Summary()), ("count", ManifestSummary.Summary.Count(name: "", urls: 1)),
        ("queued", AddedToQueueDocument()), ("queue", QueueDocument(QueueCounts())),
        ("queueHost", QueueDocument.Host(name: "", queued: 0, leased: 0, workers: 0, isPaused: false)),
        ("queueWorker", QueueDocument.Worker(id: 1, name: "", leased: 0, secondsLeft: 0)),
        ("queueItem", QueueItemDocument(RecordedItem(id: 1, url: "", state: .queued))),
    ]

    private struct Schema: Decodable {
        struct Definition: Decodable {
            struct Property: Decodable {}

            let properties: [String: Property]?
        }

        let definitions: [String: Definition]

        enum CodingKeys: String, CodingKey { case definitions = "$defs" }
    }

    @Test("Each document has exactly the expected fields")
    func documents() {
        #expect(Set(Self.values.map(\.0)) == Set(Self.fields.keys))
        for (name, value) in Self.values {
            let fields = Mirror(reflecting: value).children.compactMap(\.label).sorted().joined(separator: " ")
            #expect(fields == Self.fields[name], "\(name)")
        }
    }

    @Test("The schema names all fields")
    func schema() throws {
        let text = try DocumentationTests.text("docs/json-schema.json")
        let definitions = try JSONDecoder().decode(Schema.self, from: Data(text.utf8)).definitions
        let named = definitions.compactMapValues { $0.properties?.keys.sorted().joined(separator: " ") }
        #expect(named == Self.fields)
    }
}
