import DownloadControl
import DownloadCore
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

/// Input from outside is limited in size, number and time.
@Suite("DownloadControl: limits", .inTurn, .timeLimit(.minutes(1)))
struct LimitTests {
    private func refusal(_ bench: ControlBench, _ status: Int, _ send: (RawClient) -> Void) async throws {
        let client = try bench.raw()
        send(client)
        let answer = try await client.answer()
        #expect(answer.status == status, "\(answer.text.prefix(300))")
        #expect(answer.text.contains("Dlm-Api: 1\r\n"))
        let error = try answer.json["error"] as? [String: Any]
        #expect(error?["kind"] as? String == "session", "\(answer.text)")
        #expect(bench.service.calls.isEmpty)
        // The next client is served.
        #expect(try await bench.ask("GET", "/v1/session").status == 200)
    }

    @Test("A head that is larger than 64 KiB or has a thousand fields is refused")
    func head() async throws {
        let large = String(repeating: "a", count: 70 << 10)
        for head in [
            "GET /v1/session HTTP/1.1\r\nHost: x\r\nX-A: \(large)\r\n\r\n",
            "GET /v1/session?\(large) HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /v1/session HTTP/1.1\r\n"
                + (0..<100).map { "X-\($0): \(large.prefix(900))\r\n" }.joined() + "\r\n",
            "GET /v1/session HTTP/1.1\r\n" + (0..<1000).map { "X-\($0): a\r\n" }.joined() + "\r\n",
            String(repeating: "\r\n", count: 40 << 10) + "GET",
        ] {
            let bench = try await ControlBench()
            try await refusal(bench, 431) { $0.send(head) }
            await bench.end()
        }
    }

    @Test("A body larger than 10 MiB is refused by its Content-Length")
    func announced() async throws {
        let bench = try await ControlBench()
        try await refusal(bench, 413) {
            $0.send("POST /v1/downloads HTTP/1.1\r\nHost: x\r\nContent-Length: 10485761\r\n\r\n{")
        }
        await bench.end()
    }

    @Test(
        "Other transfer codings than chunked are refused",
        arguments: ["gzip, chunked", "gzip\r\nTransfer-Encoding: chunked"])
    func codings(coding: String) async throws {
        let bench = try await ControlBench()
        try await refusal(bench, 501) {
            $0.send(
                "POST /v1/downloads HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \(coding)\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
        }
        await bench.end()
    }

    @Test("A chunked body larger than 10 MiB is refused while it arrives, and the client reads the reason")
    func chunked() async throws {
        let bench = try await ControlBench()
        let chunk = "10000\r\n" + String(repeating: " ", count: 65536) + "\r\n"
        try await refusal(bench, 413) { client in
            client.send("POST /v1/downloads HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<400 where !client.send(chunk) { break }
        }
        await bench.end()
    }

    @Test("A body of exactly 10 MiB is accepted")
    func largest() async throws {
        let bench = try await ControlBench()
        let body = #"{"urls":["http://h/a"],"folder":"/"}"#
        let padded = body + String(repeating: " ", count: (10 << 20) - body.utf8.count)
        #expect(try await bench.ask("POST", "/v1/downloads", padded).status == 200)
        #expect(try await bench.ask("POST", "/v1/downloads", padded + " ").status == 413)
        await bench.end()
    }

    @Test(
        "Input that is not HTTP is answered with status 400",
        arguments: [
            "nonsense\r\n\r\n", "GET /v1/session\r\n\r\n", "GET /v1/session HTTP/1.1\r\nbad header\r\n\r\n",
            "\u{16}\u{3}\u{1}\u{2}", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ])
    func malformed(_ text: String) async throws {
        let bench = try await ControlBench()
        try await refusal(bench, 400) { $0.send(text) }
        await bench.end()
    }

    @Test(
        "Half a request is answered with status 408, and does not block the server",
        arguments: [
            "G", "GET /v1/session HTTP/1.1\r\nHos",
            "POST /v1/downloads HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
            "\r\n",
        ])
    func half(_ text: String) async throws {
        var limits = ControlLimits()
        limits.request = .milliseconds(200)
        let bench = try await ControlBench(limits: limits)
        try await refusal(bench, 408) { $0.send(text) }
        await bench.end()
    }

    @Test("A connection without a request is closed")
    func idle() async throws {
        var limits = ControlLimits()
        limits.idle = .milliseconds(200)
        let bench = try await ControlBench(limits: limits)
        let silent = try bench.raw()
        #expect(try await silent.answer().bytes.isEmpty)
        // On a busy machine, the server may close a connection before the request arrives, so the request is repeated.
        var status = 0
        for _ in 0..<50 where status != 200 {
            let asked = try bench.raw()
            asked.send("GET /v1/session HTTP/1.1\r\nHost: x\r\n\r\n")
            status = try await asked.answer().status
        }
        #expect(status == 200)
        await bench.end()
    }

    @Test("A connection serves one request after the other, even if the client sends many without waiting")
    func keepAlive() async throws {
        let bench = try await ControlBench()
        let client = try bench.raw()
        let request =
            "POST /v1/downloads HTTP/1.1\r\nHost: x\r\nContent-Length: 36\r\n\r\n"
            + #"{"urls":["http://h/a"],"folder":"/"}"#
        client.send(request)
        #expect(await client.received.wait { $0.text.contains("inserted") })
        client.send(String(repeating: request, count: 50))
        #expect(await client.received.wait { $0.text.components(separatedBy: "HTTP/1.1 200").count == 52 })
        #expect(bench.service.calls.count == 51)
        client.close()
        await bench.end()
    }

    @Test("A hundred clients at once are all answered, although at most sixty-four are connected at a time")
    func crowd() async throws {
        let bench = try await ControlBench()
        let service = bench.service
        let gate = Observed(false)
        service.gate.withLock { $0 = gate }
        _ = try await service.add([.example()])
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask { (try? await bench.ask("POST", "/v1/downloads/1/pause").status) ?? 0 }
            }
            // As many clients as permitted are connected, and no more.
            #expect(await service.state.wait { $0.calls.count { $0.hasPrefix("pause") } == 64 })
            #expect(service.calls.count { $0.hasPrefix("pause") } == 64)
            gate.update { $0 = true }
            for await status in group { #expect(status == 200) }
        }
        await bench.end()
    }

    @Test("A connection without a request gives way to a new client")
    func eviction() async throws {
        var limits = ControlLimits()
        limits.connections = 3
        let bench = try await ControlBench(limits: limits)
        let idle = try (0..<3).map { _ in try bench.raw() }
        let closed = Observed(0)
        for client in idle {
            Task { if await client.received.wait(until: \.isClosed) { closed.update { $0 += 1 } } }
        }
        #expect(try await bench.ask("GET", "/v1/session").status == 200)
        #expect(await closed.wait { $0 > 0 })
        for client in idle { client.close() }
        await bench.end()
    }

    @Test("While all connections are taken, each is closed after its answer, so busy clients keep nobody out")
    func turns() async throws {
        var limits = ControlLimits()
        limits.connections = 2
        let bench = try await ControlBench(limits: limits)
        let (first, second) = (try bench.raw(), try bench.raw())
        let request = "GET /v1/session HTTP/1.1\r\nHost: x\r\n\r\n"
        for client in [first, second] {
            client.send(request)
            #expect(await client.received.wait { $0.text.contains("HTTP/1.1 200") })
        }
        first.send(request)
        #expect(await first.received.wait(until: \.isClosed))
        #expect(try await bench.ask("GET", "/v1/session").status == 200)
        second.close()
        await bench.end()
    }

    @Test("A request that hangs in the service is answered with status 504")
    func hanging() async throws {
        var limits = ControlLimits()
        limits.diskAnswer = .milliseconds(200)
        let bench = try await ControlBench(limits: limits)
        let gate = Observed(false)
        bench.service.gate.withLock { $0 = gate }
        _ = try await bench.service.add([.example()])
        let (status, json) = try await bench.ask("POST", "/v1/downloads/1/pause")
        #expect(status == 504)
        #expect((json["error"] as? [String: Any])?["reason"] as? String == "notAnswering")
        gate.update { $0 = true }
        await bench.end()
    }
}
