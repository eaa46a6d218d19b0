import CurlTransport
import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

/// Tests against a real server over TLS: which connections are shared, and which certificates are trusted.
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
        "Small files share one connection per engine if the server speaks HTTP/2; large files keep their own",
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
        // All engines use what the probe learned: no other transfer probes.
        #expect(nginx.log.allSatisfy { $0.version == "HTTP/2.0" })
        for (record, content) in zip(shared, contents) { #expect(record.bytes == content.bytes(0..<content.size)) }
        let alone = try await collect(bench, Array(urls.prefix(5)), multiplexes: false)
        #expect(alone.allSatisfy { $0.ending == .complete && $0.head?.httpVersion == "1.1" })
        await nginx.stop()
    }

    @Test("A transfer with a rate limit has its own connection; a limit without a rate changes nothing")
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

    @Test("If a limit is set while the streams of a shared connection run, it holds for these streams at once")
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

    @Test("If the server speaks only HTTP/1.1, the transfers that waited for the probe run side by side")
    func plain() async throws {
        // No body ends before all transfers have begun.
        let gate = Gate(after: 1)
        let server = try FaultServer { _ in FaultReply(Content("xy")).with { $0.gate = gate } }
        let bench = try TransportBench()
        let sinks = try (0..<20).map { number in
            let sink = CollectingSink()
            _ = try bench.start(server.url("/\(number)"), sink) { $0.prefersMultiplexing = true }
            return sink
        }
        for sink in sinks { #expect(await sink.record.wait { $0.count == 1 }) }
        #expect(server.log.peakConnections == 20)
        gate.open()
        for sink in sinks { #expect(await sink.ending() == .complete) }
        #expect(sinks.allSatisfy { $0.record.value.bytes == Array("xy".utf8) })
    }

    @Test("If the probe is cancelled, the transfers that waited for it still complete")
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

    @Test("If a parked transfer is cancelled, it is not started when the probe has learned the protocol")
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

    @Test("A certificate of an unknown authority is refused, unless the request waives verification")
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
        #expect(try await bench.run(url) { $0.options.trust = .insecure }.ending == .complete)
        // The waiver only applied to the request above, even while the connection of that request is still open.
        guard case .failed(.trustFailed)? = try await bench.run(url).ending else {
            Issue.record("the connection of an unverified request was used")
            return
        }
        await nginx.stop()
    }

    @Test("Trusted authorities are found through the environment variables of curl and OpenSSL")
    func authorities() async throws {
        let folder = try TemporaryFolder()
        let certificates = try await Certificates(in: folder)
        let right = TLSBehaviour(certificates.right)
        let server = try FaultServer(tls: { _ in right }) { _ in FaultReply(Content("x")) }
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
