import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Reading lists", .inTurn, .serialized)
struct InputListTests {
    @Test("A list is read to its end in chunks of the requested size")
    func chunks() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "dlm-list-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = (1...5000).map { "http://example.org/\($0)" }.joined(separator: "\n")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let list = try InputList(path: path)
        var all: [InputList.Line] = []
        while let lines = try await list.next(500) {
            #expect(lines.count == 500)
            all += lines
        }
        #expect(all.map(\.number) == Array(1...5000))
        #expect(all.last?.text == "http://example.org/5000")
        #expect(try await list.next(500) == nil)
    }

    @Test("Lines from a pipe are returned as soon as they arrive")
    func pipe() async throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("http://a/1\nhttp://a/2\nhttp://".utf8))
        let list = try InputList(path: "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)")
        #expect(try await list.next(500)?.map(\.text) == ["http://a/1", "http://a/2"])
        try pipe.fileHandleForWriting.write(contentsOf: Data("a/3".utf8))
        try pipe.fileHandleForWriting.close()
        #expect(try await list.next(500)?.map(\.number) == [3])
        #expect(try await list.next(500) == nil)
    }

    @Test("The lines before binary data are not lost")
    func before() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "dlm-list-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try (Data("http://a/1\n".utf8) + Data(repeating: 0, count: 9 << 20)).write(to: URL(fileURLWithPath: path))
        let list = try InputList(path: path)
        #expect(try await list.next(500)?.map(\.text) == ["http://a/1"])
        await #expect(throws: DownloadError.self) { try await list.next(500) }
    }

    @Test("A missing list is a file error in one line")
    func missing() async throws {
        let (status, captured) = try await run(["get", "-i", "/nowhere/list"], FakeService())
        #expect(status == 3)
        #expect(captured.errorLines.count == 1)
        #expect(captured.errors.contains("/nowhere/list"))
    }

    @Test("Endless data without lines is refused, and does not fill the memory")
    func endless() async throws {
        let (status, captured) = try await run(["get", "-i", "/dev/zero"], FakeService())
        #expect(status == 2)
        #expect(captured.errorLines.count == 1)
        #expect(captured.errors.contains("/dev/zero: line 1, longer than 8 MiB"))
    }

    @Test("A folder is not accepted as a list")
    func folder() async throws {
        let (status, captured) = try await run(["get", "-i", "/"], FakeService())
        #expect(status == 3)
        #expect(captured.errorLines.count == 1)
    }
}
