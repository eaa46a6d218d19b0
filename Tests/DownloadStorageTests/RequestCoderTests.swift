import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import DownloadStorage

/// These tests only check how a request is stored in its column. `RequestDocument` has the format and its own tests.
@Suite("RequestCoder: a request in its column", .inTurn)
struct RequestCoderTests {
    @Test("The text has every property except those with a column of their own")
    func everyField() throws {
        var request = try DownloadRequest.unusual(secrets: false)
        try request.describe()
        let json = try RequestCoder().encode(request)
        #expect(!json.contains(request.url.string) && !json.contains(request.destination.folder))
        var restored = try RequestCoder().decode(json)
        restored.url = request.url
        restored.destination.folder = request.destination.folder
        restored.destination.fileName = request.destination.fileName
        restored.priority = request.priority
        #expect(restored == request)
    }

    @Test("The text of a plain download is an empty object")
    func plain() throws { #expect(try RequestCoder().encode(Sample.request(as: "b", priority: 4)) == "{}") }

    @Test("Requests that differ only in values with their own columns have the same text; others do not")
    func shared() throws {
        let coder = RequestCoder()
        var requests = try ["a", "b", "c"].map { try Sample.request($0) }
        requests[1].rateLimit = 7
        #expect(try requests.map(coder.encode) == ["{}", #"{"rateLimit":7}"#, "{}"])
        #expect(try coder.decode(#"{"rateLimit":7}"#).rateLimit == 7)
        #expect(try coder.decode("{}").rateLimit == nil)
    }

    @Test("The text is the same that earlier versions wrote, so that a save finds the column unchanged")
    func sameText() throws {
        let filled = try Sample.filled(DownloadRecord(id: 1, request: try Sample.request(), created: Date()))
        #expect(
            try RequestCoder().encode(filled.request) == """
                {"destination":{"ifExists":"rename","createsFolders":false},\
                "headers":[{"name":"X-Purpose","value":"é\\u000a\\"quoted\\""}],\
                "http":{"method":"POST","body":{},"userAgent":"me"},"secretFiles":{"netrc":"/home/me/.netrc"},\
                "checksum":{"algorithm":"md5","digest":"\(String(repeating: "ab", count: 16))"},"connections":4,\
                "retry":{"limit":9,"delay":0.25,"maximumDelay":"inf"},"redirect":{"limit":3,"schemes":["https"]},\
                "trust":{"verifiesServer":false,"authorities":"/ca.pem"},\
                "network":{"proxy":{"url":"http://proxy:3128","credential":{"user":"me"}},\
                "addresses":[{"host":"a","port":443,"address":"[::1]"}]},"timeouts":{"connect":1.5,"stall":"inf"}}
                """)
    }
}
