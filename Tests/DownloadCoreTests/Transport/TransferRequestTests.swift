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
        ]
        request.credential = Credential(user: "me", password: "secret")
        request.trust = .insecure
        request.trust.certificate = "/me.pem"
        request.timeouts.stall = 7
        var route = RequestRoute(sendsCredentials ? url : try SourceURL.parse("https://other.example/").get().url)
        if !sendsCredentials { try route.follow(302, to: url.string, of: request, upgradedBy: nil) }
        return TransferRequest(route, of: request, LoadedSecrets(), userAgent: "dlm")
    }

    @Test("The request has the user's cookies, fields and credential, and the policies of the download")
    func whole() throws {
        let made = try request(sendsCredentials: true)
        #expect(made.fields[fields: .cookie].map(\.value) == ["a=1; b=2"])
        #expect(made.fields[.userAgent] == "mine")
        #expect(made.fields[.acceptEncoding] == "identity")
        #expect(made.trust.certificate == "/me.pem")
        #expect(made.credential == Credential(user: "me", password: "secret"))
        #expect(!made.trust.verifiesServer && made.stallTimeout == 7)
    }

    @Test("Credentials and the user's fields do not go to another origin")
    func elsewhere() throws {
        let made = try request(sendsCredentials: false)
        #expect(made.fields[.cookie] == nil && made.credential == nil && made.trust.certificate == nil)
        #expect(made.fields[.userAgent] == "dlm")
    }
}
