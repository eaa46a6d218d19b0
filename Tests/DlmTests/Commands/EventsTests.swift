import DownloadCore
import Foundation
import Glibc
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("events", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct EventsTests {
    static func values(_ captured: CapturedConsole) throws -> [[String: Any]] {
        try captured.outputLines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test("--since prints the events after the cursor in order, and then one line that ends the past events")
    func since() async throws {
        let service = WaitTests.service()
        service.changeElsewhere(1, .started)
        service.changeElsewhere(2, .failed) { $0.state = .failed(.authenticationFailed(status: 401)) }
        service.changeElsewhere(3, .removed)
        let (status, captured) = try await run(["events", "--since", "1", "--once"], service)
        #expect(status == 0)
        let values = try Self.values(captured)
        #expect(values.map { $0["event"] as? String } == ["failed", "removed", "didFinishEvents"])
        #expect(values.map { $0["cursor"] as? Int } == [2, 3, 3])
        #expect(values.allSatisfy { $0["version"] as? Int == 1 })
        let failed = try #require(values.first)
        #expect(failed["id"] as? Int == 2 && failed["name"] as? String == "f2")
        #expect(failed["state"] as? String == "failed" && failed["session"] as? String == "background")
        #expect((failed["error"] as? [String: Any])?["exitStatus"] as? Int == 6)
        #expect(failed["time"] as? String == "2023-11-14T22:13:20Z")
    }

    @Test("Without --since, events begins with new events, and --once prints the current cursor")
    func now() async throws {
        let service = WaitTests.service()
        service.changeElsewhere(1, .started)
        let (status, captured) = try await run(["events", "--once"], service)
        #expect(status == 0)
        #expect(captured.output == #"{"cursor":1,"event":"didFinishEvents","version":1}"# + "\n")
    }

    @Test("events prints new events until the reader of its output is gone")
    func live() async throws {
        let service = WaitTests.service()
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { close(ends[1]) }
        let captured = try CapturedConsole()
        var context = Context.testing(captured, service)
        context.console = Console(output: ends[1], errors: ends[1])
        Glibc.signal(SIGPIPE, SIG_IGN)
        let command = try DLM.command(["events", "--since", "0"])
        async let status = context.status(of: command)
        await service.wait(until: \.isLogged)
        service.changeElsewhere(1, .started)
        var seen = ""
        while seen.count(where: { $0 == "\n" }) < 2 {
            seen += Self.text(ends[0])
            await Task.yield()
        }
        let lines = seen.split(separator: "\n")
        #expect(lines.first?.contains("didFinishEvents") ?? false)
        #expect(lines.last?.contains(#""event":"started""#) ?? false)
        close(ends[0])
        #expect(await status == 0)
    }

    /// Returns the text that can be read without waiting.
    private static func text(_ descriptor: Int32) -> String {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, 4096))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Lost events are reported")
    func lost() {
        #expect(
            EventDocument(.didLoseEvents(upTo: 7)).json == #"{"cursor":7,"event":"didLoseEvents","version":1}"#)
    }
}
