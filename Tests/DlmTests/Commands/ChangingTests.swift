import DownloadCore
import Foundation
import Synchronization
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("pause, cancel, limit, priority and set-url", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct ChangingTests {
    @Test(
        "A change is passed on for the named downloads, in the order in which they are named",
        arguments: [
            (["pause", "2", "1"], "change [2, 1] pause"), (["cancel", "1-3"], "change [1, 2, 3] cancel"),
            (["limit", "500k", "2"], "change [2] rateLimit(Optional(512000))"),
            (["limit", "none", "2"], "change [2] rateLimit(nil)"), (["priority", "7", "2"], "change [2] priority(7)"),
            (["priority", "-15", "2", "3"], "change [2, 3] priority(-15)"),
            (["priority", "--json", "-5", "2"], "change [2] priority(-5)"),
        ])
    func passedOn(arguments: [String], call: String) async throws {
        let service = ListTests.service()
        let (status, captured) = try await run(arguments, service)
        #expect(status == 0, "\(captured.errors)")
        #expect(service.calls == [call, "close"])
    }

    @Test("Changes are reported only with --verbose or --json")
    func told() async throws {
        let (_, quiet) = try await run(["pause", "2"], ListTests.service())
        #expect(quiet.output == "" && quiet.errors == "")
        let (_, verbose) = try await run(["cancel", "-v", "2"], ListTests.service())
        #expect(verbose.errors == "dlm: 2: running.bin: cancelled\n")
        let (_, json) = try await run(["pause", "--json", "2"], ListTests.service())
        #expect(json.outputLines.count == 1 && json.errors == "")
        for part in [#""event":"paused""#, #""id":2"#, #""state":"paused""#, #""version":1"#] {
            #expect(json.output.contains(part), "\(json.output)")
        }
    }

    @Test(
        "A change that changes nothing gives a notice and status 0",
        arguments: [
            (["pause", "5"], "5: completed.bin: completed already"),
            (["cancel", "7"], "7: cancelled.bin: cancelled already"),
            (["priority", "0", "1"], "1: queued.bin: has priority 0 already"),
            (["limit", "none", "1"], "1: queued.bin: has that limit already"),
            (["set-url", "5", "http://b/x"], "5: completed.bin: completed already"),
            (["set-url", "1", "https://cd.example.org/debian-12.iso"], "1: queued.bin: has that URL already"),
        ])
    func nothingToDo(arguments: [String], line: String) async throws {
        let (status, captured) = try await run(arguments, ListTests.service())
        #expect(status == 0)
        #expect(captured.errors == "dlm: \(line)\n")
        let (_, json) = try await run(arguments + ["--json", "-q"], ListTests.service())
        #expect(json.output.contains(#""event":"unchanged""#) && json.output.contains(#""reason":""#))
        #expect(json.errors == "")
    }

    @Test(
        "An unknown ID is an error, and the other downloads are not changed",
        arguments: [
            ["pause", "1-9"], ["cancel", "1", "99"], ["limit", "1M", "1", "99"], ["priority", "1", "1", "99"],
        ])
    func unknown(arguments: [String]) async throws {
        let service = ListTests.service()
        let (status, captured) = try await run(arguments, service)
        #expect(status == 10)
        #expect(captured.errorLines.count == 1 && captured.errors.hasPrefix("dlm: no download "))
        #expect(service.calls == ["close"])
    }

    @Test(
        "--all and --state choose the downloads, and queued downloads are changed before running downloads",
        arguments: [
            (["pause", "--all"], [[1], [1, 2, 3, 4]]), (["cancel", "--all"], [[1], [2, 3, 4, 6]]),
            (["cancel", "--state", "paused", "--state", "failed"], [[4, 6]]), (["pause", "--state", "queued"], [[1]]),
            (["limit", "1M", "--all"], [[1], [2, 3, 4, 6]]), (["priority", "-1", "--state", "waiting"], [[3]]),
        ])
    func chosen(arguments: [String], ids: [[Int]]) async throws {
        let service = ListTests.service()
        let (status, captured) = try await run(arguments, service)
        #expect(status == 0)
        #expect(captured.errors == "")
        let asked = service.calls.filter { $0.hasPrefix("change") }
            .map { $0.dropFirst("change ".count).prefix { $0 != "]" } + "]" }
        #expect(asked == ids.map { "\($0)" })
    }

    @Test("Many downloads are changed in parts, after all IDs have been checked")
    func parts() async throws {
        let service = FakeService()
        for id in 1...1200 { service.change(DownloadID(id)) { $0 = .example(id: DownloadID(id), state: .running) } }
        let (status, _) = try await run(["pause", "1-1200"], service)
        #expect(status == 0)
        #expect(service.calls.filter { $0.hasPrefix("change") }.count == 3)
        service.forget(1100)
        let (unknown, _) = try await run(["cancel", "1-1200"], service)
        #expect(unknown == 10)
        #expect(service.calls.filter { $0.hasSuffix("cancel") } == [])
        let (all, _) = try await run(["cancel", "--all"], service)
        #expect(all == 0)
        #expect(service.state.withLock { $0.records.values.allSatisfy { $0.state == .cancelled } })
    }

    @Test("A session that does not answer gives one line and status 12")
    func noAnswer() async throws {
        let service = ListTests.service()
        service.state.withLock { $0.changeFailure = .sessionUnavailable(.notAnswering("background", message: "")) }
        let (status, captured) = try await run(["pause", "2"], service)
        #expect(status == 12)
        #expect(captured.errorLines.count == 1)
    }

    @Test("Without IDs, dlm limit sets the limit of all live sessions")
    func sessions() async throws {
        let service = ListTests.service()
        service.state.withLock { $0.sessions = ["background", "foreground-1-a"] }
        let (status, captured) = try await run(["limit", "2M", "--json"], service)
        #expect(status == 0)
        #expect(service.state.withLock(\.settings) == SessionSettings(rateLimit: 2 << 20))
        #expect(captured.outputLines.count == 2)
        #expect(captured.output.contains(#""rateLimit":2097152,"session":"background""#))
        _ = try await run(["limit", "none"], service)
        #expect(service.state.withLock(\.settings) == SessionSettings(rateLimit: 0))
    }

    @Test("limit without arguments shows the limits in force and changes nothing")
    func shownLimits() async throws {
        let service = ListTests.service()
        service.state.withLock { state in
            state.sessions = ["background"]
            state.settings = SessionSettings(rateLimit: 2 << 20)
            state.records[2]?.request.rateLimit = 512_000
        }
        let (status, captured) = try await run(["limit"], service)
        #expect(status == 0)
        let name = service.state.withLock { $0.records[2]?.displayName ?? "" }
        #expect(captured.outputLines == ["session background: limit 2.0 MiB/s", "2: \(name): limit 500 KiB/s"])
        let (_, json) = try await run(["limit", "--json"], service)
        #expect(json.outputLines.count == 2 && json.outputLines.allSatisfy { $0.contains(#""event":"limit""#) })
        #expect(json.output.contains(#""rateLimit":2097152,"session":"background""#))
        #expect(service.state.withLock(\.settings) == SessionSettings(rateLimit: 2 << 20))
        let (_, nothing) = try await run(["limit"], FakeService())
        #expect(nothing.output == "" && nothing.errors.contains("no dlm is running"))
    }

    @Test("If no session runs, limit says so")
    func noSession() async throws {
        let service = FakeService()
        let (status, captured) = try await run(["limit", "2M"], service)
        #expect(status == 0)
        #expect(captured.errors.contains("no dlm is running"))
        #expect(service.calls == ["close"])
    }

    @Test("set-url passes the address on, and separates its password")
    func setURL() async throws {
        let service = ListTests.service()
        let (status, captured) = try await run(["set-url", "4", "https://me:pw@b.example.org/x", "--json"], service)
        #expect(status == 0)
        let request = try #require(service.state.withLock { $0.records[4]?.request })
        #expect(request.url.string == "https://b.example.org/x")
        #expect(request.credential == Credential(user: "me", password: "pw"))
        #expect(captured.output.contains(#""event":"changed""#) && !captured.output.contains("pw"))
    }

    @Test("set-url refuses an invalid address")
    func badURL() async throws {
        let service = ListTests.service()
        let (status, captured) = try await run(["set-url", "4", "example.org/x"], service)
        #expect(status == 2)
        #expect(captured.errorLines.count == 1)
        #expect(service.calls == [])
    }
}
