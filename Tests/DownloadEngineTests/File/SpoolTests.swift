import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("The spool of a stream: bounded, in order, compared", .inTurn, .timeLimit(.minutes(1)))
struct SpoolTests {
    private static let size = StreamOutput.leastSpool
    private let content = Content(seed: 910, size: 3 * size + 12_345)
    private let folder: TemporaryFolder

    private final class Calls: Sendable {
        let count = Atomic(0)
    }

    init() throws { folder = try TemporaryFolder() }

    private func write(_ range: Range<Int64>, of content: Content? = nil, to file: PartialFile) {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(range.upperBound, start + 200_003)
            (content ?? self.content).bytes(start..<end).withUnsafeBytes { file.write($0, at: start) }
            start = end
        }
    }

    /// Takes bytes out of the spool up to an offset.
    private func take(to end: Int64, from file: PartialFile, into out: inout [UInt8]) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_537, alignment: 1)
        defer { buffer.deallocate() }
        while Int64(out.count) < end, let range = try file.take(into: buffer) {
            #expect(range.lowerBound == Int64(out.count))
            out += buffer[..<range.count]
        }
    }

    @Test("Bytes in any order leave in order, and the file never grows", arguments: [true, false])
    func order(isInMemory: Bool) throws {
        defer { folder.remove() }
        let file = try #require(PartialFile.spool(of: isInMemory ? Self.size : 9 * Self.size, in: [folder.path]))
        #expect((file.folder == "memory") == isInMemory)
        #expect(folder.names(in: "") == [])
        var out: [UInt8] = []
        while Int64(out.count) < content.size {
            let start = Int64(out.count)
            let end = min(content.size, file.limit)
            let middle = (start + end) / 2
            write(middle..<end, to: file)
            write(start..<middle, to: file)
            #expect(file.failure == nil && !file.differs)
            try take(to: end - 1_000_000, from: file, into: &out)
            if end == content.size { try take(to: end, from: file, into: &out) }
        }
        #expect(out == content.bytes(0..<content.size))
        #expect(file.isDrained)
        #expect(try file.length() <= file.ring)
    }

    @Test("A spool larger than the free space is in memory and small; one without any place is none")
    func noSpace() throws {
        defer { folder.remove() }
        let file = try #require(PartialFile.spool(of: 1 << 50, in: [folder.path, "/proc", folder("none")]))
        #expect(file.folder == "memory" && file.ring == 64 << 20)
    }

    @Test("Bytes that cannot be read are not taken")
    func unreadable() throws {
        defer { folder.remove() }
        let file = try #require(PartialFile.spool(of: Self.size, in: []))
        var out: [UInt8] = []
        write(0..<1_000_000, to: file)
        #expect(ftruncate(file.descriptor, 300_000) == 0)
        for _ in 0..<2 {
            #expect(throws: DownloadError.file(EIO, "read", path: file.path)) {
                try take(to: 1_000_000, from: file, into: &out)
            }
            #expect(out == content.bytes(0..<262_148))
        }
        file.fail(.file(EIO, "read", path: file.path))
        #expect(file.hasFailedDisk && !file.isDrained)
    }

    @Test("A spool is full if there is no room for a request, until the reader takes bytes")
    func full() throws {
        defer { folder.remove() }
        let file = try #require(PartialFile.spool(of: Self.size, in: []))
        var out: [UInt8] = []
        write(0..<file.limit - SegmentPlanner.crumb, to: file)
        #expect(!file.isFull)
        write(file.limit - SegmentPlanner.crumb..<file.limit, to: file)
        #expect(file.isFull)
        try take(to: SegmentPlanner.crumb, from: file, into: &out)
        #expect(!file.isFull)
    }

    @Test("Bytes that come again are compared as long as they are kept")
    func compared() throws {
        defer { folder.remove() }
        let other = Content(seed: 911, size: content.size)
        for (start, differs) in [(0 as Int64, false), (5_000_000, false), (6_000_000 - 65_536, true)] {
            let file = try #require(PartialFile.spool(of: Self.size, in: []))
            var out: [UInt8] = []
            write(0..<6_000_000, to: file)
            try take(to: 6_000_000, from: file, into: &out)
            write(start..<start + 500, of: other, to: file)
            #expect(file.differs == differs, "\(start)")
        }
    }

    @Test("A gap stops the bytes behind it, and a join that is not proved does, too")
    func gap() throws {
        defer { folder.remove() }
        let file = try #require(PartialFile.spool(of: Self.size, in: []))
        let calls = Calls()
        file.notifyWrites { calls.count.add(1, ordering: .relaxed) }
        file.proveJoins(true)
        var out: [UInt8] = []
        write(1_000_000..<2_000_000, to: file)
        #expect(file.isDrained)
        write(0..<1_000_000, to: file)
        try take(to: 2_000_000, from: file, into: &out)
        #expect(out.count == 999_999)
        let before = calls.count.load(ordering: .relaxed)
        write(1_000_000..<1_000_512, to: file)
        #expect(calls.count.load(ordering: .relaxed) == before + 1)
        try take(to: 2_000_000, from: file, into: &out)
        #expect(out == content.bytes(0..<2_000_000))
    }

    @Test("Bytes that were taken cannot be given up, and bytes beyond the spool are refused")
    func bounds() throws {
        defer { folder.remove() }
        let file = try #require(PartialFile.spool(of: Self.size, in: []))
        var out: [UInt8] = []
        write(0..<1_000_000, to: file)
        try take(to: 1_000_000, from: file, into: &out)
        write(1_000_000..<2_000_000, to: file)
        file.forget(ByteRanges([1_000_000..<1_500_000]))
        #expect(file.failure == nil)
        file.forget(ByteRanges([999_999..<1_000_001]))
        guard case .verificationFailed(.streamBroken)? = file.failure else {
            Issue.record("\(String(describing: file.failure))")
            return
        }
        let second = try #require(PartialFile.spool(of: Self.size, in: []))
        write(Self.size..<Self.size + 10, to: second)
        #expect(second.failure != nil && second.written.isEmpty)
    }
}
