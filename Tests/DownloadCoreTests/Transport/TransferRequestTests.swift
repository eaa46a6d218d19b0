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
        (request.timeouts.connect, request.timeouts.stall) = (.seconds(3), .seconds(7))
        var route = RequestRoute(sendsCredentials ? url : try SourceURL.parse("https://other.example/").get().url)
        if !sendsCredentials { try route.follow(302, to: url.string, of: request) }
        return TransferRequest(route, of: request, LoadedSecrets(), userAgent: "dlm")
    }

    @Test("Several cookies are one field, the user's fields replace dlm's, and the policies are those of the download")
    func whole() throws {
        let made = try request(sendsCredentials: true)
        #expect(made.options.fields[fields: .cookie].map(\.value) == ["a=1; b=2"])
        #expect(made.options.fields[fields: .userAgent].map(\.value) == ["mine"])
        #expect(made.options.fields[fields: .acceptEncoding].map(\.value) == ["br"])
        #expect(made.options.fields.count == 4)
        #expect(made.options.trust.certificate == "/me.pem")
        #expect(made.options.credential == Credential(user: "me", password: "secret"))
        #expect(
            !made.options.trust.verifiesServer && made.options.connectTimeout == 3 && made.options.stallTimeout == 7)
    }

    @Test("Credentials and the user's fields do not go to another origin")
    func elsewhere() throws {
        let made = try request(sendsCredentials: false)
        #expect(
            made.options.fields[.cookie] == nil && made.options.credential == nil
                && made.options.trust.certificate == nil)
        #expect(made.options.fields[.userAgent] == "dlm" && made.options.fields[.acceptEncoding] == "identity")
        #expect(made.options.fields.count == 2)
    }
}
