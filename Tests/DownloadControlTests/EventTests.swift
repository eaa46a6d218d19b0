import DownloadControl
import DownloadCore
import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

/// Tests of `GET /v1/events`.
@Suite("DownloadControl: events", .inTurn, .timeLimit(.minutes(1)))
struct EventTests {
    private func follow(_ bench: ControlBench, _ query: String, reads: Bool = true) throws -> RawClient {
        let client = try RawClient(bench.location.socketPath, reads: reads)
        client.send("GET /v1/events\(query) HTTP/1.1\r\nHost: x\r\n\r\n")
        return client
    }

    @Test("Past events are replayed, then didFinishEvents is sent, then new events follow")
    func replay() async throws {
        let bench = try await ControlBench()
        let failure = DownloadError.networkFailed(.timedOut, TransportDiagnosis(code: 28, message: "slow"))
        bench.service.state.update {
            $0.events = [
                .example(1, .added, state: .queued), .example(2),
                .example(3, .waiting, state: .waiting(.retry(failure), until: Date(timeIntervalSince1970: 5))),
            ]
        }
        let client = try follow(bench, "?since=1")
        #expect(await client.received.wait { $0.text.contains("didFinishEvents") })
        bench.service.state.update { $0.events.append(.example(4, .removed, state: nil)) }
        #expect(await client.received.wait { $0.text.contains("removed") })
        let text = client.received.value.text
        #expect(text.contains("Content-Type: application/x-ndjson\r\n"))
        let lines = try text.split(separator: "\r\n").joined().split(separator: "\n").filter { $0.contains("{") }.map {
            try JSONSerialization.jsonObject(with: Data($0.drop { $0 != "{" }.utf8)) as? [String: Any] ?? [:]
        }
        #expect(lines.map { $0["event"] as? String } == ["started", "waiting", "didFinishEvents", "removed"])
        #expect(lines.map { $0["cursor"] as? Int } == [2, 3, 3, 4])
        #expect(lines[0]["time"] as? String == "1970-01-01T00:16:40.250Z")
        #expect(lines[0]["state"] as? String == "running" && lines[0]["received"] as? Int == 7)
        #expect((lines[1]["error"] as? [String: Any])?["reason"] as? String == "timedOut")
        client.close()
        #expect(await bench.service.state.wait { $0.openLogs == 0 })
        await bench.end()
    }

    @Test("A stream without events sends a heartbeat")
    func heartbeat() async throws {
        var limits = ControlLimits()
        limits.heartbeat = .milliseconds(50)
        let bench = try await ControlBench(limits: limits)
        let client = try follow(bench, "")
        #expect(await client.received.wait { $0.text.components(separatedBy: "\r\n1\r\n\n\r\n").count > 3 })
        client.close()
        await bench.end()
    }

    @Test("A reader that takes nothing costs little memory, blocks no other client, and is disconnected")
    func slowReader() async throws {
        var limits = ControlLimits()
        limits.write = .seconds(1)
        let service = ControlledService(endless: true)
        let bench = try await ControlBench(service, limits: limits)
        let client = try follow(bench, "?since=0", reads: false)
        #expect(await service.state.wait { $0.openLogs == 1 })
        #expect(try await bench.ask("GET", "/v1/session").status == 200)
        #expect(await service.state.wait { $0.openLogs == 0 })
        // The server has read only the entries that fit into the socket, one write and one buffer: about half a
        // megabyte.
        #expect(service.state.value.pulled < 5_000, "\(service.state.value.pulled)")
        client.startReading()
        _ = try await client.answer()
        await bench.end()
    }

    @Test("A slow reader gets every event once")
    func steadyReader() async throws {
        let bench = try await ControlBench()
        bench.service.state.update { $0.events = (1...2_000).map { .example($0) } }
        let client = try follow(bench, "?since=0", reads: false)
        #expect(await bench.service.state.wait { $0.openLogs == 1 })
        client.startReading()
        #expect(await client.received.wait { $0.text.contains("didFinishEvents") })
        let cursors = client.received.value.text.matches(of: /"cursor":(\d+)/).compactMap { Int64($0.1) }
        #expect(cursors.dropLast() == Array(1...2_000)[...])
        client.close()
        await bench.end()
    }

    @Test("Streams leave room for other requests")
    func slots() async throws {
        var limits = ControlLimits()
        limits.streams = 2
        let bench = try await ControlBench(limits: limits)
        let clients = try (0..<2).map { _ in try follow(bench, "") }
        #expect(await bench.service.state.wait { $0.openLogs == 2 })
        #expect(try await bench.ask("GET", "/v1/events").status == 503)
        #expect(try await bench.ask("GET", "/v1/session").status == 200)
        clients[0].close()
        #expect(await bench.service.state.wait { $0.openLogs == 1 })
        clients[1].close()
        await bench.end()
    }

    @Test("An invalid cursor is refused")
    func badCursor() async throws {
        let bench = try await ControlBench()
        for cursor in ["", "x", "-1"] {
            #expect(try await bench.ask("GET", "/v1/events?since=\(cursor)").status == 400)
        }
        bench.service.state.update { $0.failure = .sessionUnavailable(.shuttingDown) }
        #expect(try await bench.ask("GET", "/v1/events").status == 503)
        await bench.end()
    }
}
