import CurlTransport
import DownloadCore
import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

/// Tests against a real server over TLS: which connections are shared, and which authorities are trusted.
@Suite("CurlTransport: TLS and HTTP/2", .inTurn, .timeLimit(.minutes(1)), .serialized)
struct MultiplexingTests {
    private func collect(
        _ bench: borrowing TransportBench, _ urls: [String], multiplexes: Bool
    ) async throws -> [CollectingSink.Record] {
        let sinks = try urls.map { url in
            let sink = CollectingSink()
            _ = try bench.start(url, sink) { $0.prefersMultiplexing = multiplexes }
            return sink
        }
        for sink in sinks { _ = await sink.ending() }
        return sinks.map(\.record.value)
    }

    @Test(
        "Many small files share one connection of each engine where the server speaks HTTP/2; large ones keep their own",
        arguments: [1, 2])
    func sharing(engines: Int) async throws {
        let nginx = try await Nginx()
        let contents = (0..<60).map { Content(seed: UInt64($0), size: 3000 + Int64($0)) }
        let urls = try contents.enumerated().map { nginx.secureURL(try nginx.add($0.element, as: "\($0.offset)")) }
        let bench = try TransportBench(
            engines: engines, environment: ["SSL_CERT_FILE": nginx.certificates.authority])
        let shared = try await collect(bench, urls, multiplexes: true)
        #expect(shared.allSatisfy { $0.ending == .complete && $0.head?.httpVersion == "2" })
        #expect(shared.count { $0.results.first?.metrics.reusedConnection == false } <= 2)
        // All engines use the version that the first transfer learned, so no request is sent over HTTP/1.1.
        #expect(nginx.log.allSatisfy { $0.version == "HTTP/2.0" })
        for (record, content) in zip(shared, contents) { #expect(record.bytes == content.bytes(0..<content.size)) }
        let alone = try await collect(bench, Array(urls.prefix(5)), multiplexes: false)
        #expect(alone.allSatisfy { $0.ending == .complete && $0.head?.httpVersion == "1.1" })
        await nginx.stop()
    }

    @Test("A limited transfer keeps a connection of its own, and a limit without a rate is none")
    func limited() async throws {
        let nginx = try await Nginx()
        let url = nginx.secureURL(try nginx.add(Content(seed: 1, size: 5000), as: "file"))
        let bench = try TransportBench(environment: ["SSL_CERT_FILE": nginx.certificates.authority])
        for (rate, version) in [(nil, "2"), (1_000_000, "1.1"), (nil, "2")] as [(Int64?, String)] {
            let record = try await bench.run(url) {
                $0.prefersMultiplexing = true
                $0.rateLimits = [RateLimit(), RateLimit(rate)]
            }
            #expect(record.ending == .complete)
            #expect(record.head?.httpVersion == version)
        }
        await nginx.stop()
    }

    @Test("A limit that comes when the streams of a shared connection run already holds for them, too")
    func limitedLater() async throws {
        let nginx = try await Nginx()
        let content = Content(seed: 1, size: 3_000_000)
        let url = nginx.secureURL(try nginx.add(content, as: "file"))
        let bench = try TransportBench(environment: ["SSL_CERT_FILE": nginx.certificates.authority])
        let limit = RateLimit()
        let sinks = try (0..<4).map { _ in
            // The sink pauses the transfer, so that the limit is set before the transfer ends.
            let sink = CollectingSink(.init(pausesEvery: 2))
            _ = try bench.start(url, sink) {
                $0.prefersMultiplexing = true
                $0.rateLimits = [limit]
            }
            return sink
        }
        for sink in sinks { #expect(await sink.record.wait { $0.pieces > 2 }) }
        limit.bytesPerSecond = 4_000_000
        let left = sinks.reduce(0) { $0 + 3_000_000 - $1.record.value.count }
        let begun = ContinuousClock.now
        for sink in sinks { #expect(await sink.ending() == .complete) }
        #expect(ContinuousClock.now - begun >= .seconds(0.8 * Double(left) / 4_000_000 - 0.1))
        #expect(sinks.allSatisfy { $0.record.value.head?.httpVersion == "2" })
        #expect(sinks.allSatisfy { $0.record.value.bytes == content.bytes(0..<3_000_000) })
        await nginx.stop()
    }

    @Test("Where the server speaks HTTP/1.1 only, those that waited for the scout run side by side")
    func plain() async throws {
        let server = try FaultServer { _ in FaultReply(Content("x")).with { $0.bytesPerSecond = 10 } }
        defer { server.stop() }
        let bench = try TransportBench()
        let records = try await collect(bench, (0..<20).map { server.url("/\($0)") }, multiplexes: true)
        #expect(records.allSatisfy { $0.ending == .complete && $0.bytes == Array("x".utf8) })
    }

    @Test("Those that wait for a scout that comes to nothing find out for themselves")
    func lostScout() async throws {
        let nginx = try await Nginx()
        let url = nginx.secureURL(try nginx.add(Content(seed: 1, size: 5000), as: "file"))
        let bench = try TransportBench(environment: ["SSL_CERT_FILE": nginx.certificates.authority])
        let scout = CollectingSink()
        let transfer = try bench.start(url, scout) { $0.prefersMultiplexing = true }
        let sinks = try (0..<10).map { _ in
            let sink = CollectingSink()
            _ = try bench.start(url, sink) { $0.prefersMultiplexing = true }
            return sink
        }
        transfer.cancel()
        for sink in sinks { #expect(await sink.ending() == .complete) }
        #expect(await scout.ending() != nil)
        await nginx.stop()
    }

    @Test("A held transfer that is cancelled is not started when the scout has learned")
    func cancelledWhileHeld() async throws {
        let nginx = try await Nginx()
        let url = nginx.secureURL(try nginx.add(Content(seed: 1, size: 5000), as: "file"))
        let bench = try TransportBench(environment: ["SSL_CERT_FILE": nginx.certificates.authority])
        let sinks = try (0..<50).map { number in
            let sink = CollectingSink()
            let transfer = try bench.start(url, sink) { $0.prefersMultiplexing = true }
            if number > 0 { transfer.cancel() }
            return sink
        }
        #expect(await sinks[0].ending() == .complete)
        for sink in sinks.dropFirst() { #expect(await sink.ending() == .cancelled) }
        let after = try await bench.run(url)
        #expect(after.ending == .complete)
        #expect(await nginx.waitUntil { $0.count >= 2 })
        #expect(nginx.log.count == 2)
        await nginx.stop()
    }

    @Test("An unknown authority is a matter of trust; it can be waived for one request")
    func trust() async throws {
        let nginx = try await Nginx()
        let url = nginx.secureURL(try nginx.add(Content("x"), as: "file"))
        let bench = try TransportBench()
        let refused = try await bench.run(url)
        guard case .failed(.trustFailed)? = refused.ending else {
            Issue.record("ended as \(String(describing: refused.ending))")
            return
        }
        #expect(refused.heads.isEmpty)
        #expect(try await bench.run(url) { $0.trust = .insecure }.ending == .complete)
        // The exception was for that request alone, even while its connection is still open.
        guard case .failed(.trustFailed)? = try await bench.run(url).ending else {
            Issue.record("the connection of an unverified request was used")
            return
        }
        await nginx.stop()
    }

    @Test("Authorities are taken from where the variables say that curl and OpenSSL know")
    func authorities() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let certificates = try await Certificates(in: folder)
        let right = TLSBehaviour(certificates.right)
        let server = try FaultServer(tls: { _ in right }) { _ in FaultReply(Content("x")) }
        defer { server.stop() }
        let hashed = try TemporaryFolder(in: folder.path)
        let link = ProcessLaunch("/usr/bin/openssl", ["x509", "-hash", "-noout", "-in", certificates.authority])
        let hash = try await ChildProcess(link).result().stdout.prefix(8)
        try FileManager.default.copyItem(atPath: certificates.authority, toPath: hashed("\(hash).0"))
        let file = certificates.authority
        let trusting = [
            ["SSL_CERT_FILE": file], ["CURL_CA_BUNDLE": file], ["SSL_CERT_DIR": hashed.path],
            ["CURL_CA_BUNDLE": file, "SSL_CERT_FILE": "/nowhere"], ["SSL_CERT_FILE": file, "CURL_CA_BUNDLE": ""],
        ]
        for environment in trusting {
            let record = try await TransportBench(environment: environment).run(server.url())
            #expect(record.ending == .complete, "\(environment)")
        }
        let served = server.log.entries.count
        for environment in [[:], ["SSL_CERT_DIR": folder("nowhere")], ["SSL_CERT_FILE": folder("nowhere")]] {
            let record = try await TransportBench(environment: environment).run(server.url())
            guard case .failed(.trustFailed)? = record.ending else {
                Issue.record("\(environment): ended as \(String(describing: record.ending))")
                continue
            }
        }
        #expect(server.log.entries.count == served)
    }
}
