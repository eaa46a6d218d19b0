import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("PartialDescription: what a partial file says about itself", .inTurn)
struct PartialDescriptionTests {
    private let folder: TemporaryFolder
    private let file: PartialFile

    init() throws {
        folder = try TemporaryFolder()
        file = try PartialFile.open(folder: folder.path, name: "a.bin", mode: .create, followsLinks: true)
        let bytes = [UInt8](repeating: 1, count: 100)
        bytes.withUnsafeBytes { file.write($0, at: 0) }
        try file.sync()
        bytes.withUnsafeBytes { file.write($0, at: 100) }
    }

    private func record(_ url: String = "http://h/a.bin?key=secret") throws -> DownloadRecord {
        var record = DownloadRecord(
            id: 7, request: try DownloadRequest(url: SourceURL(url), destination: Destination(folder: folder.path)),
            created: Date())
        record.resume.total = 300
        record.resume.durable = file.durable
        record.resume.written = file.written
        record.resume.finalURL = try SourceURL("http://h/secret")
        return record
    }

    private func describe() throws { file.describe(PartialDescription(try record(), in: "/s"), version: file.version) }

    private var found: PartialDescription? { PartialDescription.read(in: folder.path, name: "a.bin") }

    @Test("Only durable ranges are described, and no URL is readable")
    func described() throws {
        try describe()
        #expect(found == nil)
        file.unlock()
        let found = try #require(found)
        #expect(try found.id == 7 && found.url == PartialDescription(record(), in: "/s")?.url)
        #expect(try found.url != PartialDescription(record("http://h/a.bin"), in: "/s")?.url)
        #expect(found.resume.durable == ByteRanges([0..<100]) && found.resume.written.isEmpty)
        #expect(found.resume.total == 300 && found.resume.file == file.identity)
        let json = try JSONEncoder().encode(found)
        #expect(!String(decoding: json, as: UTF8.self).contains("secret"))
    }

    @Test("Bytes of several sources, or of an earlier URL that is not proved, are not described")
    func mixed() throws {
        var mixed = try record()
        mixed.resume.changeSources { _ in }
        #expect(PartialDescription(mixed, in: "/s") == nil)
        var moved = try record()
        moved.resume.movedFrom = try SourceURL("http://h/earlier")
        #expect(PartialDescription(moved, in: "/s") == nil)
    }

    @Test("When durable bytes are given up, the description is removed; other bytes change nothing")
    func forgotten() throws {
        try describe()
        file.forget(ByteRanges([150..<200]))
        file.unlock()
        #expect(found != nil)
        file.forget(ByteRanges([50..<60]))
        #expect(found == nil)
    }

    @Test("A description of ranges that were given up meanwhile does not stay")
    func outdated() throws {
        let version = file.version
        let described = PartialDescription(try record(), in: "/s")
        file.forget(ByteRanges([50..<60]))
        file.describe(described, version: version)
        file.unlock()
        #expect(found == nil)
    }

    @Test("A file that begins again, or gets its final name, has no description")
    func ends() throws {
        try describe()
        try file.startOver()
        file.unlock()
        #expect(found == nil)
        try describe()
        _ = try file.takeName(NameRule(name: "a.bin"))
        let final = try #require(FileStatus.of(folder("a.bin")))
        #expect(final.identity == file.identity)
        try FileManager.default.moveItem(atPath: folder("a.bin"), toPath: folder("a.bin.part"))
        #expect(found == nil)
    }
}
