import DownloadTestSupport
import HTTPTypes
import Testing

@testable import DownloadCore

@Suite("ResponseJudge: answers of FTP and SSH servers", .inTurn, .timeLimit(.minutes(1)))
struct FileServerJudgeTests {
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let known = ResponseJudge.Version(
        validators: Validators(lastModified: date), total: 100, contentType: nil)

    func verdict(_ status: Int, _ fields: HTTPFields, from start: Int64) -> ResponseJudge.Verdict {
        ResponseJudge(start: start, end: nil, asksRange: true, known: Self.known).judge(
            ResponseHead(status: status, httpVersion: "", fields: fields))
    }

    @Test("An answer with the same size and modification time has the same version")
    func same() {
        #expect(
            verdict(206, [.contentRange: "bytes 40-99/100", .lastModified: Self.date], from: 40)
                == .body(offset: 40, end: 100, total: 100))
        #expect(
            verdict(200, [.contentLength: "100", .lastModified: Self.date], from: 40)
                == .body(offset: 0, end: 100, total: 100))
    }

    @Test("An answer with another size or time has another version; an answer without a time is a failure")
    func changed() {
        let later = "Sun, 06 Nov 1994 08:49:38 GMT"
        for fields: HTTPFields in [
            [.contentRange: "bytes 40-99/100", .lastModified: later],
            [.contentRange: "bytes 40-98/99", .lastModified: Self.date],
        ] {
            guard case .changed = verdict(206, fields, from: 40) else {
                Issue.record("\(fields)")
                continue
            }
        }
        guard case .newVersion = verdict(200, [.contentLength: "99", .lastModified: Self.date], from: 40) else {
            Issue.record("a shorter file is taken for the same version")
            return
        }
        guard case .changed = verdict(416, [.contentRange: "bytes */20"], from: 40) else {
            Issue.record("a file that ends before the offset is taken for the same version")
            return
        }
        guard case .failed = verdict(206, [.contentRange: "bytes 40-99/100"], from: 40) else {
            Issue.record("an answer without a time is taken for the same version")
            return
        }
    }
}
