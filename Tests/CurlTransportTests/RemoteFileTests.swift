import DownloadCore
import DownloadTestSupport
import HTTPTypes
import Testing

@testable import CurlTransport

@Suite("RemoteFile: files of FTP and SSH servers", .inTurn, .timeLimit(.minutes(1)))
struct RemoteFileTests {
    func head(
        _ range: String?, rest: Int64?, isEmpty: Bool = false, isSeekable: Bool = true
    ) -> (status: Int, range: String?, length: String?)? {
        RemoteFile(range: range).head(rest: rest, modified: 0, isEmpty: isEmpty, isSeekable: isSeekable).map {
            ($0.status, $0.fields[.contentRange], $0.fields[.contentLength])
        }
    }

    @Test("The range and size of a file become the status and fields of an HTTP answer")
    func heads() throws {
        #expect(try #require(head("0-", rest: 100)) == (206, "bytes 0-99/100", nil))
        #expect(try #require(head("40-", rest: 60)) == (206, "bytes 40-99/100", nil))
        #expect(try #require(head("40-49", rest: 60)) == (206, "bytes 40-49/100", nil))
        #expect(try #require(head("40-999", rest: 60)) == (206, "bytes 40-99/100", nil))
        #expect(try #require(head(nil, rest: 100)) == (200, nil, "100"))
        #expect(try #require(head("0-", rest: 100, isSeekable: false)) == (200, nil, "100"))
        #expect(try #require(head("0-", rest: nil, isEmpty: true)) == (200, nil, "0"))
        #expect(try #require(head("0-", rest: nil)) == (200, nil, nil))
    }

    @Test("If a file ends before the offset, it has changed (416); a part of a file without a size has no answer")
    func ends() throws {
        #expect(try #require(head("40-", rest: 0, isEmpty: true)) == (416, "bytes */40", nil))
        #expect(head("40-", rest: nil) == nil)
        var file = RemoteFile(range: "40-")
        file.beginAtStart()
        #expect(file.offset == 0)
        #expect(file.head(rest: 100, modified: nil, isEmpty: false, isSeekable: true)?.fields[.lastModified] == nil)
    }

    @Test("A login refused because of too many users is distinguished from a wrong password")
    func replies() {
        for (reply, hasNoRoom) in [
            ("530 Login incorrect.\r\n", false), ("230 Too many cooks.\r\n", false),
            ("530 Sorry, the maximum number of clients (4) for this user are already connected.\r\n", true),
            ("530-Too many users logged in.\r\n", true), ("530", false), ("", false),
        ] {
            var file = RemoteFile(range: "0-")
            Array(reply.utf8).withUnsafeBytes { file.note(reply: $0) }
            #expect(file.hasNoRoom == hasNoRoom, "\(reply)")
        }
    }

    @Test("The file's time becomes Last-Modified, and the head has no HTTP version")
    func time() throws {
        let head = try #require(
            RemoteFile(range: "0-").head(rest: 1, modified: 784_111_777, isEmpty: false, isSeekable: true))
        #expect(head.fields[.lastModified] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(head.httpVersion == "")
    }
}
