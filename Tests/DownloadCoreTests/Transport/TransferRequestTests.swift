import Foundation
import HTTPTypes
import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite("TransferRequest: the common parts of all requests of a download", .inTurn)
struct TransferRequestTests {
    private func request(sendsCredentials: Bool) throws -> TransferRequest {
        let url = try SourceURL.parse("https://example.org/SHA256SUMS").get().url
        var request = DownloadRequest(url: url, destination: Destination(folder: "/"))
        request.headers = [
            RequestHeader(name: "Cookie", value: "a=1; b=2"), RequestHeader(name: "User-Agent", value: "mine"),
            RequestHeader(name: "Accept-Encoding", value: "br"), RequestHeader(name: "X-A", value: "b"),
        ]
        request.credential = Credential(user: "me", password: "secret")
        request.trust = .insecure
        request.trust.certificate = "/me.pem"
        (request.timeouts.connect, request.timeouts.stall) = (3, 7)
        var route = RequestRoute(sendsCredentials ? url : try SourceURL.parse("https://other.example/").get().url)
        if !sendsCredentials { try route.follow(302, to: url.string, of: request, upgradedBy: nil) }
        return TransferRequest(route, of: request, LoadedSecrets(), userAgent: "dlm")
    }

    @Test("Several cookies are one field, the user's fields replace dlm's, and the policies are those of the download")
    func whole() throws {
        let made = try request(sendsCredentials: true)
        #expect(made.fields[fields: .cookie].map(\.value) == ["a=1; b=2"])
        #expect(made.fields[fields: .userAgent].map(\.value) == ["mine"])
        #expect(made.fields[fields: .acceptEncoding].map(\.value) == ["br"])
        #expect(made.fields.count == 4)
        #expect(made.trust.certificate == "/me.pem")
        #expect(made.credential == Credential(user: "me", password: "secret"))
        #expect(!made.trust.verifiesServer && made.connectTimeout == 3 && made.stallTimeout == 7)
    }

    @Test("Credentials and the user's fields do not go to another origin")
    func elsewhere() throws {
        let made = try request(sendsCredentials: false)
        #expect(made.fields[.cookie] == nil && made.credential == nil && made.trust.certificate == nil)
        #expect(made.fields[.userAgent] == "dlm" && made.fields[.acceptEncoding] == "identity")
        #expect(made.fields.count == 2)
    }
}
