import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("JSON", .inTurn, .serialized)
struct DocumentTests {
    func keys(_ document: any Document) throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(document.json.utf8))
        return try #require(value as? [String: Any])
    }

    @Test("The finished line of a complete download has its path and its figures")
    func complete() throws {
        let record = DownloadRecord.example {
            $0.complete(654)
            $0.completed?.checksum = Checksum(algorithm: .md5, digest: "00")
            $0.resume.finalURL = .example("https://mirror.example.org/debian-12.iso")
            var attempt = AttemptRecord(started: $0.created)
            attempt.metrics = TransferMetrics()
            attempt.metrics?.total = 1.5
            $0.attempts = [attempt]
        }
        let value = try keys(FinishedDocument(EndedDownload(DownloadSnapshot(record: record))))
        #expect(value["version"] as? Int == 1)
        #expect(value["event"] as? String == "finished")
        #expect(value["id"] as? Int == 3)
        #expect(value["state"] as? String == "completed")
        #expect(value["path"] as? String == "/home/me/iso/debian-12.iso")
        #expect(value["bytes"] as? Int == 654)
        #expect(value["checksum"] as? String == "md5:00")
        #expect(value["url"] as? String == "https://cd.example.org/debian-12.iso")
        #expect(value["effectiveURL"] as? String == "https://mirror.example.org/debian-12.iso")
        #expect((value["timings"] as? [String: Any])?["total"] as? Double == 1.5)
        #expect(value["error"] == nil)
    }

    @Test("The finished line of a failure has the error and no path")
    func failed() throws {
        let error = DownloadError.networkFailed(
            .connect, TransportDiagnosis(code: 7, message: "refused", errno: 111))
        let record = DownloadRecord.example(state: .failed(error)) { $0.fileName = "debian-12.iso" }
        let value = try keys(FinishedDocument(EndedDownload(DownloadSnapshot(record: record))))
        #expect(value["path"] == nil)
        let told = try #require(value["error"] as? [String: Any])
        #expect(told["kind"] as? String == "network")
        #expect(told["reason"] as? String == "connect")
        #expect(told["curlCode"] as? Int == 7)
        #expect(told["errno"] as? Int == 111)
        #expect(told["exitStatus"] as? Int == 4)
        #expect((told["message"] as? String)?.contains("refused") == true)
    }

    @Test("Every change except the end has an event line")
    func events() throws {
        let snapshot = DownloadSnapshot(record: .example(state: .running) { $0.receive(1, of: 2) })
        let named: [(DownloadEvent, String)] = [
            (.didAdd(snapshot), "added"), (.didStart(snapshot, atOffset: 7), "started"),
            (.didRestart(snapshot, why: .other("new")), "restarted"), (.willRetry(snapshot, TextTests.lost), "retry"),
            (.didPause(snapshot), "paused"),
        ]
        for (event, name) in named {
            let value = try keys(try #require(EventDocument(event)))
            #expect(value["event"] as? String == name)
            #expect(value["version"] as? Int == 1 && value["received"] as? Int == 1 && value["total"] as? Int == 2)
        }
        #expect(EventDocument(.didCancel(snapshot)) == nil)
        #expect(EventDocument(.didComplete(snapshot)) == nil)
        #expect(EventDocument(.didFail(snapshot, .cancelled)) == nil)
    }

    @Test("No document contains a secret")
    func secrets() {
        let record = DownloadRecord.example {
            $0.request.headers = [RequestHeader(name: "Cookie", value: "hunter2")]
            $0.request.credential = Credential(user: "me", password: "hunter2")
        }
        let snapshot = DownloadSnapshot(record: record)
        let documents: [any Document] = [
            DownloadDocument(row: snapshot, now: Date()), DownloadDocument(snapshot, now: Date()),
            FinishedDocument(EndedDownload(snapshot)), EventDocument("added", snapshot),
        ]
        for document in documents { #expect(!document.json.contains("hunter2")) }
    }

    @Test("A bad line of a list is reported with its number")
    func rejected() throws {
        let document = RejectedDocument(.requestInvalid(.missingScheme("a:hunter2@b")), line: 7, of: "l")
        #expect(document.text.hasPrefix("l:7: ") && !document.text.contains("hunter2"))
        #expect(try keys(document)["exitStatus"] as? Int == 2)
    }
}
