import DownloadSystem
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("Committer: from the last byte to the final name", .inTurn, .timeLimit(.minutes(1)))
struct CommitterTests {
    /// A store, a folder, and complete files that wait for their names.
    private struct Bench {
        let folder: TemporaryFolder
        let store: GatedStore
        let committer: Committer

        init(_ trouble: GatedStore.Gates = .init()) throws {
            folder = try TemporaryFolder()
            store = GatedStore(trouble)
            committer = Committer(store: store, session: "own") { _, _ in }
        }

        func whole(_ name: String, replaces: Bool = false, renames: Bool = false) async throws -> Whole {
            let url = try SourceURL.parse("http://example.org/\(name)").get().url
            let request = DownloadRequest(url: url, destination: Destination(folder: folder.path))
            var record = try await store.add([request], session: "own")[0].record
            record.move(to: .running)
            let file = try PartialFile.open(folder: folder.path, name: name, mode: .create, followsLinks: true)
            Array(name.utf8).withUnsafeBytes { file.write($0, at: 0) }
            record.fileName = name
            record.resume.total = Int64(name.utf8.count)
            record.resume.written = file.written
            record.resume.validators = Validators(etag: EntityTag(opaque: "v"))
            record.resume.file = file.identity
            return Whole(record: record, file: file, rule: NameRule(name: name, replaces: replaces, renames: renames))
        }
    }

    private struct Whole: Sendable {
        let record: DownloadRecord
        var file: any WholeFile
        let rule: NameRule
    }

    private func commit(_ whole: Whole, _ bench: Bench) async -> Result<DownloadRecord, DownloadError> {
        do throws(DownloadError) {
            return .success(try await bench.committer.commit(whole.record, whole.file, whole.rule))
        } catch {
            return .failure(error)
        }
    }

    @Test("The record is marked before the rename and completed after it; the file is synced before both")
    func order() async throws {
        let bench = try Bench()
        let whole = try await bench.whole("a")
        let file = try #require(whole.file as? PartialFile)
        let seen = Mutex<[String]>([])
        bench.store.change { trouble in
            trouble.beforeSave = { [weak folder = bench.folder] records in
                let names = folder?.names().joined(separator: " ") ?? ""
                let word = records[0].isFinishing ? "finishing" : records[0].state.kind.rawValue
                seen.withLock { $0.append("\(word): \(names), \(file.durable.count)") }
            }
        }
        let record = try await commit(whole, bench).get()
        #expect(seen.withLock { $0 } == ["finishing: a.part, 1", "completed: a, 1"])
        #expect(bench.store.durable.map(\.isFinishing) == [true])
        #expect(record.state == .completed)
        #expect(record.session == nil)
        #expect(!record.isFinishing)
        #expect(record.completed?.path == bench.folder("a"))
        #expect(record.completed?.validators.etag?.opaque == "v")
        #expect(record.resume.written.isEmpty)
        #expect(try bench.folder.read("a") == "a")
    }

    @Test("Files that are ready together share their saves, and a failure of one does not delay the others")
    func batch() async throws {
        let gate = StoreGate()
        let bench = try Bench(.init(beforeSave: { _ in await gate.pass() }))
        let calls = Mutex(0)
        var files: [Whole] = []
        for number in 0..<30 { files.append(try await bench.whole("file\(number)")) }
        try bench.folder.write("mine", to: "file7")
        try FileManager.default.removeItem(atPath: bench.folder("file8.part"))
        bench.store.change { trouble in
            trouble.beforeSave = { _ in
                calls.withLock { $0 += 1 }
                await gate.pass()
            }
        }
        let results = await withTaskGroup(of: (Int, Result<DownloadRecord, DownloadError>).self) { group in
            for (number, file) in files.enumerated() {
                group.addTask { (number, await commit(file, bench)) }
            }
            gate.open()
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for number in 0..<30 {
            switch (number, results[number]) {
            case (7, .failure(let error)?): #expect(error == .fileFailed(.exists, path: bench.folder("file7")))
            case (8, .failure(let error)?): #expect(error == .fileFailed(.deleted, path: bench.folder("file8.part")))
            case (_, .success(let record)?): #expect(record.state == .completed)
            default: Issue.record("\(number): \(String(describing: results[number]))")
            }
        }
        #expect(try bench.folder.read("file7") == "mine")
        #expect(calls.withLock { $0 } < 30)
    }

    @Test(
        "A file gets no final name if the store fails or another session owns the download", arguments: [true, false])
    func lost(isStoreBroken: Bool) async throws {
        let bench = try Bench()
        let whole = try await bench.whole("a")
        bench.store.change { trouble in
            if isStoreBroken {
                trouble.beforeSave = { _ in throw DownloadError.unexpected("full") }
            } else {
                trouble.loses = { $0.id == whole.record.id }
            }
        }
        let result = await commit(whole, bench)
        if isStoreBroken {
            #expect(result == .failure(.unexpected("full")))
        } else {
            #expect(result == .failure(.sessionUnavailable(.ownedElsewhere(whole.record.id, session: "another"))))
        }
        #expect(bench.folder.names() == ["a.part"])
    }

    /// A fake file without content that records the calls it gets.
    private final class NotedFile: WholeFile {
        let device: UInt64 = 1
        let folderKey = FolderKey(path: "/folder")
        private let calls: Observed<[String]>
        private let isFolderBroken: Bool

        init(_ calls: Observed<[String]>, isFolderBroken: Bool = false) {
            self.calls = calls
            self.isFolderBroken = isFolderBroken
        }

        private func note(_ call: String) { calls.update { $0.append(call) } }

        func sync() { note("sync") }
        func syncFileSystem() { note("syncfs") }
        func forgetUnsynced(_ error: DownloadError) { note("forget") }

        func takeName(_ rule: NameRule) -> String {
            note("name")
            return rule.name
        }

        func syncFolder() throws(DownloadError) {
            note("folder")
            if isFolderBroken { throw .fileFailed(.system(operation: "fsync", errno: EIO), path: "/folder") }
        }

        func status() throws(DownloadError) -> FileStatus.Info {
            guard let status = FileStatus.of("/dev/null") else { throw .unexpected("no /dev/null") }
            return status
        }
    }

    @Test("A file is completed after the sync of its folder, and not if that sync fails")
    func folder() async throws {
        for isFolderBroken in [false, true] {
            let bench = try Bench()
            let calls = Observed<[String]>([])
            bench.store.change { trouble in
                trouble.beforeSave = { records in
                    calls.update { $0.append(records[0].isFinishing ? "finishing" : records[0].state.kind.rawValue) }
                }
            }
            var whole = try await bench.whole("a")
            whole.file = NotedFile(calls, isFolderBroken: isFolderBroken)
            let result = await commit(whole, bench)
            #expect(
                calls.value == ["sync", "finishing", "name", "folder"] + (isFolderBroken ? [] : ["completed"]))
            #expect((try? result.get().state) == (isFolderBroken ? nil : .completed))
        }
    }

    @Test("Files that are ready together share one sync of their file system and one of their folder")
    func shared() async throws {
        let gate = StoreGate()
        let bench = try Bench()
        let calls = Observed<[String]>([])
        var files: [Whole] = []
        for number in 0..<20 {
            var whole = try await bench.whole("file\(number)")
            whole.file = NotedFile(calls)
            files.append(whole)
        }
        // The first file blocks the committer until all others are ready.
        bench.store.change { trouble in
            trouble.beforeSave = { _ in
                calls.update { $0.append("save") }
                await gate.pass()
            }
        }
        let first = Task { [files] in await commit(files[0], bench) }
        #expect(await calls.wait { $0.contains("save") })
        let clients = Observed<[CheckedContinuation<Committer.Job, Never>]>([])
        await withTaskGroup(of: Committer.Job.self) { group in
            for _ in files.dropFirst() {
                group.addTask { await withCheckedContinuation { client in clients.update { $0.append(client) } } }
            }
            #expect(await clients.wait { $0.count == 19 })
            bench.committer.add(
                zip(files.dropFirst(), clients.value).map { file, client in
                    Committer.Job(.download(file.record, client), file: file.file, rule: file.rule)
                })
            gate.open()
            for await job in group { #expect(job.failure == nil && job.record.state == .completed) }
        }
        #expect(try await first.value.get().state == .completed)
        let counts = Dictionary(calls.value.map { ($0, 1) }, uniquingKeysWith: +)
        #expect(counts == ["sync": 1, "save": 3, "syncfs": 1, "name": 20, "folder": 2])
    }
}
