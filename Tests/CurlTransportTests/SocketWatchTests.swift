import CSystem
import Glibc
import DownloadTestSupport
import Testing

@testable import CurlTransport

@Suite("SocketWatch: sockets on an engine's event queue", .inTurn)
struct SocketWatchTests {
    private let sockets = SocketWatch(epoll: dlm_epoll_create())
    private let pair: [Int32]

    init() throws {
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        self.pair = pair
    }

    /// The values that were passed to `watch` for the sockets that have an event now.
    private func ready() -> [UInt64] {
        var events = [dlm_event](repeating: dlm_event(), count: 8)
        let count = dlm_epoll_wait(sockets.epoll, &events, 8, 0)
        return events.prefix(Int(max(0, count))).map(\.data)
    }

    @Test("A dropped socket is removed at its first event")
    func dropped() {
        #expect(sockets.watch(pair[0], DLM_READABLE.rawValue, 7) == 0)
        sockets.drop(pair[0])
        close(pair[1])
        #expect(ready() == [7])
        #expect(sockets.ignores(pair[0]))
        #expect(ready().isEmpty)
        close(pair[0])
        close(sockets.epoll)
    }

    @Test("A socket that is watched again after a drop gets its events")
    func wantedAgain() {
        #expect(sockets.watch(pair[0], DLM_READABLE.rawValue, 7) == 0)
        sockets.drop(pair[0])
        #expect(sockets.watch(pair[0], DLM_READABLE.rawValue, 8) == 0)
        close(pair[1])
        #expect(ready() == [8])
        #expect(!sockets.ignores(pair[0]))
        #expect(ready() == [8])
        close(pair[0])
        close(sockets.epoll)
    }

    @Test("A new socket with the number of a dropped and closed socket gets its events")
    func sameNumber() throws {
        #expect(sockets.watch(pair[0], DLM_READABLE.rawValue, 7) == 0)
        sockets.drop(pair[0])
        var other: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &other) == 0)
        // `dup2` replaces the socket in one step, because other tests open files meanwhile.
        try #require(dup2(other[0], pair[0]) == pair[0])
        #expect(sockets.watch(pair[0], DLM_READABLE.rawValue, 8) == 0)
        close(other[1])
        #expect(ready() == [8])
        #expect(!sockets.ignores(pair[0]))
        for socket in [pair[0], pair[1], other[0], sockets.epoll] { close(socket) }
    }
}
