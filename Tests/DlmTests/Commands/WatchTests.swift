import ArgumentParser
import DownloadCore
import Synchronization
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("watch", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct WatchTests {
    @Test("watch reports the changes of the named downloads, and ends when they end")
    func named() async throws {
        let service = WaitTests.service()
        let lines = [
            "dlm: 1: f1: paused; continue with: dlm resume 1", "dlm: http://a/f2: 401 Unauthorized",
            "dlm: 1: f1: resumed",
        ]
        let (status, captured) = try await WaitTests.following(
            ["watch", "1-2"], service, looks: 4
        ) { service, captured in
            // A look at the store may see a change before the log reports it. Therefore each change waits for the line
            // about the previous change.
            service.changeElsewhere(1, .paused) { $0.state = .paused(.user) }
            try await captured.waitForErrors(lines[0])
            service.changeElsewhere(2, .failed) { $0.state = .failed(.authenticationFailed(status: 401)) }
            try await captured.waitForErrors(lines[1])
            service.changeElsewhere(3, .completed) { $0.complete(path: "/data/f3") }
            service.changeElsewhere(1, .started) { $0.state = .running }
            try await captured.waitForErrors(lines[2])
            service.changeElsewhere(1, .completed) { $0.complete(path: "/data/f1") }
        }
        #expect(status == 6)
        #expect(captured.output == "/data/f1\n")
        #expect(captured.errorLines.filter { !$0.contains("/s") } == lines)
    }

    @Test("watch does not resume a paused download that has no session")
    func leavesAlone() async throws {
        let service = WaitTests.service(1)
        let (status, _) = try await WaitTests.following(["watch", "1"], service, looks: 1) { service in
            service.changeElsewhere(1, .paused) {
                $0.state = .paused(.interrupted)
                $0.session = nil
            }
            service.changeElsewhere(1, .cancelled) { $0.state = .cancelled }
        }
        #expect(status == 11)
        #expect(service.calls.filter { $0.hasPrefix("resume") } == [])
    }

    @Test("Without IDs, watch also follows downloads that start later, and ends when no download is active")
    func all() async throws {
        let service = WaitTests.service(2)
        service.change(2) { $0.state = .queued }
        async let result = run(["watch"], service)
        await service.wait { $0.isLogged && $0.state.withLock { $0.looks[1] != nil } }
        service.changeElsewhere(2, .started) { $0.state = .running }
        // A download that starts and ends before the next look may be missed, so wait for the look.
        await service.wait { $0.state.withLock { $0.looks[2] != nil } }
        service.changeElsewhere(1, .completed) { $0.complete(path: "/data/f1") }
        service.changeElsewhere(2, .completed) { $0.complete(path: "/data/f2") }
        let (status, captured) = try await result
        #expect(status == 0)
        #expect(captured.output.split(separator: "\n").sorted() == ["/data/f1", "/data/f2"])
    }

    @Test("watch ends at once if there are no downloads")
    func idle() async throws {
        let (status, captured) = try await run(["watch"], FakeService())
        #expect(status == 0)
        #expect(captured.output == "" && captured.errors == "")
    }

    @Test("If the background session is dead, watch says what to do and ends")
    func dead() async throws {
        let service = WaitTests.service(1)
        _ = service.state.withLock { $0.unattended.insert(1) }
        let (status, captured) = try await run(["watch"], service)
        #expect(status == 0)
        #expect(
            captured.errors
                == "dlm: 1: f1: interrupted: the background session is not running; run: dlm daemon start\n")
    }

    @Test("--json prints a line for each change and for each end")
    func json() async throws {
        let (status, captured) = try await WaitTests.following(
            ["watch", "--json", "1"], WaitTests.service(1), looks: 1
        ) { service, captured in
            // A look at the store may see the last change before the log reports the others.
            service.changeElsewhere(1, .paused) { $0.state = .paused(.user) }
            try await captured.waitForOutput("\"paused\"")
            service.changeElsewhere(1, .resumed) { $0.state = .queued }
            try await captured.waitForOutput("\"resumed\"")
            service.changeElsewhere(1, .completed) { $0.complete() }
        }
        #expect(status == 0)
        let events = captured.outputLines.compactMap { $0.firstMatch(of: /"event":"([a-z]+)"/)?.1 }
        #expect(events == ["paused", "resumed", "finished"])
    }

    @Test("Changes that come while the downloads are read are reported, too")
    func early() async throws {
        let service = FakeService(onLook: { service, id in
            guard service.state.withLock({ $0.looks[id] == 1 }) else { return }
            service.changeElsewhere(id, .paused) { $0.state = .paused(.user) }
            service.changeElsewhere(id, .resumed) { $0.state = .running }
        })
        service.change(1) {
            $0 = .example(id: 1, url: "http://a/f1", state: .running)
            $0.session = "background"
        }
        let (status, captured) = try await WaitTests.following(["watch", "--json", "1"], service, looks: 1) {
            service, captured in
            try await captured.waitForOutput("\"resumed\"")
            service.changeElsewhere(1, .completed) { $0.complete() }
        }
        #expect(status == 0)
        let events = captured.outputLines.compactMap { $0.firstMatch(of: /"event":"([a-z]+)"/)?.1 }
        #expect(events == ["paused", "resumed", "finished"])
    }

    @Test("Ctrl-C leaves the downloads alone")
    func interrupted() async throws {
        let captured = try CapturedConsole()
        let service = WaitTests.service(1)
        let narrator = Narrator(console: captured.console, options: try OutputOptions.parse([]), style: Style())
        let display = ProgressDisplay(.none, console: captured.console, style: Style())
        let follower = Follower(
            service, narrator: narrator, display: display, purpose: .watch(any: false), fate: { _ in nil })
        let following = Task { try await follower.follow { $0.watch(try await service.known([1])) } }
        while follower.ledger.withLock({ $0.elsewhere.isEmpty }) { await Task.yield() }
        await follower.interrupt(.interrupt)
        following.cancel()
        _ = await following.result
        #expect(!service.calls.contains { $0.hasPrefix("pauseAll") })
        #expect(captured.errors == "" && captured.output == "")
    }
}
