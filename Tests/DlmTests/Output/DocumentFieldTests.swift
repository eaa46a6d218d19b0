import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import DownloadStoragePostgres
@testable import dlm

/// The names of the fields are public, because scripts read them. A new field is added here, and no field is ever
/// removed.
@Suite("The fields of JSON", .inTurn, .serialized)
struct DocumentFieldTests {
    /// The expected fields, by the definition in docs/json-schema.json.
    static let fields: [String: String] = [
        "error": "curlCode errno exitStatus httpStatus kind message reason",
        "timings": "connect firstByte nameLookup reusedConnection tls total",
        "attempt": """
        connectionReason connections ended httpVersion otherAddresses outcome received redirects remoteAddress started \
        timings
        """,
        "finished": """
        attempts bytes checksum effectiveURL error event file id path result state timings url verifiedBy version wasCurrent
        """,
        "change": """
        error event id name offset priority rateLimit reason received session state total url version waitingFor \
        waitingUntil
        """,
        "rejected": "event exitStatus file line message url version",
        "verified": "bytes checksum error event id path signedBy source verified version",
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
        acceptsRanges acceptsUnverified activeConnections attempts checksum connectionLimit connections contentType created describedBy \
        documentFailure \
        effectiveURL error etag file folder \
        headers id ifExists insecure isAttended lastModified name note options path percent priority proofStrength rateLimit \
        received session signedBy sources speed state total updated url verifiedBy version waitingFor waitingUntil \
        written
        """,
        "connection": "origin position speed",
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
        ("attempt", DownloadDocument.Attempt(AttemptRecord(started: .distantPast))),
        ("finished", FinishedDocument(EndedDownload(snapshot))),
        ("rejected", RejectedDocument(.cancelled)), ("verified", VerifiedDocument(VerifySubject(snapshot.record))),
        ("limited", LimitDocument(session: "", rateLimit: nil)),
        ("connection", ConnectionProgress(origin: "", position: 0, speed: 0)),
        ("source", DownloadDocument.Source(SourceStanding(url: ""))), ("setting", SettingDocument("connections", nil)),
        ("finding", Finding.ok(.files, "", "")), ("daemon", DaemonDocument(socket: "")),
        ("progress", ProgressDocument(ProgressFrame.Row(snapshot.progress))),
        ("total", TotalDocument(.init(downloads: 1, done: 0, failed: 0, received: 0))),
        ("manifest", ManifestEntry(snapshot, error: nil, of: nil, at: .distantPast)),
        ("manifestSummary", ManifestSummary()), ("count", ManifestSummary.Count(name: "", urls: 1)),
        ("queued", AddedToQueueDocument()), ("queue", QueueDocument(QueueCounts())),
        ("queueHost", QueueCounts.Host(name: "", queued: 0, leased: 0, workers: 0, isPaused: false)),
        ("queueWorker", QueueCounts.Worker(id: 1, name: "", leased: 0, secondsLeft: 0)),
        ("queueItem", QueueItemDocument(RecordedItem(["1", "", "0", "0", nil, nil, nil])!)),
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
        let others = ["change", "logged", "listed", "shown"]
        #expect(Set(Self.values.map(\.0) + others) == Set(Self.fields.keys))
        for (name, value) in Self.values {
            let fields = Mirror(reflecting: value).children.compactMap(\.label).sorted().joined(separator: " ")
            #expect(fields == Self.fields[name], "\(name)")
        }
        func names(_ fields: [DownloadDocument.Field]) -> String {
            fields.map(\.rawValue).sorted().joined(separator: " ")
        }
        #expect(names(DownloadDocument.Field.listed) == Self.fields["listed"])
        #expect(names(DownloadDocument.Field.shown) == Self.fields["shown"])
    }

    @Test("A download prints only the fields of its command")
    func download() throws {
        let mirrored = DownloadSnapshot(
            record: .example(state: .waiting(.schedule, until: Date())) {
                $0.request.mirrors = [.example("https://mirror.example.org/a")]
                $0.request.rateLimit = 1
                $0.attempts = [AttemptRecord(started: Date())]
            })
        for document in [DownloadDocument(row: mirrored, now: Date()), DownloadDocument(mirrored, now: Date())] {
            let keys = try Self.keys(document)
            #expect(keys.isSubset(of: document.fields.map(\.rawValue)))
            #expect(keys.isSuperset(of: ["version", "id", "state", "url", "received", "waitingFor", "created"]))
            #expect(keys.contains("sources") == keys.contains("headers"))
        }
    }

    @Test("A line about a change has the fields of its kind")
    func events() throws {
        let change = Set((Self.fields["change"] ?? "").split(separator: " ").map { String($0) })
        let logged = Set((Self.fields["logged"] ?? "").split(separator: " ").map { String($0) })
        var started = EventDocument("started", Self.snapshot, reason: "new")
        started.offset = 1
        let fields = Mirror(reflecting: started).children.compactMap(\.label)
        #expect(Set(fields) == change.union(logged))
        let failed = LoggedEvent(
            cursor: 1, time: Date(), kind: .failed, id: 1, name: "a", url: "https://h/a", session: "s",
            state: .waiting(.retry(.cancelled), until: Date()), received: 1, total: 2)
        #expect(try Self.keys(EventDocument(.event(failed), fate: .there)) == logged)
        #expect(try Self.keys(EventDocument(.didFinishEvents(1))) == ["version", "event", "cursor"])
        #expect(try Self.keys(started).isSubset(of: change))
        var paused = failed
        paused.kind = .waiting
        #expect(try Self.keys(try #require(EventDocument(paused))).isSubset(of: change))
    }

    private static func keys(_ document: any Document) throws -> Set<String> {
        let value = try JSONSerialization.jsonObject(with: Data(document.json.utf8))
        return Set(try #require(value as? [String: Any]).keys)
    }

    @Test("The schema names all fields")
    func schema() throws {
        let text = try DocumentationTests.text("docs/json-schema.json")
        let definitions = try JSONDecoder().decode(Schema.self, from: Data(text.utf8)).definitions
        let named = definitions.compactMapValues { $0.properties?.keys.sorted().joined(separator: " ") }
        #expect(named == Self.fields)
    }
}
