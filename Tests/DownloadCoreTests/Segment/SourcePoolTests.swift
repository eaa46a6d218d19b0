import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

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

    @Test("Connections count against the host that they go to, and not against that of the URL")
    func counted() throws {
        let pool = try pool("http://a/f", "http://b/f")
        #expect(pool.grant(wants: 16, running: [0]) >= 16)
        let members = (0..<16).map { pool.member(for: $0, running: 0..<$0) }
        #expect(members.count { $0 == 0 } == 8 && members.count { $0 == 1 } == 8)
        pool.settle(running: 0..<16)
        // Each host allows 16 connections for the session, and half of them are free.
        for origin in ["http://a:80", "http://b:80"] {
            let other = share(origin, false)
            #expect(other.grant(has: 1, wants: 16) == 8, "\(origin)")
        }
    }

    @Test("A host that others use has fewer for it, and the rest goes to the next")
    func shared() throws {
        let other = share("http://b:80", true)
        _ = other.grant(has: 14, wants: 14)
        let pool = try pool("http://a/f", "http://b/f")
        #expect(pool.grant(wants: 12, running: [0]) >= 12)
        let members = (0..<12).map { pool.member(for: $0, running: 0..<$0) }
        #expect(members.count { $0 == 1 } == 2, "\(members)")
    }

    @Test("A source that is left gives back what it had, and so do all at the end")
    func left() throws {
        let pool = try pool("http://a/f", "http://b/f")
        _ = pool.grant(wants: 16, running: [0])
        for connection in 0..<16 { _ = pool.member(for: connection, running: 0..<connection) }
        #expect(pool.fail(1, "gone", isFinal: true))
        pool.settle(running: 0..<16)
        #expect(share("http://b:80", false).grant(has: 1, wants: 16) == 16)
        pool.leaveHosts()
        #expect(share("http://a:80", false).grant(has: 1, wants: 16) == 16)
        #expect(hosts.isIdle)
    }

    @Test("A number of connections that was given is not cut, and counts for others")
    func fixed() throws {
        let pool = try pool("http://a/f", "http://b/f", isFixed: true)
        #expect(pool.grant(wants: 40, running: [0]) >= 40)
        for connection in 0..<40 { _ = pool.member(for: connection, running: 0..<connection) }
        pool.settle(running: 0..<40)
        #expect(share("http://b:80", false).grant(has: 1, wants: 16) == 1)
    }

    @Test("A connection asks the one that it asked before, unless that takes no more by now and another does")
    func limited() throws {
        let pool = try pool("http://a/f", "http://b/f", isFixed: true)
        _ = pool.grant(wants: 6, running: [0])
        let members = (0..<6).map { pool.member(for: $0, running: 0..<$0) }
        #expect(members == [0, 1, 0, 1, 0, 1])
        // The first source refused connection 2, and takes only one connection now.
        pool.limit(0, to: 1, without: 2)
        #expect(pool.member(for: 0, running: [0, 1, 3]) == 0)
        #expect(pool.member(for: 4, running: [0, 1, 3]) == 1)
        #expect(pool.fail(1, "gone", isFinal: true))
        #expect(pool.member(for: 4, running: [0]) == 0)
        #expect(pool.member(for: 0, running: [0, 4]) == 0)
    }

    @Test("A mirror's redirect to a host that wants https alone is followed over https")
    func strictHosts() throws {
        let folder = try TemporaryFolder()
        let hosts = HSTSStore(path: folder.path + "/hsts")
        hosts.learn("max-age=1000", of: "c.example")
        let urls = try ["https://a.example/f", "https://b.example/f"].map { try SourceURL.parse($0).get().url }
        let request = DownloadRequest(url: urls[0], destination: Destination(folder: "/d"))
        let pool = SourcePool(
            urls, first: 0, route: RequestRoute(urls[0]), validators: Validators(), for: request, upgradedBy: hosts)
        try pool.follow(302, to: "http://c.example/f", from: 1, of: request)
        #expect(pool.members[1].route.url.string == "https://c.example/f")
        hosts.flush()
    }

    @Test("A wrong piece is blamed on the source that brought all of it, not on one that brought the end of it")
    func blamed() throws {
        let pool = try pool("http://a/f", "http://b/f")
        // The beginning came in an earlier attempt.
        pool.note(60..<100, from: 0)
        #expect(pool.blame(0, 0..<100) == [])
        pool.note(0..<100, from: 0)
        pool.note(100..<200, from: 1)
        #expect(pool.blame(1, 100..<200) == [1])
        #expect(pool.usable == 1 && pool.members[0].failure == nil)
        #expect(pool.blame(0, 0..<100) == [0])
        #expect(pool.usable == 0)
    }

    @Test("A piece that stays wrong is blamed on all that bring parts of it")
    func blamedTogether() throws {
        let pool = try pool("http://a/f", "http://b/f")
        for time in 1...3 {
            pool.note(0..<50, from: 0)
            pool.note(50..<100, from: 1)
            #expect(pool.blame(0, 0..<100) == (time < 3 ? [] : [0, 1]))
        }
    }
}
