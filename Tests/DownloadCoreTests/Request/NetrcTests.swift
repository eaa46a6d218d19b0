import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite("Netrc: user names and passwords by host", .inTurn)
struct NetrcTests {
    private static let text = """
        # machine commented.example login no password no
        machine a.example login ann password pw#1
        machine B.Example
            login "bob smith"
            password "a \\"quoted\\" one\\\\"
            account ignored
        machine two.example login first password 1
        machine two.example login second password 2
        macdef init
        machine c.example login never password never

        machine onlylogin.example login ann
        default login anyone password else
        """

    @Test(
        "The entry of the host is found, with quoted words and several lines",
        arguments: [
            ("a.example", nil, "ann", "pw#1"), ("b.example", nil, "bob smith", "a \"quoted\" one\\"),
            ("two.example", nil, "first", "1"), ("two.example", "second", "second", "2"),
            ("onlylogin.example", nil, "ann", ""), ("c.example", nil, "anyone", "else"),
            ("commented.example", nil, "anyone", "else"), ("unknown.example", "anyone", "anyone", "else"),
        ] as [(String, String?, String, String)])
    func found(host: String, user: String?, name: String, password: String) {
        let netrc = Netrc(Array(Self.text.utf8))
        #expect(
            netrc.credential(for: host, user: user, allowsDefault: true) == Credential(user: name, password: password))
    }

    @Test("The password of another user or host is never returned, and the default entry only if permitted")
    func notFound() {
        let netrc = Netrc(Array(Self.text.utf8))
        #expect(netrc.credential(for: "a.example", user: "eve", allowsDefault: true) == nil)
        #expect(netrc.credential(for: "x.a.example", allowsDefault: false) == nil)
        #expect(netrc.credential(for: "example", allowsDefault: false) == nil)
    }

    @Test(
        "Malformed text is read without a result",
        arguments: ["", "machine", "machine a login", "\"", "macdef x", "\u{0}#\n\"\\"])
    func malformed(text: String) {
        #expect(Netrc(Array(text.utf8)).credential(for: "a", allowsDefault: true) == nil)
    }
}
