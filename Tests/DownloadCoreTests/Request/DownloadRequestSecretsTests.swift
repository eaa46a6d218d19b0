import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct DownloadRequestSecretsTests {
    static func request() throws -> DownloadRequest {
        let (url, credential) = try SourceURL.parse("https://ann:hunter2@example.org/a?x=1").get()
        var request = DownloadRequest(url: url, destination: Destination(folder: "/tmp"))
        request.credential = credential
        request.headers = [
            RequestHeader(name: "Cookie", value: "id=hunter2"), RequestHeader(name: "X-Api-Key", value: "hunter2"),
            RequestHeader(name: "Accept", value: "*/*"),
        ]
        request.http.body = RequestBody(Array("password=hunter2".utf8))
        request.network.proxy = ProxyAddress(
            url: "http://proxy", credential: Credential(user: "bob", password: "hunter2"))
        return request
    }

    @Test("No secret of a request is in its JSON, its record's JSON or its description")
    func secrets() throws {
        let request = try Self.request()
        #expect(request.credential == Credential(user: "ann", password: "hunter2"))
        let record = DownloadRecord(id: 1, request: request, created: Date(timeIntervalSince1970: 0))
        var dumped = ""
        dump(record, to: &dumped)
        let texts = [
            String(decoding: try JSONEncoder().encode(request), as: UTF8.self),
            String(decoding: try JSONEncoder().encode(record), as: UTF8.self), "\(request)", "\(record)",
            String(reflecting: record), dumped,
        ]
        for text in texts {
            #expect(text.contains("ann"))
            #expect(!text.contains("hunter2"))
        }
    }

    @Test("A decoded request names its missing secrets, and keeps the rest")
    func missing() throws {
        let request = try Self.request()
        #expect(request.missingSecrets.isEmpty)
        let stored = try JSONDecoder().decode(DownloadRequest.self, from: JSONEncoder().encode(request))
        #expect(
            stored.missingSecrets == [
                "Cookie", "X-Api-Key", "the password of ann", "the data to send", "the password for the proxy",
            ])
        #expect(stored.url == request.url)
        #expect(stored.headers.last == RequestHeader(name: "Accept", value: "*/*"))
        #expect(stored.credential == Credential(user: "ann", password: nil))
    }
}
