import DownloadCore
import DownloadTestSupport
import Synchronization
import Testing

@testable import dlm

@Suite("wait", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct WaitTests {
    /// Returns a service with this many downloads that the background session runs.
    static func service(_ count: Int = 3) -> FakeService {
        let service = FakeService()
        for id in 1...count {
            service.change(DownloadID(id)) {
                $0 = .example(id: DownloadID(id), url: "http://a/f\(id)", state: .running)
                $0.session = "background"
            }
        }
        return service
    }

    /// Runs the command. Calls `work` when the command reads the log and has looked up at least `looks` downloads.
    static func following(
        _ arguments: [String], _ service: FakeService, looks: Int = 0,
        _ work: (FakeService, CapturedConsole) async throws -> Void
    ) async throws -> (status: Int32, captured: CapturedConsole) {
        let captured = try CapturedConsole()
        async let result = run(arguments, service, on: captured)
        await service.wait { $0.isLogged && $0.state.withLock(\.seen) >= looks }
        try await work(service, captured)
        return try await result
    }

    static func following(
        _ arguments: [String], _ service: FakeService, looks: Int = 0, _ work: (FakeService) -> Void
    ) async throws -> (status: Int32, captured: CapturedConsole) {
        try await following(arguments, service, looks: looks) { service, _ in work(service) }
    }

    @Test("A completed file that was deleted later has an exit status of its own")
    func gone() async throws {
        let service = Self.service(2)
        service.change(1) { $0.complete(path: "/data/f1") }
        service.change(2) { $0.complete(path: "/data/f2") }
        let (status, captured) = try await run(["wait", "1", "2"], service) { context in
            context.fate = { $0.id == 1 ? .gone : .there }
        }
        #expect(status == 13)
        #expect(captured.outputLines == ["/data/f2"])
        #expect(captured.errorLines == ["dlm: /data/f1: completed, but the file is gone; run: dlm resume 1"])
    }

    @Test("wait ends when all downloads are complete, and prints their paths")
    func complete() async throws {
        let (status, captured) = try await Self.following(
            ["wait", "1-3"], Self.service(), looks: 3
        ) { service, captured in
            for id in [2, 1, 3] as [DownloadID] {
                service.changeElsewhere(id, .completed) { $0.complete(path: "/data/f\(id)") }
                try await captured.waitForOutput("/data/f\(id)\n")
            }
        }
        #expect(status == 0)
        #expect(captured.output == "/data/f2\n/data/f1\n/data/f3\n")
        #expect(captured.errors == "")
    }

    @Test(
        "The exit status of wait is the status of the download",
        arguments: [
            (.failed(.serverRefused(status: 404, phrase: "Not Found")), 8), (.cancelled, 11),
            (.failed(.authenticationFailed(status: 401)), 6),
        ] as [(DownloadState, Int32)])
    func status(state: DownloadState, expected: Int32) async throws {
        let (status, captured) = try await Self.following(["wait", "2"], Self.service(), looks: 1) { service in
            service.changeElsewhere(2, state == .cancelled ? .cancelled : .failed) { $0.state = state }
        }
        #expect(status == expected)
        #expect(captured.errorLines.count == 1)
    }

    @Test("The removal of a download is reported in one line")
    func removed() async throws {
        let (status, captured) = try await Self.following(["wait", "2"], Self.service(), looks: 1) { service in
            service.changeElsewhere(2, .removed)
        }
        #expect(status == 11)
        #expect(captured.errorLines.count == 1 && captured.errors.contains("removed"))
    }

    @Test("Several kinds of failure give status 1, even if some downloads failed before wait started")
    func several() async throws {
        let service = Self.service()
        service.change(1) { $0.state = .failed(.authenticationFailed(status: 401)) }
        let (status, captured) = try await Self.following(["wait", "--all"], service, looks: 1) { service in
            service.changeElsewhere(2, .cancelled) { $0.state = .cancelled }
            service.changeElsewhere(3, .completed) { $0.complete() }
        }
        #expect(status == 1)
        #expect(captured.errorLines.count == 2)
    }

    @Test("wait ID waits for a paused download, and wait --all does not")
    func pausedBefore() async throws {
        func service() -> FakeService {
            let service = Self.service()
            service.change(1) { $0.state = .paused(.user) }
            return service
        }
        let (status, captured) = try await Self.following(["wait", "--all"], service(), looks: 2) { service in
            service.changeElsewhere(2, .completed) { $0.complete() }
            service.changeElsewhere(3, .completed) { $0.complete() }
        }
        #expect(status == 0)
        #expect(captured.errors == "")
        let (named, told) = try await run(["wait", "1", "--timeout", "0.1"], service())
        #expect(named == 1)
        #expect(told.errors.contains("download 1 is not finished"))
    }

    @Test("With --any, the first download that ends decides the status")
    func any() async throws {
        let (status, captured) = try await Self.following(["wait", "1-3", "--any"], Self.service(), looks: 3) {
            $0.changeElsewhere(3, .failed) { $0.state = .failed(.authenticationFailed(status: 401)) }
        }
        #expect(status == 6)
        #expect(captured.errorLines.count == 1)
    }

    @Test("At the timeout, wait prints one line and ends with status 1")
    func timeout() async throws {
        let (status, captured) = try await run(["wait", "1-3", "--timeout", "0.1"], Self.service())
        #expect(status == 1)
        #expect(captured.errors == "dlm: timed out after 0.1 s: 3 downloads are not finished; see: dlm list\n")
    }

    @Test("wait continues to wait while a download is paused and after a session has ended")
    func paused() async throws {
        let (status, captured) = try await Self.following(["wait", "1"], Self.service(), looks: 1) { service in
            service.changeElsewhere(1, .paused) { $0.state = .paused(.terminate) }
            service.changeElsewhere(1, .resumed) { $0.state = .queued }
            service.changeElsewhere(1, .started) { $0.state = .running }
            service.changeElsewhere(1, .completed) { $0.complete() }
        }
        #expect(status == 0)
        #expect(captured.errors == "")
    }

    @Test("wait looks at each of thousands of downloads only a few times")
    func cheap() async throws {
        let count = Sanitizer.isOn ? 300 : 3000
        let service = Self.service(count)
        // `wait` looks at each download at its start, when its log is open, and after the end of the download. Polls
        // look at some downloads more often.
        let (status, _) = try await Self.following(["wait", "1-\(count)", "-q"], service, looks: 2 * count) { service in
            for id in 1...count { service.changeElsewhere(DownloadID(id), .completed) { $0.complete() } }
        }
        #expect(status == 0)
        let looks = service.state.withLock { $0.looks.values.reduce(0, +) }
        #expect(looks <= 6 * count, "\(looks)")
    }

    @Test("An unknown ID ends wait with status 10 at once")
    func unknown() async throws {
        let (status, captured) = try await run(["wait", "1", "99"], Self.service())
        #expect(status == 10)
        #expect(captured.errors == "dlm: no download 99\n")
    }
}
