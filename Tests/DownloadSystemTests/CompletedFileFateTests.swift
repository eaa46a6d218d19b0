import CSystem
import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadSystem

@Suite("CompletedFileFate", .inTurn)
final class CompletedFileFateTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var path: String { folder("a.bin") }

    /// Returns a completed download of the file as it is now.
    func completed() throws -> DownloadRecord {
        try Data("four".utf8).write(to: URL(fileURLWithPath: path))
        let status = try #require(FileStatus.of(path))
        let request = DownloadRequest(
            url: try #require(try? SourceURL.parse("http://h/a.bin").get().url),
            destination: Destination(folder: folder.path))
        var record = DownloadRecord(id: 1, request: request, state: .completed, created: Date())
        record.fileName = "a.bin"
        record.completed = CompletedFile(
            path: path, bytes: status.size, identity: status.identity, modified: status.modified,
            validators: Validators())
        return record
    }

    @Test("An unchanged file is there; a removed file is gone; a folder in its place is a change")
    func looked() throws {
        let record = try completed()
        #expect(record.completedFileFate == .there)
        #expect(record.failure(of: record.completedFileFate) == nil)
        try FileManager.default.removeItem(atPath: path)
        #expect(record.completedFileFate == .gone)
        #expect(record.failure(of: .gone) == .completedFile(.gone, path: path))
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(record.completedFileFate == .changed)
    }

    @Test("A copy with the same size and time is the same file; a file with another size or time has changed")
    func compared() throws {
        let record = try completed()
        let kept = URL(fileURLWithPath: folder("kept"))
        try FileManager.default.moveItem(at: URL(fileURLWithPath: path), to: kept)
        try Data("ours".utf8).write(to: URL(fileURLWithPath: path))
        let modified = try #require(record.completed).modified
        var times = [
            timespec(tv_sec: Int(modified / 1_000_000_000), tv_nsec: Int(modified % 1_000_000_000)),
            timespec(tv_sec: Int(modified / 1_000_000_000), tv_nsec: Int(modified % 1_000_000_000)),
        ]
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
        #expect(record.completedFileFate == .there)
        times[1].tv_sec += 1
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
        #expect(record.completedFileFate == .changed)
        try Data("longer".utf8).write(to: URL(fileURLWithPath: path))
        #expect(record.completedFileFate == .changed)
    }

    @Test("Old records without an identity only check that the file exists; an unreadable folder gives no result")
    func oldRecords() throws {
        var record = try completed()
        record.completed?.identity = FileIdentity(inode: 0, born: nil)
        record.completed?.modified = 7
        #expect(record.completedFileFate == .there)
        record.completed = nil
        #expect(record.completedFileFate == .there)
        record.fileName = "never"
        #expect(record.completedFileFate == .gone)
        record.fileName = nil
        #expect(record.completedFileFate == nil)
        record = try completed()
        record.state = .queued
        #expect(record.completedFileFate == nil)
    }
}
