import CurlTransport
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// The real transport with many slow connections and fewer buffers than connections.
@Suite("CurlTransport with fewer buffers than connections", .inTurn, .timeLimit(.minutes(2)), .serialized)
struct StarvedPoolTests {
    @Test("With more connections than buffers, all transfers complete")
    func manySlow() async throws {
        let share: Int64 = 400_000
        let rate = 200_000
        let count: Int64 = 160
        let content = Content(seed: 1, size: share * count)
        let server = try FaultServer { _ in FaultReply(content, etag: "\"a\"").with { $0.bytesPerSecond = rate } }
        let folder = try TemporaryFolder()
        let transport = try CurlTransport(environment: [:])
        defer { transport.shutdown() }
        let disk = DiskWriter(pool: BufferPool())
        let file = try PartialFile.open(folder: folder.path, name: "file", mode: .create, followsLinks: true)
        let url = try SourceURL.parse(server.url()).get().url
        let record = DownloadRecord(
            id: 1, request: DownloadRequest(url: url, destination: Destination(folder: folder.path)), created: Date())
        let control = AttemptControl(record: record)
        let writers = (0..<count).map { index in
            let range = index * share..<(index + 1) * share
            let writer = SegmentWriter(
                connection: Int(index),
                judge: ResponseJudge(start: range.lowerBound, end: range.upperBound, asksRange: true), file: file,
                countedFrom: 0, disk: disk, control: control)
            var request = TransferRequest(url: url)
            request.range = "\(range.lowerBound)-\(range.upperBound - 1)"
            writer.begin(transport, request)
            return writer
        }
        var left = writers.count
        for await message in control.messages {
            if case .segmentFinished(_, let result) = message {
                #expect(result.ending == .complete)
                left -= 1
                if left == 0 { break }
            }
        }
        await disk.afterWrites()
        #expect(file.written == ByteRanges([0..<content.size]))
    }
}
