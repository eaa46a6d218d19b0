import ArgumentParser
import DownloadCore
import Synchronization
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Interruption", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct InterruptTests {
    /// Follows this many downloads as `get` does, and interrupts the follower when all of them are added. The downloads
    /// never end.
    func interrupted(_ count: Int, arguments: [String] = []) async throws -> (FakeService, CapturedConsole) {
        let captured = try CapturedConsole()
        let (known, isKnown) = AsyncStream.makeStream(of: Never.self)
        let service = FakeService { service, requests in
            requests.map { request in
                let record = service.insert(request)
                service.change(record.id) {
                    $0.receive(63, of: 100)
                    $0.state = .running
                }
                return AddedDownload(kind: .inserted, record: record)
            }
        }
        let options = try OutputOptions.parse(arguments)
        let narrator = Narrator(console: captured.console, options: options, style: Style())
        let display = ProgressDisplay(.none, console: captured.console, style: Style())
        let follower = Follower(
            service, narrator: narrator, display: display, purpose: .get(RequestOverrides()), fate: { _ in nil })
        let requests = RequestList(
            (1...count).map {
                DownloadRequest(url: .example("http://a/f\($0)"), destination: Destination(folder: "/data"))
            })
        let following = Task {
            try await follower.follow { follower in
                try await follower.add(requests)
                isKnown.finish()
                // The list of URLs stays open, like a list that a user types.
                for await _ in AsyncStream<Never>.makeStream().stream {}
            }
        }
        for await _ in known {}
        while follower.ledger.withLock({ $0.here.count }) < count { await Task.yield() }
        await follower.interrupt(.terminate)
        following.cancel()
        _ = await following.result
        return (service, captured)
    }

    @Test("Every download is paused with the signal as its reason, and a line for each says how to continue")
    func few() async throws {
        let (service, captured) = try await interrupted(2)
        #expect(service.calls.contains("pauseAll terminate"))
        #expect(captured.output == "")
        #expect(
            captured.errorLines.prefix(2) == [
                "dlm: 1 f1 paused at 63% (63 B); continue with: dlm resume 1",
                "dlm: 2 f2 paused at 63% (63 B); continue with: dlm resume 2",
            ])
        #expect(captured.errorLines[2].hasSuffix("for the rest"))
    }

    @Test("More than ten paused downloads are reported in one line")
    func many() async throws {
        let (_, captured) = try await interrupted(12)
        #expect(captured.errorLines.first == "dlm: 12 downloads paused; continue with: dlm resume 1-12")
        #expect(captured.errorLines.count == 2)
    }

    @Test("With --json, each paused download has a JSON event")
    func json() async throws {
        let (_, captured) = try await interrupted(2, arguments: ["--json"])
        let paused = captured.outputLines.filter { $0.contains(#""event":"paused""#) }
        #expect(paused.count == 2, "\(captured.output)")
    }
}
