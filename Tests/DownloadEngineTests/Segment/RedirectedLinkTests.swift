import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("URLs that a source redirects to", .inTurn)
struct RedirectedLinkTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// Expects the answer of a method that changes the link.
    private func holds(_ answer: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(answer, sourceLocation: sourceLocation)
    }

    @Test("One renewal serves all connections, which wait for its answer")
    func shared() {
        var link = RedirectedLink()
        for connection in 0...2 { holds(link.ask(by: connection)) }
        holds(link.renew(by: 1))
        holds(!link.renew(by: 2))
        #expect(link.isOutdated(for: 0) && link.isOutdated(for: 2))
        holds(link.ask(by: 1))
        holds(!link.ask(by: 0) && !link.ask(by: 2))
        link.endRenewal(by: 2)
        holds(!link.ask(by: 0))
        link.endRenewal(by: 1)
        holds(link.ask(by: 0) && !link.isOutdated(for: 0))
    }

    @Test("Only bytes from the new URL prove it")
    func proof() {
        var link = RedirectedLink()
        for connection in 0...1 { holds(link.ask(by: connection)) }
        link.prove(by: 0, at: now)
        #expect(link.isProved)
        holds(link.renew(by: 1))
        holds(link.ask(by: 1))
        link.prove(by: 0, at: now)
        #expect(!link.isProved)
        link.prove(by: 1, at: now)
        #expect(link.isProved)
    }

    @Test("A URL that says when it expires is renewed a little before", arguments: [8.0, 300.0])
    func expiry(lifetime: Double) throws {
        let end = now + lifetime
        let url = try #require(try? SourceURL.parse("http://h/a?Expires=\(Int(end.timeIntervalSince1970))").get().url)
        var link = RedirectedLink()
        holds(link.ask(by: 0))
        holds(!link.isDue(url, at: now))
        link.prove(by: 0, at: now)
        let margin = min(5, lifetime / 4)
        holds(!link.isDue(url, at: end - margin - 0.1))
        holds(link.isDue(url, at: end - margin))
        holds(link.renew(by: 0))
        holds(!link.isDue(url, at: end))
    }

    @Test("A URL that had expired when it came says nothing, because the clocks differ")
    func clocks() throws {
        let url = try #require(
            try? SourceURL.parse("http://h/a?Expires=\(Int(now.timeIntervalSince1970) - 10)").get().url)
        var link = RedirectedLink()
        holds(link.ask(by: 0))
        link.prove(by: 0, at: now)
        holds(!link.isDue(url, at: now))
    }
}
