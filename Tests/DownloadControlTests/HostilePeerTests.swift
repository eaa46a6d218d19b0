import CurlTransport
import DownloadControl
import DownloadCore
import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

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

    private func client(_ limit: Duration = .seconds(3), answer: Int = 1 << 20) -> ControlClient {
        var limits = ControlClient.Limits()
        limits.hello = limit
        limits.answer = answer
        return ControlClient(transport: transport, location: location, limits: limits)
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
        #expect(await failure { _ = try await client().log(since: nil) } == .notRunning("background"))
        let deep = SessionLocation(
            stateFolder: folder("missing/" + String(repeating: "d", count: 200)), identifier: "b")
        #expect(
            await failure { _ = try await ControlClient(transport: transport, location: deep).status() }
                == .notRunning("b"))
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
        let other = await failure { _ = try await client().log(since: 1) }
        #expect(other != nil || reply.contains(" 200 OK\r\nDlm-Api: 1"))
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
            async let log = failure { _ = try await client.log(since: nil) }
            #expect(await status == .notRunning("background"))
            #expect(await log == .notRunning("background"))
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

    @Test("An endless line of the log is cut off, and a corrupt line is refused", arguments: [true, false])
    func log(_ isEndless: Bool) async throws {
        let line = isEndless ? String(repeating: "x", count: 65536) : "{\"cursor\":\n"
        let server = try RawServer(Self.ok + "\r\n" + line, unixSocket: location.socketPath, isEndless: isEndless)
        let error = await failure {
            var log = try await client().log(since: 0).makeAsyncIterator()
            _ = try await log.next()
        }
        guard case .badExchange? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        server.stop()
        end()
    }

    @Test("An endless refusal of the log is cut off")
    func endlessRefusal() async throws {
        let head = "HTTP/1.1 500 X\r\nDlm-Api: 1\r\n\r\n"
        let server = try RawServer(
            head + String(repeating: "x\n", count: 32768), unixSocket: location.socketPath, isEndless: true)
        guard case .badExchange(_, let message)? = await failure({ _ = try await client().log(since: 0) }) else {
            Issue.record("no refusal")
            return
        }
        #expect(message.contains("too long"))
        server.stop()
        end()
    }

    @Test("A log that breaks off again and again ends with an error")
    func brokenLog() async throws {
        let status =
            #"{"version":1,"identifier":"background","pid":1,"programVersion":"x","started":"1970-01-01T00:00:00.000Z","#
            + #""running":0,"waiting":0,"queued":0,"isFinishing":false}"#
        let server = try RawServer(
            Self.ok + "Content-Length: \(status.utf8.count)\r\n\r\n" + status, unixSocket: location.socketPath)
        let error = await failure {
            var log = try await client().log(since: 0).makeAsyncIterator()
            _ = try await log.next()
        }
        guard case .badExchange? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        server.stop()
        end()
    }
}
