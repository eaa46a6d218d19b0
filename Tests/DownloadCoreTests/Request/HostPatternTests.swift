import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite("HostPattern", .inTurn)
struct HostPatternTests {
    @Test(
        "A pattern matches the intended hosts and no others",
        arguments: [
            (
                "example.org", ["example.org", "example.org."],
                ["www.example.org", "example.or", "example.org.evil.net"]
            ),
            ("Example.ORG", ["example.org"], []),
            (
                "*.example.org", ["a.example.org", "a.b.example.org"],
                ["example.org", "evilexample.org", "example.org.x"]
            ),
            ("*", ["example.org", "127.0.0.1", "[::1]"], []),
            (
                "cdn*.example.*", ["cdn1.example.org", "cdn.example.com", "cdn.x.example.y.z"],
                ["cdn1.example", "a.cdn1.example.org"]
            ),
            ("**a*b", ["ab", "xaab", "aab"], ["a", "ba", "abc"]),
            ("127.0.0.1", ["127.0.0.1"], ["127.0.0.11"]),
            ("[::1]", ["[::1]"], ["[::2]"]),
            ("bücher.example", ["xn--bcher-kva.example"], ["b.example"]),
            ("*.Bücher.example", ["a.xn--bcher-kva.example"], ["xn--bcher-kva.example"]),
        ] as [(String, [String], [String])])
    func matches(text: String, yes: [String], no: [String]) throws {
        let pattern = try #require(HostPattern(text))
        for host in yes { #expect(pattern.matches(host), "\(host)") }
        for host in no { #expect(!pattern.matches(host), "\(host)") }
    }

    @Test(
        "A text that cannot be a host is refused",
        arguments: [
            "", "http://example.org", "example.org/", "example.org:80", "example.org:443", "a b", "me@example.org",
            "a\nb", "[::1", "ü*.example.org", "{a,b}",
        ])
    func wrong(text: String) { #expect(HostPattern(text) == nil) }

    @Test("A name is closer than a pattern, and a longer pattern is closer than a shorter one")
    func order() {
        let patterns = ["*", "*.org", "*.example.org", "*cdn.example.org", "a.org"].compactMap(HostPattern.init)
        #expect(patterns.shuffled().sorted { $1.isCloser(than: $0) } == patterns)
        let limits = Dictionary(uniqueKeysWithValues: zip(patterns, 1...))
        #expect(limits.value(for: "xcdn.example.org") == 4 && limits.value(for: "a.example.org") == 3)
        #expect(limits.value(for: "a.org") == 5 && limits.value(for: "localhost") == 1)
    }

    @Test("A hostile pattern does not take exponential time")
    func hostile() throws {
        let pattern = try #require(HostPattern(String(repeating: "*a", count: 2000) + "b"))
        let clock = ContinuousClock.now
        #expect(!pattern.matches(String(repeating: "a", count: 4000)))
        #expect(ContinuousClock.now - clock < .seconds(30))
    }
}
