import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore

@Suite("Finisher: from all bytes to the final name", .inTurn, .timeLimit(.minutes(1)))
struct FinisherTests {
    /// A store, a folder, and whole files that wait for their names.
    private struct Bench {
        let folder: TemporaryFolder
        let store: SaveLog
        let finisher: Finisher

        init(_ trouble: SaveLog.Trouble = .init()) throws {
            folder = try TemporaryFolder()
            store = SaveLog(trouble)
            finisher = Finisher(store: store, session: "own", disk: DiskWriter(pool: BufferPool())) { _, _ in }
        }

        func job(_ name: String, replaces: Bool = false, renames: Bool = false) async throws -> Finisher.Job {
            let url = try SourceURL.parse("http://example.org/\(name)").get().url
            let request = DownloadRequest(url: url, destination: Destination(folder: folder.path))
            var record = try await store.add([request], session: "own")[0].record
            record.move(to: .running)
            let file = try PartialFile.open(folder: folder.path, name: name, mode: .create)
            Array(name.utf8).withUnsafeBytes { file.write($0, at: 0) }
            record.fileName = name
            record.resume.total = Int64(name.utf8.count)
            record.resume.written = file.written
            record.resume.validators = Validators(etag: EntityTag(opaque: "v"))
            record.resume.file = file.identity
            return Finisher.Job(record: record, file: file, replaces: replaces, renames: renames)
        }
    }

    private func finish(_ job: Finisher.Job, _ finisher: Finisher) async -> Result<DownloadRecord, DownloadError> {
        do throws(DownloadError) { return .success(try await finisher.finish(job)) } catch { return .failure(error) }
    }

    @Test("The mark comes before the rename, and completed after it; the file is synced before both")
    func order() async throws {
        let bench = try Bench()
        defer { bench.folder.remove() }
        let job = try await bench.job("a")
        let seen = Mutex<[String]>([])
        bench.store.change { trouble in
            trouble.beforeSave = { records in
                let names = bench.folder.names().joined(separator: " ")
                let word = records[0].isFinishing ? "finishing" : records[0].state.kind.rawValue
                seen.withLock { $0.append("\(word): \(names), \(job.file.durable.count)") }
            }
        }
        let record = try await bench.finisher.finish(job)
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

    @Test("Those that come together share their saves, and one that fails does not hold up the others")
    func batch() async throws {
        let gate = Gate()
        let bench = try Bench(.init(beforeSave: { _ in await gate.pass() }))
        defer { bench.folder.remove() }
        let calls = Mutex(0)
        var jobs: [Finisher.Job] = []
        for number in 0..<30 { jobs.append(try await bench.job("file\(number)")) }
        try bench.folder.write("mine", to: "file7")
        try FileManager.default.removeItem(atPath: bench.folder("file8.part"))
        bench.store.change { trouble in
            trouble.beforeSave = { _ in
                calls.withLock { $0 += 1 }
                await gate.pass()
            }
        }
        let results = await withTaskGroup(of: (Int, Result<DownloadRecord, DownloadError>).self) { group in
            for (number, job) in jobs.enumerated() {
                group.addTask { (number, await finish(job, bench.finisher)) }
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

    @Test("What another session owns gets no name", arguments: [true, false])
    func lost(isStoreBroken: Bool) async throws {
        let bench = try Bench()
        defer { bench.folder.remove() }
        let job = try await bench.job("a")
        bench.store.change { trouble in
            if isStoreBroken {
                trouble.beforeSave = { _ in throw DownloadError.unexpected("full") }
            } else {
                trouble.lost = [job.record.id]
            }
        }
        let result = await finish(job, bench.finisher)
        if isStoreBroken {
            #expect(result == .failure(.unexpected("full")))
        } else {
            #expect(result == .failure(.sessionUnavailable(.ownedElsewhere(job.record.id, session: "another"))))
        }
        #expect(bench.folder.names() == ["a.part"])
    }

    @Test("A name that was taken meanwhile gives way where that is allowed, or is replaced where that was asked")
    func taken() async throws {
        let bench = try Bench()
        defer { bench.folder.remove() }
        try bench.folder.write("mine", to: "a.txt")
        try bench.folder.write("mine", to: "b.txt")
        let renamed = try await bench.finisher.finish(try await bench.job("a.txt", renames: true))
        #expect(renamed.fileName == "a (1).txt")
        #expect(try bench.folder.read("a (1).txt") == "a.txt")
        #expect(try bench.folder.read("a.txt") == "mine")
        _ = try await bench.finisher.finish(try await bench.job("b.txt", replaces: true))
        #expect(try bench.folder.read("b.txt") == "b.txt")
        #expect(bench.folder.names() == ["a (1).txt", "a.txt", "b.txt"])
    }
}
