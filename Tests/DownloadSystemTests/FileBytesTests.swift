import DownloadCore
import DownloadTestSupport
import Foundation
import Glibc
import Testing

@testable import DownloadSystem

@Suite("Whole reads and writes of files", .inTurn, .timeLimit(.minutes(1)))
struct FileBytesTests {
    private func withFile(_ bytes: [UInt8], _ body: (Int32) throws -> Void) throws {
        let descriptor = try TemporaryFolder.unnamedFile()
        defer { close(descriptor) }
        #expect(bytes.withUnsafeBytes { FileBytes.write($0, to: descriptor) })
        #expect(lseek(descriptor, 0, SEEK_SET) == 0)
        try body(descriptor)
    }

    @Test("A file is read whole, and of a file that is too large only a little more than the limit")
    func limits() throws {
        let bytes = (0..<100_000).map { UInt8($0 % 251) }
        try withFile(bytes) { #expect(FileBytes.read($0, atMost: bytes.count) == bytes) }
        try withFile(bytes) { descriptor in
            let part = try #require(FileBytes.read(descriptor, atMost: 20_000))
            #expect(part.count > 20_000 && part.count < bytes.count && part == Array(bytes.prefix(part.count)))
        }
        try withFile([]) { #expect(FileBytes.read($0, atMost: 10) == []) }
    }

    @Test(
        "A range is read up to the end of the file",
        arguments: [(0..<4, [1, 2, 3, 4]), (2..<9, [3, 4, 5]), (5..<9, []), (1..<1, [])] as [(Range<Int64>, [UInt8])])
    func ranges(range: Range<Int64>, found: [UInt8]) throws {
        try withFile([1, 2, 3, 4, 5]) { #expect(FileBytes.read($0, range) == found) }
    }

    @Test("A descriptor that is not open cannot be read or written")
    func failures() {
        #expect(FileBytes.read(-1, atMost: 10) == nil && errno == EBADF)
        #expect(FileBytes.read(-1, 0..<10) == nil)
        #expect(!Array("x".utf8).withUnsafeBytes { FileBytes.write($0, to: -1) })
    }

    @Test("A write to a full pipe that does not block waits for its reader")
    func fullPipe() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { close(reader) }
        #expect(fcntl(writer, F_SETFL, O_NONBLOCK) == 0)
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        let queue = DispatchQueue(label: "writer")
        async let isWritten = queue.run {
            defer { close(writer) }
            return bytes.withUnsafeBytes { FileBytes.write($0, to: writer) }
        }
        let read = await DispatchQueue(label: "reader").run { FileBytes.read(reader, atMost: bytes.count) }
        #expect(read == bytes)
        #expect(await isWritten)
    }
}
