import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("HSTSList: hosts that only want https", .inTurn, .timeLimit(.minutes(1)))
struct HSTSListTests {
    let now = Date(timeIntervalSince1970: 1_790_000_000)

    @Test("A host is covered until its max-age is over, and its subdomains if the field includes them")
    func covers() {
        var list = HSTSList()
        let news1 = list.learn("max-age=100", of: "a.example", at: now)
        #expect(news1)
        let news2 = list.learn("max-age=\"200\"; includeSubDomains; preload", of: "b.example", at: now)
        #expect(news2)
        #expect(list.covers("a.example", at: now))
        #expect(!list.covers("x.a.example", at: now))
        #expect(list.covers("x.y.b.example", at: now))
        #expect(!list.covers("xb.example", at: now))
        #expect(!list.covers("a.example", at: now.addingTimeInterval(101)))
        let news3 = list.learn("max-age=0", of: "a.example", at: now)
        #expect(news3)
        #expect(!list.covers("a.example", at: now))
    }

    @Test(
        "A malformed field is ignored",
        arguments: ["", "max-age", "max-age=", "max-age=-1", "max-age=1x", "includeSubDomains", "max-age=1; max-age=2"])
    func malformed(field: String) {
        var list = HSTSList()
        let news4 = list.learn(field, of: "a.example", at: now)
        #expect(!news4)
        #expect(list.entries.isEmpty)
    }

    @Test("Addresses are never covered", arguments: ["127.0.0.1", "[::1]"])
    func addresses(host: String) {
        var list = HSTSList()
        let news5 = list.learn("max-age=100", of: host, at: now)
        #expect(!news5)
    }

    @Test("A repeated field within a minute changes nothing; a huge max-age never ends")
    func news() {
        var list = HSTSList()
        let news6 = list.learn("max-age=31536000", of: "a.example", at: now)
        #expect(news6)
        let news7 = list.learn("max-age=31536000", of: "a.example", at: now.addingTimeInterval(60))
        #expect(!news7)
        let news8 = list.learn("max-age=99999999999999999999999", of: "b.example", at: now)
        #expect(news8)
        #expect(list.covers("b.example", at: now.addingTimeInterval(3_000_000_000)))
    }

    @Test("The list is written in curl's format and read back, and malformed lines are skipped")
    func text() {
        var list = HSTSList()
        _ = list.learn("max-age=3600; includeSubDomains", of: "a.example", at: now)
        _ = list.learn("max-age=3600", of: "b.example", at: now)
        let text = list.text(at: now)
        #expect(text.contains(".a.example \""), "\(text)")
        #expect(HSTSList(text, now: now) == list)
        #expect(
            HSTSList("x\ny z\n.c.example \"unlimited\"\nd.example \"20000101 00:00:00\"\n", now: now).entries.count == 1
        )
    }

    @Test(
        "Port 80 becomes 443, and any other port stays",
        arguments: [
            ("http://a.example/x?y", "https://a.example/x?y"), ("http://a.example:80/x", "https://a.example/x"),
            ("http://a.example:8080/x", "https://a.example:8080/x"),
        ])
    func ports(plain: String, secure: String) throws {
        let url = try SourceURL.parse(plain).get().url
        #expect(url.overHTTPS?.string == secure)
        #expect(url.overHTTPS?.port == (secure.contains("8080") ? 8080 : 443))
    }
}
