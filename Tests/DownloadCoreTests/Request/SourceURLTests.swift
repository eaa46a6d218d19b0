@testable import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct SourceURLTests {
    @Test(
        "A URL is normalized, and its escapes stay as they are",
        arguments: [
            ("http://example.org/a", "http://example.org/a"), ("http://example.org", "http://example.org/"),
            ("HTTPS://EXAMPLE.ORG/A", "https://example.org/A"), ("  http://h/a\n", "http://h/a"),
            ("http://h?q=1", "http://h/?q=1"), ("http://h#f", "http://h/"), ("http://h/a#f?g", "http://h/a"),
            ("http://h/a?b=c&d#f", "http://h/a?b=c&d"), ("http://h:8080/a", "http://h:8080/a"),
            ("http://h:80/", "http://h:80/"), ("http://h:/", "http://h/"), ("http://h:65535/", "http://h:65535/"),
            ("http://[::1]:8080/a", "http://[::1]:8080/a"), ("http://[FE80::A]/", "http://[fe80::a]/"),
            ("http://192.0.2.7/", "http://192.0.2.7/"), ("http://h./", "http://h./"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://BÜCHER.example/%20", "http://xn--bcher-kva.example/%20"),
            ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
            // Text with escapes is not escaped twice.
            ("http://h/a b", "http://h/a%20b"), ("http://h/a%20b", "http://h/a%20b"),
            ("http://h/a b%20c", "http://h/a%20b%20c"), ("http://h/ü%2Fx", "http://h/%C3%BC%2Fx"),
            ("http://h/日本?q=日%20本", "http://h/%E6%97%A5%E6%9C%AC?q=%E6%97%A5%20%E6%9C%AC"),
            ("http://h/100%", "http://h/100%25"), ("http://h/%zz%4", "http://h/%25zz%254"),
            ("http://h/%e4", "http://h/%e4"), ("http://h/a\\b", "http://h/a%5Cb"),
            ("http://h/[x]|{y}^`<>\"", "http://h/%5Bx%5D%7C%7By%7D%5E%60%3C%3E%22"),
            ("http://h/a//b/../c;v=1/~x", "http://h/a//b/../c;v=1/~x"), ("http://h/\u{301}", "http://h/%CC%81"),
            ("http://h/?u=http://x/?y", "http://h/?u=http://x/?y"),
            ("http://h/:@!$&'()*+,;=", "http://h/:@!$&'()*+,;="), ("http://h/@:8?@:9", "http://h/@:8?@:9"),
            ("http://h:00080/", "http://h:80/"),
        ])
    func normalized(_ text: String, _ expected: String) throws {
        let (url, credential) = try SourceURL.parse(text).get()
        #expect(url.string == expected)
        #expect(credential == nil)
        #expect(try SourceURL.parse(url.string).get().url == url, "reading it again changes nothing")
        #expect(url.string.utf8.allSatisfy { (0x21...0x7E).contains($0) })
    }

    @Test(
        "A URL in normal form is read the same with Foundation and without",
        arguments: [
            "http://example.org/a", "https://example.org:8443/a/b.c?d=e&f", "http://127.0.0.1:80/", "http://h./x",
            "http://-h-/a", "http://a..b/", "http://h//a/./../b", "http://h/?u=http://x/?y", "http://h/:@!$&'()*+,;=~_",
            "https://1/2", "http://h:65535/@:9", "http://a.b-c.d:1/.", "http://h/a;b=c/d?e?f/g", "http://0x7f.1/",
        ])
    func plain(_ text: String) throws {
        let url = try #require(SourceURL.plain(text))
        let other = try SourceURL.parseAny(text).get()
        #expect(url == other.url)
        #expect(other.credential == nil)
        #expect(url.string == text)
    }

    @Test(
        "In text that may be a URL, everything before the last @ is hidden, except a scheme",
        arguments: [
            ("http://ann:pw@h/x", "http://***@h/x"), ("ann:pw@h", "***@h"), ("h/x", "h/x"),
            ("ann:p://w@h", "***@h"), ("http://h/://a@b", "http://***@b"), ("a b://pw@h", "***@h"),
        ])
    func hidden(text: String, shown: String) { #expect(SourceURL.hidingUserInformation(text) == shown) }

    @Test(
        "A URL that is not in the plain form is left to Foundation",
        arguments: [
            "HTTP://h/", "http://H/", "http://h", "http://h?q", "http://h/#f", "http://h/%41", "http://h/ü",
            "http://h/a b",
            "http://u@h/", "http://u:p@h/", "http://h:/", "http://h:080/", "http://h:65536/", "http://h:99999999999/",
            "http://xn--bcher-kva.example/", "http://a.xn--b/", "http://[::1]/", "http:///a", "http://:80/",
            "gopher://h/",
            "http://h_x/", " http://h/", "http://h/\n", "http://h/a\\b", "http://h/[x]", "http://h:8a/", "http:/h/", "",
        ])
    func notPlain(_ text: String) { #expect(SourceURL.plain(text) == nil) }

    @Test(
        "The scheme, host, port, path and origin of a URL are read",
        arguments: [
            ("http://H.example/a%20b?c", "http", "h.example", 80, "/a%20b", "http://h.example:80"),
            ("https://h", "https", "h", 443, "/", "https://h:443"),
            ("https://h:80/x", "https", "h", 80, "/x", "https://h:80"),
            ("http://[::1]/", "http", "[::1]", 80, "/", "http://[::1]:80"),
            ("http://BÜCHER.example/", "http", "xn--bcher-kva.example", 80, "/", "http://xn--bcher-kva.example:80"),
        ])
    func parts(_ text: String, _ scheme: String, _ host: String, _ port: Int, _ path: String, _ origin: String) throws {
        let url = try SourceURL.parse(text).get().url
        #expect(url.scheme == scheme)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.path == path)
        #expect(url.origin == origin)
    }

    @Test(
        "User information is separated from the URL and decoded",
        arguments: [
            ("http://u:p@h/", "u", "p"), ("http://u@h/", "u", ""), ("http://u:@h/", "u", ""), ("http://:p@h/", "", "p"),
            ("http://u%40x:p%3Aq@h/", "u@x", "p:q"), ("http://u:p:q@h/", "u", "p:q"), ("http://ü:日@h/", "ü", "日"),
            ("http://u@x:p@h/", "u@x", "p"),
        ])
    func credentials(_ text: String, _ user: String, _ password: String) throws {
        let (url, credential) = try SourceURL.parse(text).get()
        #expect(credential == Credential(user: user, password: password))
        #expect(url.string == "http://h/")
    }

    @Test("Empty user information counts as none", arguments: ["http://@h/", "http://:@h/"])
    func emptyUserInformation(_ text: String) throws {
        let (url, credential) = try SourceURL.parse(text).get()
        #expect(credential == nil)
        #expect(url.string == "http://h/")
    }

    @Test(
        "A text that is not a URL is refused with the reason",
        arguments: [
            ("", SourceURL.ParseError.malformed), (" ", .malformed), ("http://", .malformed), ("http:///a", .malformed),
            ("http://:80/", .malformed), ("http://?q", .malformed), ("http://#f", .malformed),
            ("http://@/", .malformed),
            ("http://a b/", .malformed), ("http://h:0/", .malformed), ("http://h:65536/", .malformed),
            ("http://h:-1/", .malformed), ("http://h:x/", .malformed), ("http://h:99999999999999999999/", .malformed),
            ("http://[::1/", .malformed), ("http://h%2Fevil/", .malformed), ("http://h%00/", .malformed),
            ("http://h/a\nb", .malformed), ("http://h/a\r\nX: y", .malformed), ("http://h/\0", .malformed),
            ("http://h/\u{7F}", .malformed), ("http://h/\u{1B}", .malformed), ("http://%ff:x@h/", .malformed),
            ("http://u:%ff@h/", .malformed), ("://h/", .malformed), ("1http://h/", .malformed),
            ("ht tp://h/", .malformed),
            ("hттp://h/", .malformed), ("example.org/?u=http://x/", .malformed),
            ("example.org", .missingScheme), ("example.org/a", .missingScheme), ("/a", .missingScheme),
            ("//h/a", .missingScheme), ("http:/h", .missingScheme), ("localhost:8080/a", .missingScheme),
            ("gopher://h/", .unsupportedScheme("gopher")), ("DATA://a", .unsupportedScheme("data")),
            ("git+ssh://h/", .unsupportedScheme("git+ssh")), ("httpss://h/", .unsupportedScheme("httpss")),
        ])
    func refuses(_ text: String, _ expected: SourceURL.ParseError) {
        guard case .failure(let error) = SourceURL.parse(text) else {
            Issue.record("accepted \(text.debugDescription)")
            return
        }
        #expect(error == expected)
    }

    @Test("A URL is encoded as text, and an invalid text is not decoded")
    func codable() throws {
        let url = try SourceURL.parse("https://h/ü%20").get().url
        let data = try JSONEncoder().encode([url])
        #expect(try JSONDecoder().decode([String].self, from: data) == ["https://h/%C3%BC%20"])
        #expect(try JSONDecoder().decode([SourceURL].self, from: data) == [url])
        for text in [#"["gopher://h/"]"#, #"["x"]"#, "[1]", "[null]"] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode([SourceURL].self, from: Data(text.utf8)) }
        }
    }
}
