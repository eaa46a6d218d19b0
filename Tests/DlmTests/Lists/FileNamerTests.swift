import DownloadCore
import DownloadSystem
import Testing

@testable import dlm

@Suite("Names for files of many workers")
struct FileNamerTests {
    private func place(_ rule: FileNameRule, _ url: String, at position: Int = 0, spreads: Bool = false) throws
        -> String
    {
        let place = try FileNamer(rule: rule, spreads: spreads).place(of: .example(url), at: position)
        return place.folder.isEmpty ? place.name : "\(place.folder)/\(place.name)"
    }

    /// The expected names are those of Python's `urllib.parse.quote(text, safe="")`, except for the dots that only dlm
    /// quotes.
    @Test(
        "Names by URL are quoted as in Python, apart from some dots, in a folder of the host",
        arguments: [
            ("https://example.org/a/b.jpg?x=1&y=%20", "example.org/a%2Fb.jpg%3Fx%3D1%26y%3D%2520"),
            ("http://example.org/a~b", "http+example.org/a~b"),
            ("https://example.org:8443/", "example.org+8443/%2F"),
            ("http://[::1]:8080/a", "http+%5B%3A%3A1%5D+8080/a"),
            ("https://example.org/.htaccess", "example.org/%2Ehtaccess"),
            ("https://example.org/a.part", "example.org/a%2Epart"),
            ("https://example.org//a", "example.org/%2Fa"),
            ("ftp://example.org/a", "ftp+example.org/a"),
        ])
    func byURL(_ url: String, _ expected: String) throws { #expect(try place(.url, url) == expected) }

    @Test("Names by hash and by number keep the extension of the URL")
    func others() throws {
        let digest = "700caca5ae8f856fc70b39312664d5c97f25108545c8f774199da1edfcc4ac60"
        #expect(try place(.hash, "https://example.org/a.jpg") == digest + ".jpg")
        #expect(try place(.number, "https://example.org/a.jpg?b.png", at: 42) == "000000042.jpg")
        #expect(try place(.number, "https://example.org/a", at: 1_234_567, spreads: true) == "001/234/001234567")
        #expect(try place(.number, "https://example.org/.x", at: 12_345_678_901) == "12345678901")
    }

    @Test("With --spread, files named by hash or URL are two folders deeper, which the digest of the URL names")
    func spread() throws {
        let digest = try TextDigest("https://example.org/a.jpg").hexadecimal
        let levels = "\(digest.prefix(2))/\(digest.dropFirst(2).prefix(2))"
        #expect(try place(.hash, "https://example.org/a.jpg", spreads: true) == "\(levels)/\(digest).jpg")
        #expect(try place(.url, "https://example.org/a.jpg", spreads: true) == "example.org/\(levels)/a.jpg")
    }

    @Test("Long URLs, and URLs that differ only a little, get different names that fit")
    func collisions() throws {
        let long = String(repeating: "a/", count: 400)
        var urls = [
            "https://h/\(long)1.tar", "https://h/\(long)2.tar", "https://h/a", "https://h/a/", "https://h/a?",
            "https://h/a%2F", "https://h/", "https://h//", "https://h///", "https://h//a", "https://h/%2F",
        ]
        urls += [
            "https://h/%61", "http://h/a", "https://h/A", "https://h:444/a", "https://h/a,b",
            "https://h/" + String(repeating: "é", count: 90),
        ]
        for rule in [FileNameRule.url, .hash] {
            let places = try urls.map { try place(rule, $0) }
            #expect(Set(places).count == urls.count, "\(places)")
            for name in places.compactMap({ $0.split(separator: "/").last }) {
                #expect(FileNaming.isUsable(String(name)) && !name.hasSuffix(".part"))
            }
        }
    }
}
