import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Progress as JSON", .inTurn, .serialized)
struct JSONProgressTests {
    func values(_ lines: [String]) throws -> [[String: Any]] {
        try lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("Each changed download has a line, and so has a changed total; what has not changed has none")
    func lines() throws {
        var progress = JSONProgress()
        var frame = ProgressFrame(
            rows: [
                .init(id: 3, name: "a", received: 5, total: 10, speed: 2.4, left: 2.04),
                .init(id: 4, name: "b", state: .waiting, received: 0, note: "retry in 4 s: 503 Busy"),
            ], total: .init(downloads: 3, done: 1, failed: 0, received: 15, bytes: nil))
        let first = try values(progress.lines(frame))
        #expect(first.map { $0["event"] as? String } == ["progress", "progress", "total"])
        #expect(first[0]["id"] as? Int == 3 && first[0]["state"] as? String == "running")
        #expect(first[0]["percent"] as? Int == 50 && first[0]["speed"] as? Double == 2)
        #expect(first[0]["secondsLeft"] as? Double == 2 && first[0]["note"] == nil)
        #expect(first[1]["note"] as? String == "retry in 4 s: 503 Busy" && first[1]["total"] == nil)
        #expect(first[2]["downloads"] as? Int == 3 && first[2]["done"] as? Int == 1)
        #expect(first.allSatisfy { $0["version"] as? Int == 1 })
        #expect(progress.lines(frame) == [])
        frame.rows[0].progress.received = 6
        #expect(try values(progress.lines(frame)).map { $0["id"] as? Int } == [3])
    }

    @Test("A waiting download has the reason and the end of its wait")
    func waiting() throws {
        var progress = JSONProgress()
        var row = ProgressFrame.Row(id: 4, name: "b", state: .waiting, received: 0, note: "retry in 4 s: 503 Busy")
        row.progress.state = .waiting(.retry(.cancelled), until: Date(timeIntervalSince1970: 1_700_000_000))
        let line = try #require(try values(progress.lines(ProgressFrame(rows: [row]))).first)
        #expect(line["waitingFor"] as? String == "retry")
        #expect(line["waitingUntil"] as? String == "2023-11-14T22:13:20Z")
    }

    @Test("The last line of a download has its final state")
    func last() throws {
        var progress = JSONProgress()
        let failed = DownloadRecord.example(state: .failed(.serverRefused(status: 404, phrase: "Not Found")))
        let lines = try values([
            progress.last(DownloadSnapshot(record: .example { $0.complete(10) })),
            progress.last(DownloadSnapshot(record: failed)),
        ])
        #expect(lines.map { $0["state"] as? String } == ["completed", "failed"])
        #expect(lines[0]["percent"] as? Int == 100)
        #expect(lines[1]["note"] as? String == "404 Not Found")
    }
}
