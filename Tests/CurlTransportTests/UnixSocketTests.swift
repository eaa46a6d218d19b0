import CurlTransport
import DownloadCore
import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

/// Requests with a method and a body, and requests over a Unix socket. The control client sends such requests.
@Suite("CurlTransport: Unix sockets, methods and bodies", .inTurn, .timeLimit(.minutes(1)))
struct UnixSocketTests {
    private let bench: TransportBench

    init() throws { bench = try TransportBench() }

    private static let hello = RawServer.Script("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    private func failure(_ record: CollectingSink.Record) -> (NetworkFailure, TransportDiagnosis)? {
        if case .failed(.networkFailed(let failure, let diagnosis))? = record.ending {
            (failure, diagnosis)
        } else {
            nil
        }
    }

    @Test("A request goes to the socket and not to the host")
    func reaches() async throws {
        let folder = try TemporaryFolder()
        let server = try RawServer(Self.hello, unixSocket: folder("x.sock"))
        let record = try await bench.run("http://dlm.invalid/v1/status") { $0.options.unixSocket = folder("x.sock") }
        #expect(record.ending == .complete)
        #expect(record.bytes == Array("hello".utf8))
        #expect(server.requests.value == ["GET /v1/status HTTP/1.1\r\nHost: dlm.invalid\r\nAccept: */*\r\n\r\n"])
    }

    @Test("A socket is reached through its open folder, as is necessary if its path is too long for an address")
    func throughDescriptor() async throws {
        let folder = try TemporaryFolder()
        let server = try RawServer(Self.hello, unixSocket: folder("x.sock"))
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        let path = "/proc/self/fd/\(descriptor)/x.sock"
        #expect(try await bench.run("http://localhost/") { $0.options.unixSocket = path }.ending == .complete)
        #expect(server.requests.value.count == 1)
    }

    @Test("If another socket has replaced the socket at a path, a new connection is made")
    func noReuse() async throws {
        let folder = try TemporaryFolder()
        var script = Self.hello
        script.staysOpen = true
        let first = try RawServer(script, unixSocket: folder("x.sock"))
        _ = try await bench.run("http://localhost/1") { $0.options.unixSocket = folder("x.sock") }
        try FileManager.default.removeItem(atPath: folder("x.sock"))
        let second = try RawServer(script, unixSocket: folder("x.sock"))
        let record = try await bench.run("http://localhost/2") { $0.options.unixSocket = folder("x.sock") }
        #expect(record.ending == .complete)
        #expect(first.requests.value.count == 1)
        #expect(second.requests.value.count == 1)
    }

    @Test("Method, body and fields are sent as given, and only Host, Accept and Content-Length are added")
    func body() async throws {
        let server = try RawServer(Self.hello)
        let head = "HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nAccept: */*\r\n"
        let long = String(repeating: "x", count: 2_000_000)
        let cases: [(HTTPRequest.Method, String?, [HTTPField], String)] = [
            (
                .post, "{}", [HTTPField(name: .contentType, value: "application/json")],
                "POST /file \(head)Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
            ),
            (.post, nil, [], "POST /file \(head)Content-Length: 0\r\n\r\n"),
            (.post, long, [], "POST /file \(head)Content-Length: 2000000\r\n\r\n\(long)"),
            (.put, "a\0b", [], "PUT /file \(head)Content-Length: 3\r\n\r\na\0b"),
            (.get, "q", [], "GET /file \(head)Content-Length: 1\r\n\r\nq"),
            (.delete, nil, [], "DELETE /file \(head)\r\n"),
        ]
        for (method, body, fields, expected) in cases {
            let record = try await bench.run(server.url) { request in
                request.options.method = method
                request.options.body = body.map { Array($0.utf8) }
                request.options.fields = HTTPFields(fields)
            }
            #expect(record.ending == .complete)
            #expect(server.requests.value.last == expected)
        }
    }

    @Test("The answer to a HEAD ends with its head")
    func head() async throws {
        var script = RawServer.Script("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        script.staysOpen = true
        let server = try RawServer(script)
        let record = try await bench.run(server.url) { $0.options.method = .head }
        #expect(record.ending == .complete)
        #expect(record.head?.fields[.contentLength] == "1000")
        #expect(server.requests.value.first?.hasPrefix("HEAD /file ") == true)
    }

    @Test("The error says why a socket cannot be connected: no socket, no listener, or a path that is too long")
    func refused() async throws {
        let folder = try TemporaryFolder()
        close(try LoopbackSocket.listen(unixSocket: folder("dead.sock"), backlog: 1))
        let long = folder(String(repeating: "x", count: 120))
        for (path, code) in [
            (folder("none.sock"), ENOENT), (folder("dead.sock"), ECONNREFUSED), (folder.path, ECONNREFUSED),
            (long, ENAMETOOLONG),
        ] {
            let record = try await bench.run("http://localhost/") { $0.options.unixSocket = path }
            let (kind, diagnosis) = try #require(failure(record), "\(String(describing: record.ending))")
            #expect(kind == .connect)
            #expect(diagnosis.errno == code, "\(path): \(diagnosis)")
            #expect(diagnosis.message.hasPrefix("cannot connect to \(path): "))
        }
    }

    @Test("If the queue of connections of a socket is full, no client can connect to the socket")
    func fullBacklog() async throws {
        let folder = try TemporaryFolder()
        let listener = try LoopbackSocket.listen(unixSocket: folder("x.sock"), backlog: 0)
        defer { close(listener) }
        let filler = CollectingSink()
        _ = try bench.start("http://localhost/", filler) { $0.options.unixSocket = folder("x.sock") }
        let late = CollectingSink()
        _ = try bench.start("http://localhost/", late) {
            $0.options.unixSocket = folder("x.sock")
            $0.options.connectTimeout = 0.5
        }
        _ = await late.ending()
        let (kind, diagnosis) = try #require(failure(late.record.value), "\(String(describing: late.record.value))")
        #expect(kind == .connect)
        #expect(diagnosis.errno == EAGAIN, "\(diagnosis)")
        #expect(filler.record.value.results.isEmpty)
    }

    @Test("If a socket can be connected but nothing answers, the transfer fails as stalled")
    func stalled() async throws {
        let folder = try TemporaryFolder()
        let listener = try LoopbackSocket.listen(unixSocket: folder("x.sock"), backlog: 8)
        defer { close(listener) }
        let record = try await bench.run("http://localhost/") {
            $0.options.unixSocket = folder("x.sock")
            $0.options.stallTimeout = 0.3
        }
        #expect(failure(record)?.0 == .stalled)
    }
}
