import DownloadCore
import Foundation
import GRDB
import DownloadTestSupport
import Testing

@testable import DownloadStorage

@Suite("SQLiteDownloadStore: a store that cannot be used", .inTurn)
struct StoreFailureTests {
    let folder = TemporaryFolder()

    /// Tries to open the store, and returns the message of the error.
    private func message(_ path: String? = nil) throws -> String {
        do {
            _ = try SQLiteDownloadStore(folder: path ?? folder.path, isAlive: { _ in true })
        } catch {
            #expect(error.exitStatus == 12)
            guard case .sessionUnavailable(.storeUnreadable(_, let message)) = error else {
                Issue.record("another error: \(error)")
                return ""
            }
            #expect(!message.contains("\n"))
            return message
        }
        Issue.record("it opened")
        return ""
    }

    /// Returns the downloads of the store after the damage, and what was said about its rescue.
    private func rescued() async throws -> (count: Int, notices: [String]) {
        let notices = Observed<[String]>([])
        let store = try SQLiteDownloadStore(folder: folder.path, isAlive: { _ in true }) { notice in
            notices.update { $0.append(notice) }
        }
        let count = try await store.records(.all).count
        await store.close()
        return (count, notices.value)
    }

    private func addDownloads(_ count: Int) async throws {
        let store = try folder.open()
        _ = try await store.add((0..<count).map { try Sample.request("\($0)") }, session: "s")
        await store.close()
    }

    /// Overwrites the store from an offset.
    private func overwrite(_ bytes: Data, at offset: UInt64) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.store))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: bytes)
        try file.close()
    }

    @Test("A file that is not a database is moved aside, and the report is kept beside it")
    func noDatabase() async throws {
        let text = Data(repeating: 0x41, count: 5000)
        try text.write(to: URL(fileURLWithPath: folder.store))
        let (count, notices) = try await rescued()
        #expect(count == 0)
        #expect(notices.count == 1 && notices[0].hasPrefix("\(folder.store): the store was damaged; it is kept as "))
        #expect(StoreCheck.health(ofStoreIn: folder.path).rescues == notices)
        let aside = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .first { $0.contains(".damaged-") && !$0.hasSuffix(".txt") }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + (aside ?? ""))) == text)
        #expect(try await rescued().notices == [])
    }

    @Test("All downloads are rescued if only the first bytes of the store are damaged", arguments: [100, 3000])
    func damagedHeader(length: Int) async throws {
        try await addDownloads(200)
        try overwrite(Data(repeating: 0x5A, count: length), at: 0)
        let (count, notices) = try await rescued()
        #expect(count == 200)
        #expect(notices.first?.contains("and 200 of its downloads were rescued") == true)
        #expect(try await rescued().count == 200)
    }

    @Test("The downloads that can be read are rescued if pages in the middle of the store are damaged")
    func damagedPages() async throws {
        try await addDownloads(2000)
        let size = try #require(
            try FileManager.default.attributesOfItem(atPath: folder.store)[.size] as? UInt64)
        let page = UInt64(StoreFile.pageSize)
        // Some of the pages are of indexes, which nothing reads here.
        try overwrite(Data(repeating: 0xFF, count: 8 * StoreFile.pageSize), at: size / 2 / page * page)
        let (count, notices) = try await rescued()
        #expect((1000...1999).contains(count) && notices.count == 1, "\(count) \(notices)")
    }

    @Test("After a rescue, nothing that had ended is queued again")
    func lostDetails() async throws {
        let store = try folder.open()
        let records = try await store.add((0..<2000).map { try Sample.request("\($0)") }, session: "background")
        let ended = records.map { added in
            var record = added.record
            record.state = .cancelled
            record.session = nil
            return record
        }
        _ = try await store.save(ended, session: "background")
        let pages = try await store.database.read { db in
            try Int.fetchAll(
                db, sql: "SELECT pageno FROM dbstat WHERE name = 'detail' AND pagetype = 'leaf' ORDER BY pageno")
        }
        await store.close()
        for page in pages[5..<10] {
            try overwrite(Data(repeating: 0xFF, count: StoreFile.pageSize), at: UInt64((page - 1) * StoreFile.pageSize))
        }
        let rescued = try folder.open()
        #expect(try await rescued.queuedCount(session: "background") == 0)
        let states = try await rescued.records(.all).map(\.state.kind)
        #expect(states.count == 2000 && Set(states) == [.cancelled, .paused])
    }

    @Test("A rescue ends soon if the first pages of all tables are damaged", .timeLimit(.minutes(1)))
    func damagedTables() async throws {
        try await addDownloads(200)
        // Random bytes let SQLite believe in rows that are not there.
        var random = SplitMix64(seed: 7)
        try overwrite(
            Data((0..<5 * StoreFile.pageSize).map { _ in UInt8.random(in: 0...255, using: &random) }),
            at: UInt64(StoreFile.pageSize))
        #expect(try await rescued().notices.count == 1)
    }

    @Test("A damage that is noticed by a call is repaired by the same call")
    func damaged() async throws {
        try await addDownloads(200)
        let size = try #require(
            try FileManager.default.attributesOfItem(atPath: folder.store)[.size] as? UInt64)
        try overwrite(Data(repeating: 0xFF, count: Int(size) - StoreFile.pageSize), at: UInt64(StoreFile.pageSize))
        let (count, notices) = try await rescued()
        #expect(count == 0)
        #expect(notices.count == 1)
    }

    @Test("A store of a newer version is refused and not changed")
    func newer() async throws {
        try await folder.open().close()
        try folder.execute("PRAGMA user_version = 99")
        #expect(
            try message()
                == "made by a newer version of this program (schema 99, this one supports up to "
                + "\(Schema.version)); update the program")
    }

    @Test("A store of a program before the first release is refused and not changed, with what to do")
    func unreleased() async throws {
        try folder.execute(
            "CREATE TABLE download (id INTEGER); PRAGMA application_id = 1684827441; PRAGMA user_version = 8")
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.store))
        let text = try message()
        #expect(
            text.hasPrefix("was made by a version of this program before 0.1.0; finish its downloads with that version")
        )
        #expect(text.contains("mv "))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store)) == before)
    }

    @Test("Once a newer program has changed the store, nothing is added, but running downloads are still recorded")
    func becameNewer() async throws {
        let store = try folder.open()
        var record = try await store.add([Sample.request("a")], session: "s")[0].record
        try folder.execute("PRAGMA user_version = 99")
        let error = await #expect(throws: DownloadError.self) {
            try await store.add([Sample.request("b")], session: "s")
        }
        #expect(error?.description.contains("end this session and try again") == true)
        record.state = .running
        #expect(try await store.save([record], session: "s") == [])
        #expect(try await store.records(.all).map(\.state) == [.running])
    }

    @Test("Another program's database is refused, and neither its content nor its mode nor its journal is changed")
    func foreign() async throws {
        try folder.execute("CREATE TABLE theirs (id INTEGER)")
        try #require(chmod(folder.store, 0o644) == 0)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.store))
        #expect(try message().hasPrefix("is a database of another program; move it away"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store)) == bytes)
        var information = stat()
        #expect(stat(folder.store, &information) == 0 && information.st_mode & 0o777 == 0o644)
        #expect(stat(folder.store + "-wal", &information) != 0)
    }

    @Test("A state folder that cannot be created is reported")
    func impossibleFolder() throws {
        #expect(try message("/dev/null/state").hasPrefix("Not a directory; set XDG_STATE_HOME"))
        #expect(try message("/proc/self/state").hasPrefix("No such file or directory; set XDG_STATE_HOME"))
        try Data().write(to: URL(fileURLWithPath: folder.path + "/file"))
        #expect(try message(folder.path + "/file").hasPrefix("is not a folder; set XDG_STATE_HOME"))
    }

    @Test("A folder in the place of the store is reported")
    func folderInPlace() throws {
        try FileManager.default.createDirectory(atPath: folder.store, withIntermediateDirectories: false)
        #expect(try message().hasPrefix("is not a regular file; move it away"))
    }

    @Test(
        "Errors of SQLite are reported with what to do",
        arguments: [
            (ResultCode.SQLITE_FULL, true, "no space left on the device; free some and try again"),
            (.SQLITE_FULL, false, "/nowhere/a b.sqlite: no space left on the device"),
            (.SQLITE_BUSY, false, "another process keeps it locked for more than 10 s; try again"),
            (.SQLITE_IOERR_WRITE, false, "check the space left (df), the file size limit (ulimit -f) and the disk"),
            (.SQLITE_CORRUPT, false, "malformed; the next command rescues it"),
            (.SQLITE_READONLY, false, "No such file or directory; check who owns it"),
        ])
    func words(code: ResultCode, isOpening: Bool, expected: String) {
        let failure = StoreFailure(path: "/nowhere/a b.sqlite", isOpening: isOpening)
        #expect(failure.error(DatabaseError(resultCode: code)).description.contains(expected))
    }
}
