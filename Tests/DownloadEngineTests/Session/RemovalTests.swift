import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("SessionManager: removing downloads", .inTurn, .timeLimit(.minutes(1)))
struct RemovalTests {
    private static let content = Content(seed: 1, size: 500_000)
    private static let reply = FaultReply(content, etag: "\"a\"")

    /// Returns a session that paused a download after 300,000 bytes, a session of another process, and the download.
    private func paused() async throws -> (SessionBench, SessionBench, DownloadID) {
        let first = try await SessionBench(serving: Self.reply.with { $0.cut = .stall(after: 300_000) })
        let id = try await first.add()
        #expect(await first.transport.taken.wait { $0 == 300_000 })
        await first.manager.pauseAll(.user)
        await first.manager.close()
        return (first, try await SessionBench(after: first, session: "second", serving: Self.reply), id)
    }

    @Test("The partial file is removed with its download")
    func partial() async throws {
        let (first, second, id) = try await paused()
        #expect(first.folder.names() == ["file.bin.part"])
        try await second.manager.remove([id], deletesFile: false)
        #expect(first.folder.names().isEmpty)
        await #expect(throws: DownloadError.noSuchDownload(id)) { try await second.store.records(.ids([id])) }
    }

    @Test("A file in place of the partial file is not removed")
    func foreign() async throws {
        let (first, second, id) = try await paused()
        try FileManager.default.moveItem(atPath: first.folder("file.bin.part"), toPath: first.folder("moved"))
        try first.folder.write("mine", to: "file.bin.part")
        try await second.manager.remove([id], deletesFile: true)
        #expect(first.folder.names() == ["file.bin.part", "moved"])
    }

    @Test("A file that was in the way of the partial file is not removed")
    func inTheWay() async throws {
        let bench = try await SessionBench(serving: Self.reply)
        try bench.folder.write("mine", to: "file.bin.part")
        let id = try await bench.add()
        let record = try await bench.ending(of: id)
        #expect(record.state == .failed(.fileFailed(.partialExists, path: bench.folder("file.bin.part"))))
        try await bench.manager.remove([id], deletesFile: true)
        #expect(bench.folder.names() == ["file.bin.part"])
    }

    @Test(
        "A finished file whose process died before it recorded the file is removed, if that is requested",
        arguments: [false, true])
    func unrecorded(deletesFile: Bool) async throws {
        let bench = try await SessionBench(serving: Self.reply)
        try bench.folder.write("whole", to: "file.bin")
        let identity = try #require(FileStatus.of(bench.folder("file.bin"))).identity
        var record = try #require(try await bench.store.add([try bench.request()], session: "foreground-dead").first)
            .record
        record.fileName = "file.bin"
        record.resume.file = identity
        record.beginFinishing()
        #expect(try await bench.store.save([record], session: "foreground-dead").isEmpty)
        try await bench.manager.remove([record.id], deletesFile: deletesFile)
        #expect(bench.folder.names() == (deletesFile ? [] : ["file.bin"]))
    }

    @Test(
        "The finished file is removed only if that is requested and the file is still the same",
        arguments: [0, 1, 2])
    func finished(variant: Int) async throws {
        let bench = try await SessionBench(serving: Self.reply)
        let id = try await bench.add()
        _ = try await bench.ending(of: id)
        if variant == 2 {
            try FileManager.default.removeItem(atPath: bench.folder("file.bin"))
            try bench.folder.write("mine", to: "file.bin")
        }
        try await bench.manager.remove([id], deletesFile: variant > 0)
        #expect(bench.folder.names() == (variant == 1 ? [] : ["file.bin"]))
    }
}
