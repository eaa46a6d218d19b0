import CurlTransport
import DownloadCore
import DownloadSystem
import DownloadTestSupport
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DownloadControl

/// Whatever answers on the socket, the client reports the problem in one error.
@Suite("DownloadControl: peers that do not answer as a session", .inTurn, .timeLimit(.minutes(1)))
struct HostilePeerTests {
    private let folder: TemporaryFolder
    private let location: SessionLocation
    private let transport: CurlTransport

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder("sessions"), withIntermediateDirectories: true)
        location = SessionLocation(stateFolder: folder.path, identifier: "background")
        transport = try CurlTransport(environment: [:])
    }

    private func client(
        _ limit: Duration = .seconds(3), answer: Int = 1 << 20, start: Duration = .seconds(50),
        at location: SessionLocation? = nil, isAlive: @escaping @Sendable () -> Bool = { false }
    ) -> ControlClient {
        var limits = ControlClient.Limits()
        (limits.hello, limits.answer, limits.start) = (limit, answer, start)
        return ControlClient(
            transport: transport, location: location ?? self.location, limits: limits, isAlive: isAlive,
            readLog: { _ in AsyncThrowingStream { nil } })
    }

    private func end() {
        transport.shutdown()
    }

    private func failure(_ body: () async throws -> Void) async -> SessionFailure? {
        do {
            try await body()
            return nil
        } catch DownloadError.sessionUnavailable(let failure) {
            return failure
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    @Test("If nobody listens, the session is not running")
    func nobody() async throws {
        #expect(await failure { _ = try await client().status() } == .notRunning("background"))
        close(try LoopbackSocket.listen(unixSocket: location.socketPath, backlog: 1))
        #expect(await failure { _ = try await client().status() } == .notRunning("background"))
        let deep = SessionLocation(
            stateFolder: folder("missing/" + String(repeating: "d", count: 200)), identifier: "b")
        #expect(
            await failure { _ = try await client(at: deep).status() } == .notRunning("b"))
        end()
    }

    @Test("A peer that listens but says nothing (such as a stopped process) counts as not answering")
    func silent() async throws {
        let descriptor = try LoopbackSocket.listen(unixSocket: location.socketPath, backlog: 1)
        defer { close(descriptor) }
        guard
            case .notAnswering("background", _)? = await failure({
                _ = try await client(.milliseconds(300)).status()
            })
        else {
            Issue.record("it answered?")
            return
        }
        end()
    }

    @Test("If the queue of the socket is full, the session is not answering")
    func full() async throws {
        let descriptor = try LoopbackSocket.listen(unixSocket: location.socketPath, backlog: 0)
        defer { close(descriptor) }
        let waiting = try RawClient(location.socketPath)
        defer { waiting.close() }
        guard case .notAnswering? = await failure({ _ = try await client(.milliseconds(300)).status() }) else {
            Issue.record("it answered?")
            return
        }
        end()
    }

    static let ok = "HTTP/1.1 200 OK\r\nDlm-Api: 1\r\n"

    @Test(
        "Another version of the API is incompatible; any other peer is a bad exchange",
        arguments: [
            ("HTTP/1.1 200 OK\r\nDlm-Api: 2\r\nContent-Length: 2\r\n\r\n{}", "incompatible"),
            ("HTTP/1.1 400 Bad\r\nDlm-Api: 2\r\nContent-Length: 2\r\n\r\n{}", "incompatible"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "badExchange"),
            ("HTTP/1.1 200 OK\r\nDlm-Api: x\r\nContent-Length: 2\r\n\r\n{}", "badExchange"),
            (ok + "Content-Length: 2\r\n\r\n{}", "badExchange"),
            (ok + "Content-Length: 4\r\n\r\nnope", "badExchange"),
            (ok + "Content-Length: 99\r\n\r\n{", "badExchange"),
            ("HTTP/1.1 500 Bad\r\nDlm-Api: 1\r\nContent-Length: 4\r\n\r\nnope", "badExchange"),
            (
                "HTTP/1.1 500 X\r\nDlm-Api: 1\r\nContent-Length: 96\r\n\r\n"
                    + #"{"version":1,"error":{"kind":"new","reason":"new","message":"a word of tomorrow","exitStatus":1}}"#
                    .padding(toLength: 96, withPad: " ", startingAt: 0), "badExchange"
            ),
            ("SSH-2.0-OpenSSH\r\n", "badExchange"), ("", "badExchange"),
        ])
    func others(_ reply: String, _ word: String) async throws {
        let server = try RawServer(reply, unixSocket: location.socketPath)
        let error = await failure { _ = try await client().status() }
        #expect(error.map { DownloadError.sessionUnavailable($0).reason } == word, "\(String(describing: error))")
        server.stop()
        end()
    }

    @Test("A peer that closes every connection and then ends counts as not running", arguments: 1...3)
    func dies(clients: Int) async throws {
        let server = try RawServer("", unixSocket: location.socketPath, clients: clients)
        #expect(await failure { _ = try await client().status() } == .notRunning(location.identifier))
        server.stop()
        end()
    }

    @Test("A live session that does not listen yet gets the request as soon as it listens, and only once")
    func startsLate() async throws {
        let servers = Mutex<[RawServer]>([])
        let path = location.socketPath
        let client = client(isAlive: {
            // The session is asked for its life because nothing listened.
            servers.withLock { servers in
                if let server = try? RawServer(Self.ok + "Content-Length: 2\r\n\r\n{}", unixSocket: path) {
                    servers.append(server)
                }
            }
            return true
        })
        _ = try await client.ask(.post, "session/shutdown")
        #expect(servers.withLock(\.self).count == 1)
        for server in servers.withLock(\.self) { server.stop() }
        end()
    }

    @Test("A session that never listens is not answering while it lives, and not running when its lock is free")
    func neverListens() async throws {
        guard
            case .notAnswering(_, let message)? = await failure({
                _ = try await client(start: .milliseconds(50), isAlive: { true }).status()
            })
        else {
            Issue.record("it answered?")
            return
        }
        #expect(message.contains(location.socketPath))
        let asked = Atomic(0)
        let dying = client(isAlive: { asked.add(1, ordering: .relaxed).newValue < 3 })
        #expect(await failure { _ = try await dying.status() } == .notRunning("background"))
        #expect(asked.load(ordering: .relaxed) == 3)
        end()
    }

    @Test("A session that ends during a long request counts as not running as soon as its lock is free")
    func endsDuringLongRequest() async throws {
        let time = HurriedTime()
        let asked = Mutex(0)
        let transport = FakeTransport { _, request in
            let isFirst = request.number == 1
            if isFirst { time.advance(by: .seconds(30)) }
            return .failure(
                .networkFailed(
                    isFirst ? .connectionLost : .connect,
                    TransportDiagnosis(code: 7, message: "", errno: isFirst ? 0 : ECONNREFUSED)))
        }
        let client = ControlClient(
            transport: transport, location: location, time: time,
            isAlive: {
                asked.withLock { asked in
                    asked += 1
                    return asked < 3
                }
            }, readLog: { _ in AsyncThrowingStream { nil } })
        #expect(await failure { _ = try await client.pause([1]) } == .notRunning("background"))
        #expect(transport.requests.count == 4)
        end()
    }

    @Test("A session whose socket closes while a client connects counts as not running")
    func closesDuringConnect() async throws {
        let client = client()
        for _ in 0..<300 {
            let descriptor = try LoopbackSocket.listen(unixSocket: location.socketPath, backlog: 4096)
            let path = location.socketPath
            Thread.detachNewThread {
                // The first client has connected, and libcurl has often not seen this yet.
                var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&watched, 1, 10_000)
                unlink(path)
                close(descriptor)
            }
            async let status = failure { _ = try await client.status() }
            async let other = failure { _ = try await client.pause([1]) }
            #expect(await status == .notRunning("background"))
            #expect(await other == .notRunning("background"))
        }
        end()
    }

    @Test("An answer without end is cut off")
    func endless() async throws {
        let server = try RawServer(
            Self.ok + "\r\n" + String(repeating: "x", count: 65536), unixSocket: location.socketPath, isEndless: true)
        guard case .badExchange(_, let message)? = await failure({ _ = try await client().status() }) else {
            Issue.record("no refusal")
            return
        }
        #expect(message.contains("too long"))
        server.stop()
        end()
    }
}
