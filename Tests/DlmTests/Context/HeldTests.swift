import DownloadCore
import Foundation
import Synchronization
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("get, while other commands change its downloads", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct HeldTests {
    /// Returns a service whose `add` begins a download in this session and then applies the events of another process.
    static func service(_ events: @escaping @Sendable (FakeService, DownloadRecord) -> Void) -> FakeService {
        FakeService { service, requests in
            requests.map { request in
                let record = service.insert(request)
                service.change(record.id) { $0.state = .running }
                events(service, record)
                return AddedDownload(kind: .inserted, record: record)
            }
        }
    }

    @Test("get keeps running while the download is paused, reports the pause, and continues after the resume")
    func paused() async throws {
        let service = Self.service { service, record in
            service.send(.didPause(service.change(record.id) { $0.state = .paused(.user) }))
            service.send(.didResume(service.change(record.id) { $0.state = .queued }))
            service.send(.didStart(service.change(record.id) { $0.state = .running }, atOffset: 0))
            service.send(.didComplete(service.change(record.id) { $0.complete(path: "/data/x") }))
        }
        let (status, captured) = try await run(["get", "http://a/x"], service)
        #expect(status == 0)
        #expect(captured.output == "/data/x\n")
        #expect(captured.errors == "dlm: 1: x: paused; continue with: dlm resume 1\ndlm: 1: x: resumed\n")
    }

    @Test("If another process cancels a download, the status is 11")
    func cancelled() async throws {
        let service = Self.service { service, record in
            service.send(.didCancel(service.change(record.id) { $0.state = .cancelled }))
        }
        let (status, captured) = try await run(["get", "http://a/x"], service)
        #expect(status == 11)
        #expect(captured.errors == "dlm: http://a/x: cancelled\n")
    }

    @Test("If another process removes a download, the status is 11, and one line reports the removal")
    func removed() async throws {
        let service = Self.service { service, record in
            service.forget(record.id)
            service.send(.didRemove(DownloadSnapshot(record: record)))
        }
        let (status, captured) = try await run(["get", "--json", "http://a/x"], service)
        #expect(status == 11)
        #expect(captured.errors == "dlm: 1: x: removed by another command\n")
        #expect(captured.outputLines.count == 1 && captured.output.contains(#""event":"removed""#))
    }

    @Test("The first ten of many paused downloads are reported one by one")
    func many() async throws {
        let service = Self.service { service, record in
            service.send(.didPause(service.change(record.id) { $0.state = .paused(.user) }))
            guard record.id == 30 else { return }
            for id in 1...30 { service.send(.didComplete(service.change(DownloadID(id)) { $0.complete() })) }
        }
        let urls = (1...30).map { "http://a/f\($0)" }
        let (status, captured) = try await run(["get"] + urls, service)
        #expect(status == 0)
        #expect(captured.errorLines.count == 11)
        #expect(captured.errorLines.last == "dlm: more downloads are paused; see: dlm list")
    }

    @Test("A paused download has a row in the display")
    func row() {
        var ledger = Ledger()
        ledger.expect(1, .here)
        ledger.hasAll = true
        var model = ProgressModel()
        let paused = DownloadProgress(id: 1, name: "x", state: .paused(.user), received: 1, total: 2)
        let frame = model.frame([paused], &ledger, time: 0, now: .now)
        #expect(frame.rows.map(\.note) == ["paused"])
    }

    @Test("If another process runs a download, get reports pauses and resumes of the download")
    func joined() async throws {
        let service = FollowerTests.joining { _, _ in }
        let (paused, resumed) = ("dlm: 1: x: paused; continue with: dlm resume 1\n", "dlm: 1: x: resumed\n")
        let (status, captured) = try await WaitTests.following(
            ["get", "http://a/x"], service, looks: 2
        ) { service, captured in
            // A look at the store may see a change before the log reports it. Therefore each change waits for the line
            // about the previous change.
            service.changeElsewhere(1, .paused) { $0.state = .paused(.user) }
            try await captured.waitForErrors(paused)
            service.changeElsewhere(1, .resumed) { $0.state = .queued }
            try await captured.waitForErrors(resumed)
            service.changeElsewhere(1, .completed) { $0.complete(path: "/data/x") }
        }
        #expect(status == 0)
        #expect(captured.output == "/data/x\n")
        #expect(captured.errors == paused + resumed)
    }

    @Test("The log is not read for downloads of this process")
    func noLog() async throws {
        let service = FollowerTests.completing()
        _ = try await run(["get", "http://a/x", "http://a/y"], service)
        #expect(!service.calls.contains { $0.hasPrefix("log") })
    }
}
