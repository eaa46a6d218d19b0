import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// The process died between two steps. The next process finds the record and the folder of that point, and must handle
/// both correctly.
@Suite("Downloads whose process died", .inTurn, .timeLimit(.minutes(1)))
struct CrashTests {
    static let content = Content(seed: 1, size: 900_000)

    /// The last step of the dead process.
    enum Point: String, Sendable, CaseIterable, CustomTestStringConvertible {
        case beforePartial, emptyPartial, unrecordedBytes, half, whole, wholeButUnrecorded, finishing, renamed
        case renamedToAlternative, linkedTwice

        var testDescription: String { rawValue }

        /// The ranges that the next process requests. Empty if all bytes are there.
        var asks: [String] {
            switch self {
            case .beforePartial, .emptyPartial, .unrecordedBytes: ["0-"]
            case .half: [rest(from: 450_000)]
            case .wholeButUnrecorded: [rest(from: 800_000)]
            case .whole, .finishing, .renamed, .renamedToAlternative, .linkedTwice: []
            }
        }
    }

    @Test(
        "At whatever point the process died, the next one makes the right file and fetches only unrecorded bytes",
        arguments: Point.allCases, [true, false])
    func resumes(at point: Point, hasChecksum: Bool) async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let request = try bench.request {
            if hasChecksum { $0.checksum = Checksum(algorithm: .sha256, digest: Self.content.sha256) }
            if point == .renamedToAlternative { $0.destination.ifExists = .rename }
        }
        let id = try await bench.takeOver(request) { record in try Self.leave(point, &record, in: bench.folder) }
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed, "\(record.state)")
        let name = point == .renamedToAlternative ? "file (1).bin" : "file.bin"
        #expect(record.completed?.path == bench.folder(name))
        #expect(try bench.holds(name, Self.content))
        #expect(bench.folder.names() == (point == .renamedToAlternative ? ["file (1).bin", "file.bin"] : ["file.bin"]))
        #expect(bench.ranges == point.asks)
        #expect(record.session == nil)
        #expect(!record.isFinishing)
        #expect(record.resume.written.isEmpty)
    }

    @Test("After a reboot only synced bytes are trusted")
    func otherBoot() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let id = try await bench.takeOver(try bench.request()) { record in
            try Self.leave(.half, &record, in: bench.folder)
            record.resume.durable = ByteRanges([0..<100_000])
            record.resume.bootID = "another"
        }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.ranges == [rest(from: 100_000)])
        #expect(try bench.holds("file.bin", Self.content))
    }

    @Test("If the record has bytes that the file lacks, they are fetched again")
    func truncated() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let id = try await bench.takeOver(try bench.request()) { record in
            try Self.leave(.half, &record, in: bench.folder)
            #expect(truncate(bench.folder("file.bin.part"), 200_000) == 0)
        }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.ranges == [rest(from: 200_000)])
        #expect(try bench.holds("file.bin", Self.content))
    }

    @Test("A truncated file under the final name is neither accepted as complete nor replaced")
    func renamedAndCut() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let id = try await bench.takeOver(try bench.request()) { record in
            try Self.leave(.renamed, &record, in: bench.folder)
            #expect(truncate(bench.folder("file.bin"), 200_000) == 0)
        }
        #expect(
            try await bench.ending(of: id).state == .failed(.fileFailed(.exists, path: bench.folder("file.bin"))))
        #expect(try bench.folder.size(of: "file.bin") == 200_000)
    }

    @Test("If the partial file was deleted, the download starts over and sends an event about this")
    func deleted() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let id = try await bench.takeOver(try bench.request()) { record in
            try Self.leave(.half, &record, in: bench.folder)
            try FileManager.default.removeItem(atPath: bench.folder("file.bin.part"))
        }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.words(id) == ["resume", "restart", "start 0", "complete"])
        #expect(try bench.holds("file.bin", Self.content))
    }

    @Test(
        "Another file, a link or a folder in place of the partial file is left alone",
        arguments: ["file", "symlink", "folder"])
    func replaced(by kind: String) async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let partial = bench.folder("file.bin.part")
        let id = try await bench.takeOver(try bench.request()) { record in
            try Self.leave(.half, &record, in: bench.folder)
            try FileManager.default.moveItem(atPath: partial, toPath: bench.folder("moved"))
            switch kind {
            case "file": try bench.folder.write("mine", to: "file.bin.part")
            case "symlink": try FileManager.default.createSymbolicLink(atPath: partial, withDestinationPath: "moved")
            default: try FileManager.default.createDirectory(atPath: partial, withIntermediateDirectories: false)
            }
        }
        let record = try await bench.ending(of: id)
        #expect(record.failure?.kind == "file")
        if kind != "folder" { #expect(record.state == .failed(.fileFailed(.replaced, path: partial))) }
        #expect(bench.ranges.isEmpty)
        #expect(bench.folder.names() == ["file.bin.part", "moved"])
        #expect(record.resume.written == ByteRanges([0..<450_000]))
    }

    @Test("If another process has locked a partial file, the file is left to that process")
    func locked() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        var other: PartialFile?
        let id = try await bench.takeOver(try bench.request()) { record in
            try Self.leave(.half, &record, in: bench.folder)
            other = try PartialFile.open(folder: bench.folder.path, name: "file.bin", mode: .reopen, followsLinks: true)
        }
        #expect(try await bench.ending(of: id).failure?.reason == "locked")
        other?.unlock()
        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        #expect(bench.ranges == [rest(from: 450_000)])
    }

    /// Brings the record and the folder into the state of the point.
    static func leave(_ point: Point, _ record: inout DownloadRecord, in folder: TemporaryFolder) throws {
        record.fileName = "file.bin"
        if point == .beforePartial { return }
        let file = try PartialFile.open(folder: folder.path, name: "file.bin", mode: .create, followsLinks: true)
        defer { file.unlock() }
        let onDisk: Int64 =
            switch point {
            case .beforePartial, .emptyPartial: 0
            case .unrecordedBytes: 300_000
            case .half: 450_000
            default: content.size
            }
        if onDisk > 0 { content.bytes(0..<onDisk).withUnsafeBytes { file.write($0, at: 0) } }
        if point == .emptyPartial || point == .unrecordedBytes { return }
        record.resume.total = content.size
        record.resume.validators = Validators(etag: EntityTag(opaque: "a"))
        record.resume.file = file.identity
        record.resume.device = file.device
        record.resume.bootID = FileStatus.bootID
        record.resume.written = ByteRanges([0..<(point == .wholeButUnrecorded ? 800_000 : onDisk)])
        if point == .half || point == .whole || point == .wholeButUnrecorded { return }
        try file.sync()
        record.resume.durable = file.durable
        record.isFinishing = true
        switch point {
        case .renamed: try file.rename(to: "file.bin", replacing: false)
        case .renamedToAlternative:
            try folder.write("mine", to: "file.bin")
            try file.rename(to: "file (1).bin", replacing: false)
        case .linkedTwice:
            // A file system may have no atomic rename that refuses to replace a file. There, the file is linked to its
            // final name before its old name is unlinked. This process died between these steps.
            try FileManager.default.linkItem(atPath: folder("file.bin.part"), toPath: folder("file.bin"))
        default: break
        }
    }
}
