import DownloadCore
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct RedirectPolicyTests {
    static func url(_ text: String) throws -> SourceURL { try SourceURL.parse(text).get().url }

    @Test(
        "Credentials stay within one origin",
        arguments: [
            ("https://a.example/1", "https://a.example/2", true),
            ("https://a.example/1", "https://A.EXAMPLE/2", true),
            ("https://a.example/1", "https://a.example:443/2", true),
            ("http://a.example:80/1", "http://a.example/2", true),
            ("http://[::1]:8080/1", "http://[::1]:8080/2", true),
            ("https://a.example/1", "https://a.example:444/2", false),
            ("https://a.example/1", "https://b.example/2", false),
            ("https://a.example/1", "https://www.a.example/2", false),
            ("https://a.example/1", "https://a.example.evil.example/2", false),
            ("https://a.example/1", "https://a.example@evil.example/2", false),
            ("http://a.example/1", "https://a.example/2", false),
            ("http://a.example:81/1", "http://a.example/2", false),
        ])
    func follows(_ from: String, _ location: String, _ keeps: Bool) throws {
        let decision = RedirectPolicy().decide(from: try Self.url(from), to: location, hops: 0)
        #expect(decision == .follow(try Self.url(location), keepsCredentials: keeps))
    }

    @Test("User information in a location never becomes part of the URL")
    func userInformation() throws {
        let from = try Self.url("https://a.example/")
        let decision = RedirectPolicy().decide(from: from, to: "https://u:p@a.example/x", hops: 0)
        #expect(decision == .follow(try Self.url("https://a.example/x"), keepsCredentials: true))
    }

    @Test(
        "A redirect to a scheme other than http and https, from https to http, or to an invalid URL is refused",
        arguments: [
            ("https://a.example/", "http://a.example/", "from https to http"),
            ("https://a.example/", "HTTP://b.example/", "from https to http"),
            ("https://a.example/", "ftp://a.example/", "to scheme ftp"),
            ("http://a.example/", "file:///etc/passwd", "to scheme file"),
            ("http://a.example/", "FILE:///etc/passwd", "to scheme file"),
            ("http://a.example/", "gopher://a.example/", "to scheme gopher"),
            ("http://a.example/", "javascript:alert(1)", "to something that is not a URL"),
            ("http://a.example/", "/relative", "to something that is not a URL"),
            ("http://a.example/", "//a.example/x", "to something that is not a URL"),
            ("http://a.example/", "", "to something that is not a URL"),
            ("http://a.example/", "http://", "to something that is not a URL"),
            ("http://a.example/", "http:///x", "to something that is not a URL"),
            ("http://a.example/", "http://a.example:99999/", "to something that is not a URL"),
            ("http://a.example/", "http://a\r\nb/", "to something that is not a URL"),
        ])
    func refuses(_ from: String, _ location: String, _ why: String) throws {
        let decision = RedirectPolicy().decide(from: try Self.url(from), to: location, hops: 0)
        #expect(decision == .refuse(.redirectRefused(why)))
    }

    @Test("The limit is the number of redirects followed", arguments: [0, 1, 5, 20])
    func limit(_ limit: Int) throws {
        let from = try Self.url("http://a.example/")
        let policy = RedirectPolicy(limit: limit)
        for hops in 0...25 {
            let decision = policy.decide(from: from, to: "http://a.example/x", hops: hops)
            if hops < limit {
                #expect(decision == .follow(try Self.url("http://a.example/x"), keepsCredentials: true))
            } else {
                #expect(decision == .refuse(.tooManyRedirects(limit)))
            }
        }
    }
}
