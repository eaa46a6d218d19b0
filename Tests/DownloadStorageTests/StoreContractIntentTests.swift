import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

/// The row of a small file is not written again until the file has its final name. Before that, its session saves an
/// intent, which must not be lost.
@Suite("Every store: small files that are about to get their names", .inTurn)
struct StoreContractIntentTests {
    let folder = TemporaryFolder()

    /// Adds a download to the session and saves it as about to get its name.
    private func marked(
        in store: any DownloadStore, of session: String = "dead", verified: VerifiedChecksum? = nil
    ) async throws -> DownloadRecord {
        var record = try await store.add([Sample.request()], session: session)[0].record
        record.state = .running
        record.isFinishing = true
        record.fileName = "a (1)"
        record.resume.total = 10
        record.resume.validators = Validators(etag: EntityTag(opaque: "v1"))
        record.resume.file = FileIdentity(inode: 7, born: 8)
        (record.resume.digest, record.resume.verified) = (verified?.checksum, verified)
        #expect(try await store.saveAsSession([record], session: session, durably: true) == [])
        return record
    }

    @Test("The digest of a small file is kept before it has its name, and afterwards", arguments: StoreKind.allCases)
    func verified(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var checksum = Checksum(algorithm: .crc64nvme, digest: "05e5cabb3fc1faeb")
        checksum.field = "x-amz-checksum-crc64nvme"
        let verified = VerifiedChecksum(checksum, by: .server)
        let record = try await marked(in: store, verified: verified)
        let finishing = try #require(try await store.records(.ids([record.id])).first)
        #expect(finishing.isFinishing && finishing.resume.verified == verified)
        let file = try #require(SmallFile(record, of: "dead"))
        file.take(path: "/home/me/a (1)", bytes: 10, identity: FileIdentity(inode: 7, born: 8), modified: 9)
        file.end(at: record.created)
        let refused = try await store.save(SmallFiles(completed: [file]), [], session: "dead", durably: true)
        #expect(refused.isEmpty)
        let completed = try #require(try await store.records(.ids([record.id])).first)
        #expect(completed.state == .completed && completed.completed?.verified == verified)
        #expect(completed.completed?.checksum?.field == checksum.field)
    }

    enum Heir: CaseIterable { case claim, add, remove, change, release, requeue }

    @Test(
        "A session that adopts a download of a dead session knows the file",
        arguments: StoreKind.allCases, Heir.allCases)
    func taken(kind: StoreKind, heir: Heir) async throws {
        let store = try kind.make(in: folder)
        // `releaseDeadSessions` pauses a queued download only if it belongs to a dead foreground session.
        let record = try await marked(in: store, of: heir == .release ? "foreground-dead" : "dead")
        let found: DownloadRecord
        switch heir {
        case .claim: found = try await store.claim([record.id], session: "me")[0].record
        case .add: found = try await store.add([Sample.request()], session: "me")[0].record
        case .remove: found = try await store.remove([record.id], session: "me") { _ in }[0]
        case .change: found = try await store.change([record.id], .priority(3), session: "me")[0].record
        case .release:
            try await store.releaseDeadSessions()
            found = try await store.records(.all)[0]
            #expect(found.state == .paused(.interrupted))
        case .requeue:
            try await store.requeue(session: "dead")
            found = try await store.queued(session: "dead", after: nil, excluding: [], limit: 1)[0].record
        }
        #expect(found.isFinishing)
        #expect(found.fileName == record.fileName)
        #expect(found.resume == record.resume)
    }

    @Test("A later save of the session replaces the intent", arguments: StoreKind.allCases, [true, false])
    func superseded(kind: StoreKind, isCompleted: Bool) async throws {
        let store = try kind.make(in: folder)
        var record = try await marked(in: store)
        record.isFinishing = false
        record.fileName = "b"
        record.resume = ResumeData()
        record.state = isCompleted ? .completed : .paused(.user)
        if !isCompleted { record.resume.written = ByteRanges([0..<5]) }
        #expect(try await store.saveAsSession([record], session: "dead") == [])
        try await store.releaseDeadSessions()
        let claimed = try await store.claim([record.id], session: "me", includingCompleted: true)[0].record
        #expect(!claimed.isFinishing)
        #expect(claimed.fileName == "b")
        #expect(claimed.resume == record.resume)
    }

    @Test("The intent of another session's download is refused", arguments: StoreKind.allCases)
    func foreign(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let record = try await marked(in: store)
        _ = try await store.claim([record.id], session: "me")
        #expect(try await store.saveAsSession([record], session: "dead", durably: true) == [record.id])
    }

    @Test("The start and the completion of a small file are logged", arguments: StoreKind.allCases)
    func events(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var record = try await marked(in: store)
        record.isFinishing = false
        record.state = .completed
        // No small file has a checksum of the user.
        record.completed = CompletedFile(
            path: "/home/me/a (1)", bytes: 10, identity: FileIdentity(inode: 7, born: 8), modified: 9,
            validators: Validators(), checksum: Checksum(algorithm: .md5, digest: String(repeating: "a", count: 32)))
        #expect(try await store.saveAsSession([record], session: "dead") == [])
        let events = try await store.events(after: 0, limit: 9)
        #expect(events.map(\.kind) == [.added, .started, .completed])
        #expect(events.map(\.total) == [nil, 10, 10])
        #expect(events[1].state == .running && events[1].session == "dead")
    }
}
