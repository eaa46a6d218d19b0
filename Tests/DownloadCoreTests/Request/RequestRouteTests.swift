import DownloadTestSupport
import HTTPTypes
import Testing

@testable import DownloadCore

@Suite("RequestRoute: what is sent after a redirect", .inTurn)
struct RequestRouteTests {
    private func request(_ method: String? = nil, body: String? = nil) throws -> DownloadRequest {
        let url = try SourceURL.parse("https://a.example/x").get().url
        var request = DownloadRequest(url: url, destination: Destination(folder: "/"))
        request.http.method = method
        request.http.body = body.map { RequestBody(Array($0.utf8)) }
        return request
    }

    @Test(
        "301, 302 and 303 turn a POST into a GET; 303 does so for every method",
        arguments: [
            (301, "POST", true), (302, "POST", true), (303, "POST", true), (307, "POST", false), (308, "POST", false),
            (301, "PUT", false), (302, "PUT", false), (303, "PUT", true), (307, "PUT", false),
        ] as [(Int, String, Bool)])
    func method(status: Int, method: String, isGet: Bool) throws {
        let request = try request(method, body: "a=1")
        var route = RequestRoute(request.url)
        try route.follow(status, to: "https://a.example/y", of: request)
        #expect(route.isGet == isGet && route.hops == 1 && route.sendsCredentials)
        let made = TransferRequest(route, of: request, LoadedSecrets(), userAgent: "dlm")
        #expect(made.options.method.rawValue == (isGet ? "GET" : method))
        #expect(made.options.body == (isGet ? nil : Array("a=1".utf8)))
    }

    @Test("A body is not sent to another origin; a redirect that drops the body is followed")
    func otherOrigin() throws {
        let request = try request(body: "a=1")
        var route = RequestRoute(request.url)
        #expect(throws: DownloadError.self) {
            try route.follow(307, to: "https://b.example/", of: request)
        }
        try route.follow(303, to: "https://b.example/", of: request)
        #expect(!route.sendsCredentials)
        try route.follow(307, to: "https://a.example/", of: request)
        #expect(!route.sendsCredentials && route.isGet && route.hops == 2)
    }

    @Test("After a redirect to another origin no credentials are sent, even on later redirects within that origin")
    func withinAnotherOrigin() throws {
        let request = try request()
        var route = RequestRoute(request.url)
        try route.follow(302, to: "https://a.example/y", of: request)
        #expect(route.sendsCredentials)
        try route.follow(302, to: "https://b.example/", of: request)
        #expect(!route.sendsCredentials)
        try route.follow(302, to: "https://b.example/z", of: request)
        #expect(!route.sendsCredentials)
    }

    @Test("Only permitted schemes are followed, and a pinned key permits only https")
    func schemes() throws {
        var request = try request()
        request.redirect.schemes = ["https"]
        #expect(request.onlyScheme == "https")
        let plain = try SourceURL.parse("http://a.example/x").get().url
        #expect(
            request.redirect.decide(from: plain, to: "http://a.example/y", hops: 0)
                != .follow(plain, keepsCredentials: true))
        request.redirect.schemes = nil
        request.trust.pinnedKey = "sha256//x"
        #expect(request.onlyScheme == "https")
        request.trust.pinnedKey = nil
        #expect(request.onlyScheme == nil)
    }

    @Test("The method and the failure decide whether a request may be sent again")
    func repetition() throws {
        let lost = DownloadError.networkFailed(.connectionLost, TransportDiagnosis(code: 0, message: ""))
        let unreached = DownloadError.networkFailed(.connect, TransportDiagnosis(code: 0, message: ""))
        for (method, body, mayRepeat) in [
            (nil, nil, true), (nil, "a", false), ("POST", "a", false), ("PATCH", "a", false), ("PUT", "a", true),
            ("GET", "a", true), ("DELETE", nil, true),
        ] as [(String?, String?, Bool)] {
            let request = try request(method, body: body)
            #expect(request.mayBeSentAgain(after: lost) == mayRepeat, "\(method ?? "") \(body ?? "")")
            #expect(request.mayBeSentAgain(after: unreached))
        }
    }
}
