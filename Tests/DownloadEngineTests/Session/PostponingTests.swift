import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("SessionManager: downloads that wait for their time", .inTurn, .timeLimit(.minutes(1)))
struct PostponingTests {
    static let content = Content(seed: 72, size: 3 << 20)
    static let reply = FaultReply(content, etag: "\"v1\"")

    private func date(_ text: String) throws -> Date { try Date(text + "Z", strategy: .iso8601) }

    private func clock(_ text: String) throws -> ManualTime { ManualTime(leaps: true, date: try date(text)) }

    /// Sets the time of day, and lets the session see the new time.
    private func put(_ time: ManualTime, _ text: String) throws {
        time.put(try date(text))
        time.advance(by: .seconds(1))
    }

    private func window(_ text: String) throws -> DownloadSchedule {
        DownloadSchedule(windows: [try #require(TimeWindow(text))], timeZone: "UTC")
    }

    private func isWaiting(_ id: DownloadID, _ bench: SessionBench) async throws -> Bool {
        if case .waiting(.schedule, _) = try await bench.record(id).state { true } else { false }
    }

    @Test("A download outside its window waits without a slot, and begins when the window opens")
    func begins() async throws {
        let time = try clock("2026-01-09T14:30:00")
        let bench = try await SessionBench(maxConcurrent: 1, time: time) { _, _ in .reply(Self.reply) }
        let schedule = try window("13:00-14:00")
        let later = try await bench.add("/later") { $0.schedule = schedule }
        let now = try await bench.add("/now")
        #expect(try await bench.ending(of: now).state == .completed)
        #expect(bench.words(later) == ["add", "postpone"])
        let until = try Date("2026-01-10T13:00:00Z", strategy: .iso8601)
        #expect(try await bench.record(later).state == .waiting(.schedule, until: until))
        #expect(try await bench.manager.status().waiting == 1)
        try put(time, "2026-01-10T13:00:00")
        #expect(try await bench.ending(of: later).state == .completed)
    }

    @Test("At the end of its window a download stops with its bytes, and continues in the next window")
    func suspends() async throws {
        let time = try clock("2026-01-10T13:00:00")
        let bench = try await SessionBench(time: time) { _, request in
            .reply(Self.reply.with { if request.number == 1 { $0.cut = .stall(after: 2 << 20) } })
        }
        let schedule = try window("13:00-14:00")
        let id = try await bench.add {
            $0.schedule = schedule
            $0.connections = 1
        }
        #expect(await bench.transport.taken.wait { $0 >= 2 << 20 })
        try put(time, "2026-01-10T14:00:00")
        #expect(await bench.events.wait { $0.last?.word == "postpone" })
        #expect(try await bench.record(id).received == 2 << 20)
        try put(time, "2026-01-11T13:00:00")
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.ranges.last == rest(from: 2 << 20))
        #expect(try bench.holds("file.bin", Self.content))
    }

    @Test("A download that waits for its window can be paused, cancelled, removed and resumed")
    func wishes() async throws {
        let time = try clock("2026-01-09T14:30:00")
        let bench = try await SessionBench(time: time) { _, _ in .reply(Self.reply) }
        let schedule = try window("13:00-14:00")
        var ids: [DownloadID] = []
        for name in ["/a", "/b", "/c", "/d"] { ids.append(try await bench.add(name) { $0.schedule = schedule }) }
        _ = try await bench.manager.change([ids[0], ids[3]], .pause)
        _ = try await bench.manager.change([ids[1]], .cancel)
        try await bench.manager.remove([ids[2]], deletesFile: false)
        #expect(try await bench.manager.status().waiting == 0)
        _ = try await bench.manager.resume([ids[3]], overrides: RequestOverrides())
        #expect(try await isWaiting(ids[3], bench))
        try put(time, "2026-01-10T13:30:00")
        #expect(try await bench.ending(of: ids[3], times: 2).state == .completed)
        #expect(try await bench.record(ids[0]).state == .paused(.user))
        #expect(try await bench.record(ids[1]).state == .cancelled)
        #expect(bench.transport.requests.count == 1)
    }

    @Test("The next session continues to wait for the window")
    func survives() async throws {
        let time = try clock("2026-01-09T14:30:00")
        let first = try await SessionBench(session: "background", time: time) { _, _ in .reply(Self.reply) }
        let schedule = try window("13:00-14:00")
        let id = try await first.add { $0.schedule = schedule }
        #expect(try await isWaiting(id, first))
        await first.manager.pauseAll(.terminate)
        #expect(try await first.record(id).state == .paused(.terminate))
        let second = try await SessionBench(after: first, session: "background", time: time) { _, _ in
            .reply(Self.reply)
        }
        try await second.manager.start()
        #expect(try await isWaiting(id, second))
        try put(time, "2026-01-10T13:30:00")
        #expect(try await second.ending(of: id).state == .completed)
    }

    @Test("Hundreds of waiting downloads keep no other download from running")
    func many() async throws {
        let time = try clock("2026-01-09T14:30:00")
        let bench = try await SessionBench(time: time) { _, _ in .reply(Self.reply) }
        let schedule = try window("13:00-14:00")
        let requests = try (0..<1200).map { number in
            try bench.request("/\(number)") {
                $0.schedule = schedule
                $0.priority = 1
            }
        }
        _ = try await bench.manager.add(requests)
        let plain = try await bench.add("/plain")
        #expect(try await bench.ending(of: plain).state == .completed)
        #expect(bench.transport.requests.count == 1)
        #expect(await bench.events.wait { $0.count { $0.word == "postpone" } == 1200 })
        #expect(try await bench.manager.status().waiting == 1200)
    }

    @Test("Starts at one host are as far apart as requested")
    func pacing() async throws {
        let time = ManualTime(leaps: true)
        let bench = try await SessionBench(time: time) { _, _ in .reply(Self.reply) }
        let begin = time.now
        let requests = try (0..<3).map { number in
            try bench.request("/\(number)") {
                $0.pacing = 0.7
                $0.connections = 1
            }
        }
        _ = try await bench.manager.add(requests)
        let other = try await bench.manager.add([try bench.request(host: "other.example", "/x")])
        let id = try #require(other.first).record.id
        #expect(await bench.ends.wait { $0.count == 4 })
        #expect(bench.events.value.filter(\.isEnd).prefix(2).contains { $0.snapshot.id == id })
        #expect(time.now - begin >= .seconds(1.4))
    }

    @Test("However many hosts must wait, one timer waits for the first of them")
    func oneTimer() async throws {
        let time = ManualTime()
        let bench = try await SessionBench(maxConcurrent: 40, time: time) { _, _ in .reply(Self.reply) }
        let requests = try (0..<60).map { number in
            try bench.request(host: "h\(number % 20).example", "/\(number)") {
                $0.pacing = number % 20 == 0 ? 0.3 : 0.2
                $0.connections = 1
            }
        }
        _ = try await bench.manager.add(requests)
        #expect(await bench.ends.wait { $0.count == 20 })
        // Only the tick and the timer sleep, and nothing sleeps for each of the 20 hosts.
        #expect(await time.sleepers(atLeast: 2))
        #expect(time.sleeperCount < 10)
        time.advance(by: .seconds(0.2))
        #expect(await bench.ends.wait { $0.count == 39 })
        time.advance(by: .seconds(0.1))
        #expect(await bench.ends.wait { $0.count == 40 })
        time.advance(by: .seconds(0.1))
        #expect(await bench.ends.wait { $0.count == 59 })
        time.advance(by: .seconds(0.2))
        #expect(await bench.ends.wait { $0.count == 60 })
    }

    @Test("The rate limit of the session follows its timetable")
    func limits() async throws {
        let time = try clock("2026-01-09T07:00:00")
        let table = RateTimetable(
            [.init(window: try #require(TimeWindow("Mon-Fri 08:00-18:00")), limit: 4096)], timeZone: "UTC")
        let bench = try await SessionBench(time: time, timetable: table) { _, _ in
            .reply(Self.reply.with { $0.cut = .stall(after: 1 << 20) })
        }
        _ = try await bench.add()
        func waitForLimit(_ limit: Int64?) async throws {
            let deadline = ContinuousClock.now + .seconds(20)
            while try await bench.manager.status().settings.rateLimit != limit, .now < deadline { await Task.yield() }
            #expect(try await bench.manager.status().settings.rateLimit == limit)
        }
        try await waitForLimit(nil)
        try put(time, "2026-01-09T08:00:00")
        try await waitForLimit(4096)
        try put(time, "2026-01-09T18:00:00")
        try await waitForLimit(nil)
    }
}
