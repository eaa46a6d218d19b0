import CurlTransport
import DownloadCore
import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

/// Failures of a transfer, and the errors that they become.
@Suite("CurlTransport: failures", .inTurn, .timeLimit(.minutes(1)))
struct FailureTests {
    private let bench: TransportBench

    init() throws { bench = try TransportBench() }

    private static let content = Content(seed: 1, size: 300_000)

    private func failure(_ record: CollectingSink.Record) -> DownloadError? {
        if case .failed(let error)? = record.ending { error } else { nil }
    }

    private func network(_ record: CollectingSink.Record) -> NetworkFailure? {
        if case .networkFailed(let failure, _)? = failure(record) { failure } else { nil }
    }

    @Test("A connection to a port on which nobody listens is refused")
    func refused() async throws {
        let record = try await bench.run("http://127.0.0.1:\(try LoopbackSocket.unusedPort())/file")
        #expect(network(record) == .connect)
        #expect(failure(record)?.systemErrno == ECONNREFUSED)
        #expect(record.heads.isEmpty)
    }

    @Test("A name that does not exist is a failure of name resolution")
    func unknownName() async throws {
        #expect(network(try await bench.run("http://no-such-host.invalid/file")) == .nameResolution)
    }

    @Test("A failed name is not looked up again at once if the request has a DNS cache time")
    func rememberedName() async throws {
        for isRemembered in [false, true] {
            let record = try await bench.run("http://no-such-host.invalid/file") {
                $0.options.network.dnsCacheTime = 60
            }
            #expect(network(record) == .nameResolution)
            #expect("\(failure(record) as Any)".contains("an earlier lookup failed") == isRemembered)
        }
        let other = try await bench.run("http://no-such-host.invalid/file")
        #expect(!"\(failure(other) as Any)".contains("an earlier lookup failed"))
    }

    @Test(
        "A body that ends too early is a lost connection, whatever its framing",
        arguments: [
            FaultReply.Cut.close(after: 100_000), .reset(after: 100_000), .close(after: 0), .silence,
        ], [FaultReply.Framing.contentLength, .chunked])
    func truncated(cut: FaultReply.Cut, framing: FaultReply.Framing) async throws {
        let server = try FaultServer { _ in
            FaultReply(Self.content).with {
                $0.cut = cut
                $0.framing = framing
            }
        }
        let record = try await bench.run(server.url())
        #expect(network(record) == .connectionLost)
        #expect(record.bytes == Self.content.bytes(0..<cut.limit))
    }

    @Test(
        "A server that is silent for too long is cut off, before its head and within its body",
        arguments: [-1, 0, 100_000])
    func stalled(after count: Int64) async throws {
        let fault = try FaultServer { _ in FaultReply(Self.content).with { $0.cut = .stall(after: count) } }
        var script = RawServer.Script([])
        script.staysOpen = true
        let silent = try RawServer(script)
        let begun = ContinuousClock.now
        let record = try await bench.run(count < 0 ? silent.url : fault.url()) { $0.options.stallTimeout = 0.7 }
        #expect(network(record) == .stalled)
        #expect(ContinuousClock.now - begun > .milliseconds(650))
        #expect(record.bytes.count == max(0, Int(count)))
    }

    @Test("The transport does not wait for a redirect's body that does not come")
    func bodilessRedirect() async throws {
        var script = RawServer.Script("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 100\r\n\r\n")
        script.staysOpen = true
        let server = try RawServer(script)
        let record = try await bench.run(server.url, .init(head: .discard))
        #expect(record.ending == .complete)
        #expect(record.head?.redirectURL?.hasSuffix("/other") == true)
    }

    @Test("A transfer that its sink has paused does not count as stalled")
    func heldBack() async throws {
        let server = try FaultServer.serving(Self.content)
        let sink = CollectingSink(.init(pausesEvery: 3))
        // Nobody resumes the transfer yet.
        var request = TransferRequest(url: try SourceURL.parse(server.url()).get().url)
        request.options.stallTimeout = 0.3
        let transfer = bench.transport.start(request, sink: sink)
        #expect(await sink.record.wait { $0.pauses == 1 })
        #expect(await !sink.record.wait(atMost: .milliseconds(1000)) { !$0.results.isEmpty })
        sink.resumes(transfer)
        #expect(await sink.ending() == .complete)
        #expect(sink.record.value.bytes == Self.content.bytes(0..<300_000))
    }

    @Test("A peer that does not answer the connection attempt is given up in time")
    func connectTimeout() async throws {
        // The backlog is full, so the kernel drops further attempts to connect.
        let (descriptor, port) = try LoopbackSocket.listen(backlog: 0)
        defer { close(descriptor) }
        var fillers: [CollectingSink] = []
        for _ in 0..<4 {
            let sink = CollectingSink()
            fillers.append(sink)
            _ = try bench.start("http://127.0.0.1:\(port)/", sink)
        }
        let record = try await bench.run("http://127.0.0.1:\(port)/") {
            $0.options.connectTimeout = 0.5
            $0.options.stallTimeout = 0.5
        }
        #expect([.timedOut, .stalled].contains(network(record)))
        // The transfers that fill the backlog began earlier and have longer limits.
        #expect(fillers.allSatisfy { $0.record.value.results.isEmpty })
    }

    @Test(
        "Bytes that are not an HTTP answer are a malformed reply or a lost connection",
        arguments: [
            "<html>plain bytes, as HTTP/0.9 had them</html>", "HTTP/1.1 twohundred OK\r\n\r\nbody",
            "HTTP/9.9 200 OK\r\n\r\n",
            "garbage\r\n\r\n", "\0\0\0\0\0\0\0\0\0", "SSH-2.0-OpenSSH_9.2\r\n", "",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nbody\r\n0\r\n\r\n",
        ])
    func garbage(reply: String) async throws {
        let server = try RawServer(.init(reply))
        let record = try await bench.run(server.url)
        let error = try #require(failure(record), "ended as \(String(describing: record.ending))")
        #expect(error.isTransient)
        #expect(["protocol", "network"].contains(error.kind), "\(error)")
    }

    @Test("A malformed chunk after a paused piece is a protocol failure, even if the sink resumes before it pauses")
    func brokenWhileHeldBack() async throws {
        let server = try RawServer(
            .init("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\nzz\r\nbody\r\n0\r\n\r\n"))
        let record = try await bench.run(server.url, .init(pausesEvery: 1, resumesAtOnce: true))
        #expect(record.pauses == 1)
        #expect(failure(record)?.kind == "protocol", "\(String(describing: record.ending))")
    }

    @Test(
        "A header section without end is cut off",
        arguments: ["X-Filler: \(String(repeating: "x", count: 1000))\r\n", "x"])
    func endlessHeaders(line: String) async throws {
        let endless = try RawServer(EndlessHead.script(line))
        let record = try await bench.run(endless.url)
        #expect(failure(record)?.kind == "protocol", "\(String(describing: record.ending))")
        #expect(record.heads.isEmpty)
    }

    @Test("A few interim answers are skipped")
    func interim() async throws {
        let server = try RawServer(
            .init(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\nETag: \"no\"\r\n\r\n"
                    + "HTTP/1.1 200 OK\r\nETag: \"yes\"\r\nContent-Length: 4\r\n\r\nbody"))
        let record = try await bench.run(server.url)
        #expect(record.heads.map(\.status) == [200])
        #expect(record.head?.fields[.eTag] == "\"yes\"")
        #expect(record.bytes == Array("body".utf8))
        #expect(record.ending == .complete)
    }

    @Test("An endless series of interim answers is cut off")
    func endlessInterim() async throws {
        var script = RawServer.Script("HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n")
        script.isEndless = true
        let server = try RawServer(script)
        let record = try await bench.run(server.url)
        #expect(failure(record)?.kind == "protocol", "\(String(describing: record.ending))")
        #expect(record.heads.isEmpty)
    }

    @Test("Trailers are not a second head")
    func trailers() async throws {
        let server = try RawServer(
            .init(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                    + "4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n"))
        let record = try await bench.run(server.url)
        #expect(record.heads.count == 1)
        #expect(record.bytes == Array("body".utf8))
        #expect(record.ending == .complete)
        #expect(record.results.first?.trailers?.map(\.value) == ["1"])
    }

    /// libcurl 7.88 takes the answer for one of HTTP/1.1, and 8.14 refuses it.
    @Test("A status line that claims HTTP/2 on a connection without HTTP/2 changes nothing", .timeLimit(.minutes(1)))
    func claimsHTTP2() async throws {
        let server = try RawServer(.init("HTTP/2 200 OK\r\n\r\nbody"))
        let record = try await bench.run(server.url)
        #expect(server.requests.value.count == 1)
        if let error = failure(record) { return #expect(error.kind == "protocol", "\(error)") }
        #expect(record.heads.map(\.httpVersion) == ["1.1"])
        #expect(record.bytes == Array("body".utf8))
    }

    @Test("A body longer than its Content-Length is cut at that length")
    func beyondLength() async throws {
        let server = try RawServer(.init("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody and more"))
        let record = try await bench.run(server.url)
        #expect(record.bytes == Array("body".utf8))
        #expect(record.ending == .complete)
    }
}

/// A reply whose head begins well and never ends.
private enum EndlessHead {
    static func script(_ line: String) -> RawServer.Script {
        var script = RawServer.Script(
            "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 4_000_000 / line.utf8.count))
        script.staysOpen = true
        return script
    }
}
