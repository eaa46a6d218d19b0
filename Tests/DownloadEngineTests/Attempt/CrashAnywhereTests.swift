import DownloadSystem
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// A process may die at any moment. A download goes through failures and changes, while the state of its store and
/// folder is copied again and again. A next process must turn each of these copies into the right file.
@Suite("A process that dies at any moment", .inTurn, .timeLimit(.minutes(2)))
struct CrashAnywhereTests {
    /// What a next process would find if the process died now.
    struct Moment: Sendable {
        let record: DownloadRecord
        let files: [String: Data]
    }

    /// Copies the state before each save, and at intervals while bytes arrive.
    private final class Witness: Sendable {
        let moments = Mutex<[Moment]>([])
        private let stored = Mutex<(record: DownloadRecord?, saves: Int)>((nil, 0))
        private weak let folder: TemporaryFolder?

        init(_ folder: TemporaryFolder) { self.folder = folder }

        func look() {
            let before = stored.withLock { $0 }
            guard let folder, let record = before.record else { return }
            var files: [String: Data] = [:]
            for name in folder.names() { files[name] = try? Data(contentsOf: URL(fileURLWithPath: folder(name))) }
            // If another thread has saved meanwhile, record and files do not belong to the same moment.
            guard stored.withLock({ $0.saves }) == before.saves else { return }
            moments.withLock { $0.append(Moment(record: record, files: files)) }
        }

        func saves(_ record: DownloadRecord) {
            look()
            stored.withLock { $0 = (record, $0.saves + 1) }
        }
    }

    private static let old = FaultReply(Content(seed: 1, size: 6_000_000), etag: "\"a\"")
    private static let new = FaultReply(Content(seed: 2, size: 6_000_000), etag: "\"b\"")
    /// Two versions that differ in nothing but their bytes.
    private static let oldBare = FaultReply(Content(seed: 1, size: 6_000_000))
    private static let newBare = FaultReply(Content(seed: 2, size: 6_000_000))

    @Test(
        "Whenever the process dies, the next process makes one version of the file, and never a mixture",
        arguments: [1, 3], [true, false])
    func anyMoment(connections: Int, hasValidators: Bool) async throws {
        let (old, new) = hasValidators ? (Self.old, Self.new) : (Self.oldBare, Self.newBare)
        let folder = try TemporaryFolder()
        let witness = Witness(folder)
        let store = GatedStore(.init(beforeSave: { records in witness.saves(records[0]) }))
        let bench = try await SessionBench(store: store) { _, asked in
            // The first three answers are cut off. The server has another version for the requests 3 to 7, and then
            // the first version again. Each time some bytes are on disk.
            switch asked.number {
            case 1: .reply(old.with { $0.cut = .close(after: 2_000_000) })
            case 2: .reply(old.with { $0.cut = .close(after: 1_000_000) })
            case 3: .reply(new.with { $0.cut = .close(after: 2_000_000) })
            case 4...7: .reply(new)
            default: .reply(old)
            }
        }
        bench.transport.onTaken.withLock { $0 = { total in if total % 60 == 0 { witness.look() } } }
        let id = try await bench.add {
            $0.destination.folder = folder.path
            $0.connections = .fixed(connections)
        }
        #expect(try await bench.ending(of: id).state == .completed)
        witness.look()
        let moments = witness.moments.withLock { $0 }
        #expect(moments.count > 10)
        for (number, moment) in moments.enumerated() {
            for reply in [old, new] { try await expectRight(moment, number, reply, connections) }
        }
    }

    private func expectRight(_ moment: Moment, _ number: Int, _ reply: FaultReply, _ connections: Int) async throws {
        if moment.record.state == .completed { return }
        let next = try await SessionBench(serving: reply)
        for (name, bytes) in moment.files { try bytes.write(to: URL(fileURLWithPath: next.folder(name))) }
        let id = try await next.takeOver(try next.request { $0.connections = .fixed(connections) }) { record in
            let fresh = record
            record = moment.record
            record.id = fresh.id
            record.request = fresh.request
            record.session = fresh.session
            // The copied files have other identities and times than the originals.
            let present = FileStatus.of(next.folder("file.bin.part")) ?? FileStatus.of(next.folder("file.bin"))
            if record.resume.file != nil { record.resume.file = present?.identity ?? record.resume.file }
            if record.resume.modified != nil { record.resume.modified = present?.modified }
            if record.resume.device != nil { record.resume.device = FileStatus.of(next.folder.path)?.device }
            record.state = .running
        }
        let record = try await next.ending(of: id)
        #expect(record.state == .completed, "moment \(number): \(record.state)")
        guard record.state == .completed else { return }
        // If only the final name was missing, the server is not asked, and the file is the version that was fetched.
        let contents = next.ranges.isEmpty ? [Self.old.content, Self.new.content] : [reply.content]
        #expect(try contents.contains { try next.holds("file.bin", $0) }, "moment \(number): a mixture")
    }
}
