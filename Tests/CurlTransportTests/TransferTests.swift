import CurlTransport
import DownloadCore
import DownloadTestSupport
import HTTPTypes
import Testing

/// One transfer at a time from the fault server.
@Suite("CurlTransport: one transfer", .inTurn, .timeLimit(.minutes(1)))
struct TransferTests {
    private let bench: TransportBench

    init() throws { bench = try TransportBench() }

    private static let content = Content(seed: 1, size: 1_000_000)

    @Test(
        "A body arrives whole, whatever its framing",
        arguments: [FaultReply.Framing.contentLength, .chunked, .closeDelimited], [0, 1, 1_000_000] as [Int64])
    func body(framing: FaultReply.Framing, size: Int64) async throws {
        let content = Content(seed: 1, size: size)
        let server = try FaultServer { _ in FaultReply(content, etag: "\"a\"").with { $0.framing = framing } }
        let record = try await bench.run(server.url())
        #expect(record.results.map(\.ending) == [.complete])
        #expect(record.heads.count == 1)
        #expect(record.head?.status == 200)
        #expect(record.head?.phrase == "OK")
        #expect(record.head?.httpVersion == "1.1")
        #expect(record.head?.fields[.eTag] == "\"a\"")
        #expect(record.bytes == content.bytes(0..<size))
        let metrics = try #require(record.results.first?.metrics)
        #expect(metrics.received == size)
        #expect(metrics.remoteAddress == "127.0.0.1")
        #expect(metrics.remotePort == server.port)
        #expect(metrics.httpVersion == "1.1")
    }

    @Test("Apart from Host and Accept, the request has only the given range, fields and credentials")
    func request() async throws {
        let server = try FaultServer.serving(Self.content)
        let record = try await bench.run(server.url("/a%20b?c=d")) { request in
            request.range = "100-199"
            request.options.fields[.userAgent] = "dlm/test"
            request.options.fields[.acceptEncoding] = "identity"
            request.options.fields[.ifRange] = "\"a\""
            if let name = HTTPField.Name("X-Empty") { request.options.fields[name] = "" }
            request.options.credential = Credential(user: "user", password: "pass:word")
        }
        #expect(record.ending == .complete)
        let request = try #require(server.log.entries.first?.request)
        #expect(request.method == "GET")
        #expect(request.target == "/a%20b?c=d")
        #expect(request["Range"] == "bytes=100-199")
        #expect(request["If-Range"] == "\"a\"")
        #expect(request["Authorization"] == "Basic dXNlcjpwYXNzOndvcmQ=")
        #expect(request["X-Empty"] == "")
        #expect(
            Set(request.fields.map { $0.name.lowercased() }) == [
                "host", "accept", "range", "user-agent", "accept-encoding", "if-range", "authorization", "x-empty",
            ])
    }

    @Test(
        "A transfer that may not use private addresses connects to none, whether it is traced or not",
        arguments: [false, true])
    func privateAddress(isTraced: Bool) async throws {
        let server = try FaultServer.serving(Self.content)
        // A transfer without the restriction leaves an open connection, which must not be used.
        #expect(try await bench.run("http://localhost:\(server.port)/a").ending == .complete)
        let record = try await bench.run("http://localhost:\(server.port)/b") { request in
            request.options.isTraced = isTraced
            request.options.network.refusesPrivateAddresses = true
        }
        guard case .failed(.networkFailed(.connect, let diagnosis))? = record.ending else {
            Issue.record("\(record.results)")
            return
        }
        #expect(diagnosis.message.contains(PrivateAddress.refusal))
        let addresses = record.results.first?.connection?.addresses
        #expect(addresses?.contains("127.0.0.1:\(server.port)") ?? false == isTraced)
        #expect(server.log.entries.count == 1)
    }

    @Test("While a transfer runs, it finds the addresses of its server, first its own one; afterwards it finds none")
    func addresses() async throws {
        let gate = Gate(after: 1000)
        let server = try FaultServer { _ in FaultReply(Self.content).with { $0.gate = gate } }
        defer { gate.open() }
        let sink = CollectingSink()
        let transfer = try bench.start("http://localhost:\(server.port)/a", sink)
        #expect(await sink.record.wait { $0.count == 1000 })
        let found = await transfer.addresses()
        #expect(found.first == "127.0.0.1")
        #expect(found.allSatisfy { NetworkPath.isLoopback($0) } && Set(found).count == found.count, "\(found)")
        gate.open()
        #expect(await sink.ending() == .complete)
        #expect(await transfer.addresses().isEmpty)
        bench.transport.shutdown()
        #expect(await transfer.addresses().isEmpty)
    }

    @Test("There is no choice of addresses through a proxy, with a name server of the user or with a rate limit")
    func noAddresses() async throws {
        let server = try FaultServer.serving(Self.content)
        let changes: [(inout TransferRequest) -> Void] = [
            { $0.options.network.proxy = ProxyAddress(url: server.url("")) }, { $0.rateLimits = [RateLimit(1 << 30)] },
        ]
        for change in changes {
            let transfer = try bench.start("http://a.test:\(server.port)/a", CollectingSink()) { request in
                request.options.network.addresses = ["127.0.0.1", "127.0.0.2"].map {
                    PinnedAddress(host: "a.test", port: server.port, address: $0)
                }
                change(&request)
            }
            #expect(await transfer.addresses().isEmpty)
        }
        let pinned = try bench.start("http://a.test:\(server.port)/a", CollectingSink()) { request in
            request.options.network.addresses = ["127.0.0.1", "127.0.0.2"].map {
                PinnedAddress(host: "*", port: server.port, address: $0)
            }
        }
        #expect(await pinned.addresses() == ["127.0.0.1", "127.0.0.2"])
    }

    @Test("A range is delivered as the server sends it, right or wrong; only the sink checks it")
    func range() async throws {
        let server = try FaultServer.serving(Self.content)
        let right = try await bench.run(server.url()) { $0.range = "500000-500099" }
        #expect(right.head?.status == 206)
        #expect(right.head?.fields[.contentRange] == "bytes 500000-500099/1000000")
        #expect(right.bytes == Self.content.bytes(500_000..<500_100))
        server.handle { _ in FaultReply(Self.content).with { $0.ranges = .ignored } }
        let whole = try await bench.run(server.url()) { $0.range = "500000-500099" }
        #expect(whole.head?.status == 200)
        #expect(whole.bytes.count == 1_000_000)
        #expect(whole.ending == .complete)
    }

    @Test(
        "A status other than 2xx is delivered as an answer",
        arguments: [304, 400, 401, 403, 404, 407, 416, 429, 500, 503])
    func status(status: Int) async throws {
        let server = try FaultServer { _ in FaultReply(status: status, fields: [("Retry-After", "7")]) }
        let record = try await bench.run(server.url(), .init(head: .discard)) { $0.range = "5-" }
        #expect(record.head?.status == status)
        #expect(record.head?.fields[.retryAfter] == "7")
        #expect(record.ending == .complete)
        #expect(record.bytes.isEmpty)
    }

    @Test(
        "A redirect is not followed, and its target is made absolute",
        arguments: [
            ("/other", "http://127.0.0.1:PORT/other"), ("other?x=1", "http://127.0.0.1:PORT/dir/other?x=1"),
            ("//example.org/x", "http://example.org/x"), ("https://example.org/a b", "https://example.org/a%20b"),
            ("ftp://example.org/x", "ftp://example.org/x"), ("?q", "http://127.0.0.1:PORT/dir/file?q"),
            ("../up", "http://127.0.0.1:PORT/up"),
        ])
    func redirect(location: String, target: String) async throws {
        let server = try FaultServer { _ in .redirect(to: location) }
        let record = try await bench.run(server.url("/dir/file"), .init(head: .discard))
        #expect(record.head?.status == 302)
        #expect(record.head?.redirectURL == target.replacing("PORT", with: "\(server.port)"))
        #expect(record.ending == .complete)
        #expect(server.log.entries.count == 1)
    }

    @Test("A redirect without a location has no target")
    func redirectNowhere() async throws {
        let server = try FaultServer { _ in FaultReply(status: 302) }
        #expect(try await bench.run(server.url(), .init(head: .discard)).head?.redirectURL == nil)
    }

    @Test("A refused head or piece ends the transfer at once")
    func refusals() async throws {
        let server = try FaultServer { _ in
            FaultReply(Self.content).with { $0.bytesPerSecond = 4_000_000 }
        }
        let head = try await bench.run(server.url(), .init(head: .refuse))
        #expect(head.results.map(\.ending) == [.refused])
        #expect(head.pieces == 0)
        let piece = try await bench.run(server.url(), .init(refusesAt: 300_000))
        #expect(piece.results.map(\.ending) == [.refused])
        #expect(piece.bytes == Self.content.bytes(0..<Int64(piece.bytes.count)))
        #expect((280_000..<300_000).contains(piece.bytes.count))
        #expect(piece.results.first?.metrics.received == Int64(piece.bytes.count))
    }

    @Test("Only a little of an unwanted body is read; after a small unwanted body the connection stays usable")
    func discard() async throws {
        let server = try FaultServer { request in
            request.target == "/large" ? FaultReply(Content(seed: 2, size: 50_000_000)) : FaultReply(Content("page"))
        }
        #expect(try await bench.run(server.url("/small"), .init(head: .discard)).ending == .complete)
        let again = try await bench.run(server.url("/small"))
        #expect(again.results.first?.metrics.reusedConnection == true)
        #expect(again.bytes == Array("page".utf8))
        let large = try await bench.run(server.url("/large"), .init(head: .discard))
        #expect(large.ending == .complete)
        #expect(large.pieces == 0)
        #expect(await server.waitUntil { $0.entries.last?.isOver == true })
        #expect(try #require(server.log.entries.last).sent < 20_000_000)
    }

    @Test(
        "After each pause the sink gets the same bytes again, and in the end all bytes", arguments: [1, 3],
        [FaultReply.Framing.contentLength, .chunked])
    func pauses(every: Int, framing: FaultReply.Framing) async throws {
        let server = try FaultServer { _ in FaultReply(Self.content).with { $0.framing = framing } }
        let record = try await bench.run(server.url(), .init(pausesEvery: every))
        #expect(record.ending == .complete)
        #expect(record.pauses >= 1_000_000 / 16384 / every)
        #expect(record.bytes == Self.content.bytes(0..<1_000_000))
    }

    @Test("If a piece is refused when it is delivered again after a pause, the transfer ends")
    func refusedAfterPause() async throws {
        let server = try FaultServer.serving(Self.content)
        for limit in [1, 100_000, 500_000] {
            let record = try await bench.run(server.url(), .init(pausesEvery: 1, refusesAt: limit))
            #expect(record.results.map(\.ending) == [.refused])
        }
    }

    @Test("A resume without a pause changes nothing")
    func needlessResume() async throws {
        let server = try FaultServer { _ in FaultReply(Self.content).with { $0.bytesPerSecond = 8_000_000 } }
        let sink = CollectingSink()
        let transfer = try bench.start(server.url(), sink)
        for _ in 0..<1000 { transfer.resume() }
        #expect(await sink.ending() == .complete)
        for _ in 0..<10 { transfer.resume() }
        transfer.cancel()
        #expect(try await bench.run(server.url()).ending == .complete)
        #expect(sink.record.value.bytes == Self.content.bytes(0..<1_000_000))
        #expect(sink.record.value.results.count == 1)
    }
}
