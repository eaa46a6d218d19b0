import DownloadCore
import DownloadTestSupport
import Testing

@testable import DownloadControl

/// The parts in which a client sends a list of requests.
@Suite("DownloadControl: batches of requests", .inTurn)
struct RequestBatchesTests {
    private func list(_ count: Int, header size: Int = 0) -> RequestList {
        RequestList(
            (0..<count).lazy.map { number in
                var request = DownloadRequest.example("\(number)")
                if size > 0 {
                    request.headers = [RequestHeader(name: "X-\(number)", value: String(repeating: "v", count: size))]
                }
                return request
            })
    }

    @Test(
        "A batch has at most 5,000 requests, and a run goes on in the next batch", arguments: [0, 1, 5_000, 12_001])
    func count(of count: Int) {
        let list = list(count)
        let batches = list.batches
        #expect(batches.map(\.count) == stride(from: 0, to: count, by: 5_000).map { min(5_000, count - $0) })
        #expect(batches.allSatisfy { $0.runs.count == 1 })
        #expect(batches.flatMap(Array.init) == Array(list))
    }

    @Test("Long header fields make a batch full before it has 5,000 requests")
    func size() {
        let list = list(200, header: 10_000)
        let batches = list.batches
        // A request has 11,000 bytes, and half a MiB is full after 48 of them.
        #expect(batches.map(\.count) == [48, 48, 48, 48, 8])
        #expect(batches.flatMap(Array.init) == Array(list))
    }
}
