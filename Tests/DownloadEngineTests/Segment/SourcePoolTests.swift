import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("SourcePool: connections among sources", .inTurn)
struct SourcePoolTests {
    private let hosts = HostMemory()

    private func pool(_ urls: String..., isFixed: Bool = false) throws -> SourcePool {
        let urls = try urls.map { try SourceURL.parse($0).get().url }
        let pool = SourcePool(
            urls, first: 0, route: RequestRoute(urls[0]), validators: Validators(),
            for: DownloadRequest(url: urls[0], destination: Destination(folder: "/d")))
        pool.join(first: share(urls[0].origin, isFixed)) { share($0, isFixed) }
        return pool
    }

    private func share(_ origin: String, _ isFixed: Bool) -> ConnectionShare {
        hosts.share(of: origin, isFixed: isFixed, limit: 16, at: Date())
    }

    @Test("Connections count against the host of their source, not against the host of the URL")
    func counted() throws {
        let pool = try pool("http://a/f", "http://b/f")
        #expect(pool.grant(has: 1, wants: 16, running: [0]) >= 16)
        let members = (0..<16).map { pool.member(for: $0, running: 0..<$0) }
        #expect(members.count { $0 == 0 } == 8 && members.count { $0 == 1 } == 8)
        pool.settle(running: 0..<16)
        // Each host permits 16 connections for the session, so half of them are left.
        for origin in ["http://a:80", "http://b:80"] {
            let other = share(origin, false)
            #expect(other.grant(has: 1, wants: 16) == 8, "\(origin)")
        }
    }

    @Test("A host with other downloads gets fewer connections, and the next host gets the rest")
    func shared() throws {
        let other = share("http://b:80", true)
        _ = other.grant(has: 14, wants: 14)
        let pool = try pool("http://a/f", "http://b/f")
        #expect(pool.grant(has: 1, wants: 12, running: [0]) >= 12)
        let members = (0..<12).map { pool.member(for: $0, running: 0..<$0) }
        #expect(members.count { $0 == 1 } == 2, "\(members)")
    }

    @Test("A dropped source gives back its connections, and so do all sources at the end")
    func left() throws {
        let pool = try pool("http://a/f", "http://b/f")
        _ = pool.grant(has: 1, wants: 16, running: [0])
        for connection in 0..<16 { _ = pool.member(for: connection, running: 0..<connection) }
        #expect(pool.fail(1, "gone", isFinal: true))
        pool.settle(running: 0..<16)
        #expect(share("http://b:80", false).grant(has: 1, wants: 16) == 16)
        pool.leaveHosts()
        #expect(share("http://a:80", false).grant(has: 1, wants: 16) == 16)
        #expect(hosts.isIdle)
    }

    @Test("A fixed number of connections is not cut, and counts for other downloads")
    func fixed() throws {
        let pool = try pool("http://a/f", "http://b/f", isFixed: true)
        #expect(pool.grant(has: 1, wants: 40, running: [0]) >= 40)
        for connection in 0..<40 { _ = pool.member(for: connection, running: 0..<connection) }
        pool.settle(running: 0..<40)
        #expect(share("http://b:80", false).grant(has: 1, wants: 16) == 1)
    }

    @Test("A connection changes its source only if its own accepts no more connections and another accepts one")
    func limited() throws {
        let pool = try pool("http://a/f", "http://b/f", isFixed: true)
        _ = pool.grant(has: 1, wants: 6, running: [0])
        let members = (0..<6).map { pool.member(for: $0, running: 0..<$0) }
        #expect(members == [0, 1, 0, 1, 0, 1])
        // The first source has refused connection 2 and keeps one connection. Connections 4 and 5 have no request.
        pool.limit(0, to: 1, without: 2)
        #expect(pool.member(for: 0, running: [0, 1, 3]) == 0)
        #expect(pool.member(for: 4, running: [0, 1, 3]) == 1)
        #expect(pool.fail(1, "gone", isFinal: true))
        #expect(pool.member(for: 4, running: [0]) == 0)
        #expect(pool.member(for: 0, running: [0, 4]) == 0)
    }

    @Test("A mirror's redirect to a host that only wants https is followed over https")
    func strictHosts() throws {
        let folder = try TemporaryFolder()
        let hosts = HSTSStore(path: folder.path + "/hsts")
        hosts.learn("max-age=1000", of: "c.example")
        let urls = try ["https://a.example/f", "https://b.example/f"].map { try SourceURL.parse($0).get().url }
        let request = DownloadRequest(url: urls[0], destination: Destination(folder: "/d"))
        let pool = SourcePool(
            urls, first: 0, route: RequestRoute(urls[0]), validators: Validators(), for: request, upgradedBy: hosts)
        #expect(pool.member(for: 5, running: [0]) == 1)
        try pool.follow(302, to: "http://c.example/f", by: 5, of: request)
        #expect(pool.members[1].route.url.string == "https://c.example/f")
        hosts.flush()
    }

    @Test("The redirects of several connections to one source are one chain")
    func redirects() throws {
        let pool = try pool("http://a/f")
        let request = DownloadRequest(url: pool.members[0].url, destination: Destination(folder: "/d"))
        let now = Date(timeIntervalSince1970: 0)
        for connection in 0...2 { #expect(pool.prepare(connection, from: 0, of: request, at: now)) }
        for hop in 1...20 {
            try pool.follow(302, to: "http://a/\(hop)/f", by: 1, of: request)
            for other in [0, 2] { try pool.follow(302, to: "http://a/1/f", by: other, of: request) }
            #expect(pool.members[0].route.url.string == "http://a/\(hop)/f")
            #expect(pool.prepare(1, from: 0, of: request, at: now))
            #expect(!pool.prepare(2, from: 0, of: request, at: now))
        }
        pool.endRenewal(by: 1)
        #expect(pool.prepare(2, from: 0, of: request, at: now))
    }

    @Test("A wrong piece is blamed on a source only if the source sent the whole piece")
    func blamed() throws {
        let pool = try pool("http://a/f", "http://b/f")
        // The beginning of the piece came in an earlier attempt.
        pool.note(60..<100, from: 0)
        #expect(pool.blame(0, 0..<100) == [])
        pool.note(0..<100, from: 0)
        pool.note(100..<200, from: 1)
        #expect(pool.blame(1, 100..<200) == [1])
        #expect(pool.usable == 1 && pool.members[0].failure == nil)
        #expect(pool.blame(0, 0..<100) == [0])
        #expect(pool.usable == 0)
    }

    @Test("A piece that stays wrong is blamed on all sources that send parts of it")
    func blamedTogether() throws {
        let pool = try pool("http://a/f", "http://b/f")
        for time in 1...3 {
            pool.note(0..<50, from: 0)
            pool.note(50..<100, from: 1)
            #expect(pool.blame(0, 0..<100) == (time < 3 ? [] : [0, 1]))
        }
    }
}
