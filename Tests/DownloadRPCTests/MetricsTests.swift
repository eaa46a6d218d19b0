import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadRPC

@Suite("Metrics, and the log that they are counted from", .inTurn, .timeLimit(.minutes(2)))
struct MetricsTests {
    static let promtool = "/usr/bin/promtool"

    private func event(
        _ kind: LoggedEvent.Kind, _ id: DownloadID, _ state: DownloadState? = nil, cursor: EventCursor = 1
    ) -> LoggedEvent {
        LoggedEvent(
            cursor: cursor, time: Date(timeIntervalSince1970: 100), kind: kind, id: id, name: "n",
            url: "http://h.example/f", state: state, received: 7)
    }

    @Test("Attempts are counted by their results, and events by their kinds")
    func attempts() async {
        let counter = EventCounter()
        await counter.count(event(.failed, 7), at: Date(timeIntervalSince1970: 101))
        #expect(await counter.current().kinds.isEmpty, "an event before the first request is counted")
        let retry = DownloadState.waiting(.retry(.unexpected("x")), until: nil)
        for event in [
            event(.added, 1), event(.started, 1), event(.waiting, 1, retry), event(.started, 1), event(.restarted, 1),
            event(.completed, 1), event(.added, 2), event(.started, 2), event(.paused, 2), event(.resumed, 2),
            event(.started, 2), event(.cancelled, 2), event(.added, 3), event(.paused, 3), event(.completed, 4),
            event(.started, 5), event(.failed, 5), event(.waiting, 6, .waiting(.schedule, until: nil)),
        ] { await counter.count(event, at: Date(timeIntervalSince1970: 102)) }
        let counts = await counter.counts
        #expect(counts.results == [.completed: 2, .retried: 1, .failed: 1, .stopped: 2])
        #expect(counts.kinds[.started] == 5 && counts.kinds[.waiting] == 2)
        #expect(counts.lag == 2 && counts.bytes == ["h.example": 14])
    }

    @Test("The start after a retry is no news for clients, but the start after a wait for the schedule is")
    func retries() {
        var retrying = RetryingDownloads()
        let retry = DownloadState.waiting(.retry(.unexpected("x")), until: nil)
        let events = [
            event(.started, 1), event(.waiting, 1, retry), event(.started, 1), event(.started, 1),
            event(.waiting, 2, .waiting(.schedule, until: nil)), event(.started, 2),
            event(.waiting, 3, retry), event(.paused, 3), event(.started, 3),
        ]
        let areRetries = events.map { retrying.isRetry($0) }
        #expect(areRetries.firstIndex(of: true) == 2 && areRetries.count { $0 } == 1, "\(areRetries)")
    }

    @Test("Hosts beyond the first thousand are counted as one")
    func hosts() async {
        let counter = EventCounter()
        _ = await counter.current()
        for number in 0..<1100 {
            var event = event(.completed, DownloadID(number))
            event.url = "http://h\(number).example/f"
            await counter.count(event, at: .now)
        }
        let bytes = await counter.counts.bytes
        #expect(bytes.count == 1001 && bytes["other"] == 700)
    }

    @Test(
        "promtool accepts the older format, and both formats are served",
        .enabled(if: FileManager.default.isExecutableFile(atPath: promtool)))
    func formats() async throws {
        let bench = try await RPCBench()
        let server = try FaultServer.serving(Content(seed: 1, size: 1000))
        func read(_ accept: String) async throws -> String {
            let answer = try await bench.ask("GET", "/metrics", fields: [bench.bearer, "Accept: \(accept)"])
            #expect(answer.status == 200, "\(answer.text)")
            return answer.body
        }
        _ = try await read("*/*")
        var older = ""
        // The log is read only from the first request for metrics on.
        for await number in bench.ticks {
            _ = try await bench.call("aria2.addUri", [.string(server.url())], ["out": .string("\(number).bin")])
            older = try await read("*/*")
            if older.contains(#"dlm_attempts_total{result="completed"} 1"#) { break }
        }
        #expect(older.contains(#"dlm_attempts_total{result="completed"} "#) && !older.contains("# EOF"))
        #expect(older.contains(#"dlm_ended_bytes_total{host="127.0.0.1"} "#))
        let open = try await read("application/openmetrics-text; version=1.0.0")
        #expect(open.hasSuffix("# EOF\n") && open.contains("# TYPE dlm_attempts counter\n"))
        for (text, name) in [(older, "older"), (open, "open")] {
            try bench.folder.write(text, to: name)
            let launch = ProcessLaunch(
                "/bin/sh", ["-c", "exec \(Self.promtool) check metrics <'\(bench.folder(name))'"])
            let result = try await ChildProcess(launch).result()
            // promtool only knows the older rules of OpenMetrics for names, and does not know the comment EOF.
            #expect(result.ending == .exited(0) || name == "open", "\(name): \(result.stderr) \(result.stdout)")
        }
        await bench.end()
    }

    @Test("A log that breaks off is reported, and is read again after the last event")
    func brokenLog() async {
        let reports = Observed<[String]>([])
        let events = Observed<[EventCursor]>([])
        let log = BrokenLog()
        let follower = LogFollower(service: log, time: HurriedTime()) { text in reports.update { $0.append(text) } }
        let task = Task { await follower.follow { event in events.update { $0.append(event.cursor) } } }
        #expect(await events.wait { $0.count >= 3 })
        task.cancel()
        #expect(events.value.prefix(3) == [1, 2, 3])
        #expect(log.cursors.withLock { $0.prefix(3) } == [nil, 1, 2])
        let report = reports.value.first ?? ""
        #expect(report.hasPrefix("event log: ") && report.contains("broken"), "\(report)")
        await task.value
    }
}

/// A service whose log breaks off after each event.
private final class BrokenLog: DownloadService {
    let cursors = Mutex<[EventCursor?]>([])

    func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        cursors.withLock { $0.append(cursor) }
        let (stream, log) = AsyncThrowingStream.makeStream(of: LogEntry.self)
        let next = (cursor ?? 0) + 1
        log.yield(.event(LoggedEvent(cursor: next, time: .now, kind: .added, id: 1, name: "n", url: "http://h/f")))
        log.finish(throwing: DownloadError.unexpected("broken"))
        return stream
    }

    func add(_ requests: RequestList) async throws -> [AddedDownload] { [] }
    func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] { [] }
    func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload] { [] }
    func remove(_ ids: [DownloadID], deletesFile: Bool) async throws {}
    func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot] { [] }
    func progress() async -> [DownloadProgress] { [] }
    func events() async -> DownloadEvents { DownloadEvents(groups: AsyncStream { nil }) }
    func status() async throws -> SessionStatus { throw DownloadError.unexpected("no session") }
    func configure(_ settings: SessionSettings) async throws {}
    func shutdown(_ mode: ShutdownMode) async throws {}
    func pauseAll(_ reason: DownloadState.PauseReason) async {}
    func close() async {}
}
