import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("Schemes other than http and https", .inTurn, .timeLimit(.minutes(1)))
struct SourceSchemeTests {
    @Test(
        "The path of another scheme has no query and no fragment",
        arguments: [
            ("ftp://a.example/d/f?x#y", "ftp://a.example/d/f%3Fx%23y", 21),
            ("FTPS://a.example/f", "ftps://a.example/f", 990),
            ("sftp://a.example:2222/f%20g", "sftp://a.example:2222/f%20g", 2222),
            ("scp://a.example/~/f", "scp://a.example/~/f", 22), ("ftp://a.example/f;type=i", "ftp://a.example/f", 21),
            ("file:///a b#c", "file:///a%20b%23c", 0), ("file://localhost/a", "file:///a", 0),
        ])
    func read(text: String, url: String, port: Int) throws {
        let parsed = try SourceURL.parse(text).get().url
        #expect(parsed.string == url)
        #expect(parsed.port == port)
        #expect(try SourceURL.parse(parsed.string).get().url == parsed)
    }

    @Test(
        "Folders, listings, text mode, control characters and files of other machines are refused",
        arguments: [
            ("ftp://a.example/d/", SourceURL.ParseError.folder), ("sftp://a.example/", .folder),
            ("file:///d/", .folder),
            ("ftp://a.example/f;type=a", .malformed), ("ftp://a.example/f;type=d", .malformed),
            ("ftp://a.example/f%0d%0aDELE%20g", .malformed), ("sftp://a.example/f%00", .malformed),
            ("file://other/f", .malformed), ("file:///f%00", .malformed),
            ("gopher://a.example/f", .unsupportedScheme("gopher")),
        ])
    func refused(text: String, error: SourceURL.ParseError) {
        #expect(SourceURL.parse(text).map(\.url) == .failure(error))
    }

    @Test("User and password are separated from the URL")
    func credential() throws {
        let parsed = try SourceURL.parse("sftp://ann:s%40t@a.example/f").get()
        #expect(parsed.credential == Credential(user: "ann", password: "s@t"))
        #expect(parsed.url.string == "sftp://a.example/f")
    }

    @Test("No redirect to another scheme is followed", arguments: ["ftp", "ftps", "sftp", "scp", "file"])
    func redirects(scheme: String) throws {
        let url = try SourceURL.parse("http://a.example/f").get().url
        for policy in [RedirectPolicy(), RedirectPolicy(schemes: ["http", scheme])] {
            let target = scheme == "file" ? "file:///etc/passwd" : "\(scheme)://a.example/f"
            #expect(policy.decide(from: url, to: target, hops: 0) == .refuse(.redirectRefused("to scheme \(scheme)")))
        }
    }

    @Test("A method that the scheme lacks is refused, and so is a scheme that is not permitted")
    func allowed() throws {
        var request = DownloadRequest(
            url: try SourceURL.parse("ftp://a.example/f").get().url, destination: Destination(folder: "/"))
        #expect(throws: Never.self) { try request.requireAllowed() }
        request.redirect.schemes = ["http", "https"]
        #expect(throws: DownloadError.self) { try request.requireAllowed() }
        request.redirect.schemes = nil
        request.http.method = "PUT"
        #expect(throws: DownloadError.self) { try request.requireAllowed() }
    }

    @Test("An empty password is stored and not asked for again; any other password is missing when decoded")
    func passwords() throws {
        for (password, missing) in [("", 0), ("x", 1)] {
            var request = DownloadRequest(
                url: try SourceURL.parse("sftp://a.example/f").get().url, destination: Destination(folder: "/"))
            request.credential = Credential(user: "ann", password: password)
            let text = try JSONEncoder().encode(request)
            #expect(try JSONDecoder().decode(DownloadRequest.self, from: text).missingSecrets.count == missing)
        }
    }
}
