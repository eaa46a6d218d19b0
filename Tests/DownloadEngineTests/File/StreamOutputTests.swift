import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("StreamOutput: no byte is written twice or contradicted", .inTurn, .timeLimit(.minutes(1)))
struct StreamOutputTests {
    private let content = Content(seed: 900, size: 300_000)

    /// A stream into a file, which shows what was written.
    private final class Bench {
        let folder: TemporaryFolder
        let stream: StreamOutput
        private let descriptor: Int32

        init() throws {
            folder = try TemporaryFolder()
            descriptor = open(folder("out"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            stream = StreamOutput(descriptor: descriptor)
        }

        deinit {
            close(descriptor)
            folder.remove()
        }

        func write(_ bytes: [UInt8], at offset: Int64) {
            var position = offset
            for start in stride(from: 0, to: bytes.count, by: 10_007) {
                let piece = Array(bytes[start..<min(bytes.count, start + 10_007)])
                piece.withUnsafeBytes { stream.write($0, at: position) }
                position += Int64(piece.count)
            }
        }

        var out: Data { get throws { try Data(contentsOf: URL(fileURLWithPath: folder("out"))) } }
    }

    @Test("Bytes in order are written unchanged and hashed")
    func plain() throws {
        let bench = try Bench()
        try bench.stream.beginDigest(.sha256)
        bench.write(content.bytes(0..<content.size), at: 0)
        #expect(try bench.out == Data(content.bytes(0..<content.size)))
        #expect(bench.stream.written == content.size)
        #expect(try bench.stream.checksum?.digest == content.sha256)
        // The checksum may be read twice.
        #expect(try bench.stream.checksum?.digest == content.sha256)
    }

    @Test(
        "Bytes that come again are compared, and only new bytes are written",
        arguments: [0, 1, 100_000, 134_464, 134_465, 199_999, 200_000])
    func overlap(start: Int64) throws {
        let bench = try Bench()
        try bench.stream.beginDigest(.md5)
        bench.write(content.bytes(0..<200_000), at: 0)
        bench.write(content.bytes(start..<content.size), at: start)
        #expect(!bench.stream.refusesWrites)
        #expect(try bench.out == Data(content.bytes(0..<content.size)))
    }

    @Test("A difference in the last 64 KiB is found at once", arguments: [134_464, 199_999])
    func tailDiffers(position: Int64) throws {
        let bench = try Bench()
        bench.write(content.bytes(0..<200_000), at: 0)
        var other = content.bytes(134_464..<content.size)
        other[Int(position - 134_464)] ^= 1
        bench.write(other, at: 134_464)
        #expect(bench.stream.differs)
        #expect(try bench.out.count == 200_000)
    }

    @Test(
        "If all written bytes are doubted, a difference anywhere is found before more is written",
        arguments: [0, 1, 70_000])
    func anyDiffers(position: Int) throws {
        let bench = try Bench()
        try bench.stream.beginDigest(.sha256)
        bench.write(content.bytes(0..<200_000), at: 0)
        bench.stream.isDoubted = true
        var other = content.bytes(0..<content.size)
        other[position] ^= 1
        bench.write(other, at: 0)
        #expect(bench.stream.differs && bench.stream.isDoubted)
        #expect(try bench.out.count <= 200_000)
    }

    @Test("The doubts about written bytes end when all of them have come again, not before")
    func doubt() throws {
        let bench = try Bench()
        try bench.stream.beginDigest(.sha256)
        bench.write(content.bytes(0..<200_000), at: 0)
        bench.stream.isDoubted = true
        bench.write(content.bytes(0..<150_000), at: 0)
        #expect(bench.stream.isDoubted)
        bench.write(content.bytes(0..<199_999), at: 0)
        #expect(bench.stream.isDoubted)
        bench.write(content.bytes(199_999..<200_001), at: 199_999)
        #expect(!bench.stream.isDoubted && !bench.stream.differs)
        #expect(try bench.out == Data(content.bytes(0..<200_001)))
    }

    @Test("If the reader has gone away, the stream ends, even while no bytes come")
    func noReader() throws {
        Glibc.signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let stream = StreamOutput(descriptor: ends[1])
        stream.noteReader()
        #expect(stream.failure == nil)
        close(ends[0])
        stream.noteReader()
        #expect(stream.failure?.exitStatus == 3)
        close(ends[1])
    }
}
