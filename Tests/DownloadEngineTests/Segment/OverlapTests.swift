import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("Overlap: the bytes around a range that are requested again", .inTurn)
struct OverlapTests {
    private static let held = ByteRanges([0..<100_000, 200_000..<200_100])

    @Test("A resumed request begins before the missing bytes, but only as far back as bytes are held")
    func start() {
        #expect(Overlap.start(before: 100_000, held: Self.held, size: 512) == 99_488)
        #expect(Overlap.start(before: 200_100, held: Self.held, size: 512) == 200_000)
        #expect(Overlap.start(before: 150_000, held: Self.held, size: 512) == 150_000)
        #expect(Overlap.start(before: 0, held: Self.held, size: 512) == 0)
    }

    @Test("With several connections, a request begins before its range even if the bytes there are missing")
    func startOfPart() {
        #expect(Overlap.startOfPart(before: 150_000, held: Self.held, size: 512) == 150_000 - Overlap.joined)
        #expect(Overlap.startOfPart(before: 100_000, held: Self.held, size: 4096) == 100_000 - 4096)
        #expect(Overlap.startOfPart(before: 100, held: ByteRanges(), size: 512) == 0)
    }

    @Test("A request ends within the run of bytes that begins where its range ends")
    func end() {
        #expect(Overlap.end(after: 200_000, held: Self.held) == 200_100)
        #expect(Overlap.end(after: 0, held: Self.held) == Overlap.joined)
        #expect(Overlap.end(after: 150_000, held: Self.held) == 150_000)
    }
}
