import DownloadCore
import Foundation
import GRDB
import DownloadTestSupport
import Testing

@testable import DownloadStorage

@Suite("SQLiteDownloadStore: a store of an earlier version", .inTurn)
struct MigrationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Fills the folder's store with the dump of that version.
    private func restore(_ version: Int) throws {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/v\(version).sql")
        let queue = try DatabaseQueue(path: folder.store)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: try String(contentsOf: fixture, encoding: .utf8))
        }
        try queue.close()
    }

    private func schema() throws -> Set<String> {
        let queue = try DatabaseQueue(path: folder.store)
        return try queue.read { db in
            let texts = try String.fetchAll(db, sql: "SELECT type || ' ' || name || sql FROM sqlite_master")
            return Set(texts.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") })
        }
    }

    @Test("A store of an earlier version opens with all its downloads", arguments: 1...Migrations.steps.count)
    func opens(version: Int) async throws {
        try restore(version)
        let store = try folder.open()
        let records = try await store.records(.all)
        let blank = DownloadRecord(
            id: 2, request: try Sample.request(), created: Date(timeIntervalSince1970: 1_740_000_000))
        var filled = try Sample.filled(blank)
        filled.session = "4711-abc"
        // Requests did not have these settings in that version.
        filled.request.trust = .insecure
        filled.request.http = HTTPOptions()
        filled.request.secretFiles = SecretFiles()
        filled.request.network = NetworkSettings()
        filled.request.redirect = RedirectPolicy(limit: 3)
        #expect(records.count == 4)
        #expect(records.first { $0.id == 2 } == filled)
        #expect(records.map(\.state.kind) == [.queued, .waiting, .completed, .failed])
        #expect(try await store.add([Sample.request("new")], session: "s")[0].record.id == 6)
    }

    @Test("A migrated store has the same schema as a new one", arguments: 1...Migrations.steps.count)
    func gains(version: Int) async throws {
        try restore(version)
        await (try folder.open()).close()
        let migrated = try schema()
        let fresh = try MigrationTests()
        await (try fresh.folder.open()).close()
        #expect(try migrated == fresh.schema())
    }

    @Test("The rows of version 1 are found by the new indexes, and their changes are logged")
    func oldRows() async throws {
        try restore(1)
        let store = try folder.open(isAlive: { _ in false })
        #expect(try await store.eventBounds() == (0, 0))
        #expect(try await store.queuedCount(session: "4711-abc") == 1)
        #expect(try await store.queued(session: "4711-abc", after: nil, limit: 9).map(\.id) == [1])
        let ended = DownloadSelection(.states([.completed, .failed]))
        #expect(try await store.records(ended).map(\.id) == [4, 5])
        try await store.releaseDeadSessions()
        try await store.requeue(session: "4711-abc")
        #expect(try await store.queued(session: "4711-abc", after: nil, limit: 9).map(\.id) == [2, 1])
        #expect(try await store.removeEnded(before: Date(), limit: 9).map(\.id) == [4, 5])
        let events = try await store.events(after: 0, limit: 9)
        #expect(events.map(\.kind) == [.paused, .resumed, .removed, .removed])
        #expect(events.map(\.name) == ["name (1).bin", "name (1).bin", "d.bin", "e"])
    }

    @Test("An item of the version before the index had segments is found by its URL")
    func oldItem() async throws {
        try restore(6)
        let store = try folder.open(isAlive: { _ in true })
        let old = try #require(try await store.records(.ids([1])).first)
        let again = try await store.add([old.request, Sample.request("new")], session: "4711-abc")
        #expect(again.map(\.kind) == [.joined, .inserted] && again[0].id == 1)
    }

    @Test("The intent of a small file that was about to get its name is kept")
    func intents() async throws {
        try restore(5)
        let store = try folder.open(isAlive: { _ in false })
        let record = try await store.claim([1], session: "me")[0].record
        #expect(record.isFinishing && record.fileName == "a")
        #expect(record.resume.total == 10 && record.resume.file == FileIdentity(inode: 7, born: 8))
    }

    @Test("The events of version 2 are kept")
    func oldEvents() async throws {
        try restore(2)
        let events = try await folder.open().events(after: 0, limit: 100)
        #expect(events.map(\.kind).prefix(3) == [.added, .added, .added])
        #expect(Set(events.map(\.kind)).isSuperset(of: [.waiting, .changed, .removed, .failed, .completed]))
        #expect(events.map(\.cursor) == Array(1...EventCursor(events.count)))
        #expect(events.last { $0.kind == .failed }?.state == .failed(.serverRefused(status: 404, phrase: "Not Found")))
    }

    /// The request's column as the last version without `RequestDocument` wrote it.
    private static let request = #"""
        {"destination":{"ifExists":"rename","createsFolders":true,"takesServerName":false,\#
        "keepsRemoteTime":true},"headers":[{"name":"X-Purpose","value":"a \"b\""},{"name":"Authorization"}],\#
        "http":{"method":"PUT","body":{},"userAgent":"me","referer":"","authentication":"digest",\#
        "upgradesKnownHosts":false},"credential":{"user":"me"},"secretFiles":{"netrc":"/home/me/netrc",\#
        "cookieJar":"/home/me/jar"},"checksum":{"algorithm":"md5","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"},\#
        "connectionLimit":8,"rateLimit":512000,"retry":{"limit":9,"delay":0.25,"maximumDelay":60.0,\#
        "statuses":"403,520-529"},"redirect":{"limit":3,"schemes":["https"]},"trust":{"verifiesServer":false,\#
        "minimumTLS":"1.3","ftpTLS":"required"},"network":{"proxy":{"url":"http://p:1",\#
        "credential":{"user":"you"}},"noProxy":"a,b","interface":"lo","addressFamily":"ipv6","httpVersion":"2",\#
        "addresses":[{"host":"a","port":443,"address":"[::1]"}],"nameServer":"https://dns/q"},\#
        "timeouts":{"connect":1.5,"stall":20.0,"total":3600.0},"acceptsUnverified":true,\#
        "validation":{"types":["image/*"],"statuses":"200,203","maximumSize":7168},"startsPaused":true,\#
        "hooks":{"onComplete":"/usr/bin/true","onError":"/usr/bin/false","urlCommand":"new link",\#
        "timeLimit":1.5},"followsMetalink":false,"location":"de","schedule":{"windows":[{"days":[0,1,2,3,4],\#
        "start":1320,"end":360}],"timeZone":"Europe/Berlin"},"pacing":2.5}
        """#

    @Test(
        "A download that an older version paused at 97 % keeps everything, and its missing secrets are named"
    )
    func pausedNearItsEnd() async throws {
        try restore(4)
        let queue = try DatabaseQueue(path: folder.store)
        try await queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO download (id, state, priority, folder, askedName, fileName, url, received, total, created,
                        updated, stateDetail, resume, request)
                    VALUES (9, 'paused', -3, '/home/me', NULL, 'a', 'https://example.org/a?x=1', 97, 100, 1740000000000,
                        1740000000000, '{"paused":{"_0":"user"}}', '{"acceptsRanges":true,"durable":[[0,97]],
                        "total":100,"validators":{"etag":{"isWeak":false,"opaque":"v1"},"lastModifiedIsStrong":false},
                        "written":[[0,97]]}', ?)
                    """, arguments: [Self.request])
        }
        try queue.close()
        let record = try #require(try await folder.open().records(.ids([9])).first)
        #expect(record.received == 97 && record.resume.total == 100)
        let request = record.request
        #expect(
            request.missingSecrets == [
                "Authorization", "the password of me", "the data to send", "the password for the proxy",
            ])
        #expect(try RequestCoder().encode(request) == Self.request)
        // The two most important fields: what the file must be, and how the server is trusted.
        #expect(request.checksum?.description == "md5:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd")
        #expect(request.trust.minimumTLS == .tls13 && !request.trust.verifiesServer)
        #expect(request.connections == DownloadRequest.automaticConnections(upTo: 8))
        #expect(request.priority == -3 && request.hooks?.timeLimit == 1.5 && request.pacing == 2.5)
        #expect(request.secretFiles.netrc == "/home/me/netrc" && request.secretFiles.cookieJar == "/home/me/jar")
    }
}
