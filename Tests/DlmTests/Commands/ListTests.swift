import DownloadCore
import Foundation
import Synchronization
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("list, show, resume and remove", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct ListTests {
    /// Returns a service with one download in each state.
    static func service() -> FakeService {
        let service = FakeService()
        let states: [DownloadState] = [
            .queued, .running, .waiting(.retry(.serverRefused(status: 503, phrase: "Busy")), until: nil),
            .paused(.terminate), .completed, .failed(.serverRefused(status: 404, phrase: "Not Found")), .cancelled,
        ]
        for (index, state) in states.enumerated() {
            service.change(DownloadID(index + 1)) { record in
                record.id = DownloadID(index + 1)
                record.fileName = state.kind.rawValue + ".bin"
                record.receive(63, of: 100)
                if state == .completed {
                    record.complete(100, path: "/data/completed.bin")
                } else {
                    record.state = state
                }
                if state == .running { record.speed = 10 }
            }
        }
        return service
    }

    @Test("The list shows the unfinished downloads, aligned, with the reasons")
    func list() async throws {
        let (status, captured) = try await run(["list"], Self.service())
        #expect(status == 0)
        #expect(
            captured.output == """
                 ID  STATE    DONE   SIZE   SPEED  LEFT  NAME
                  1  queued    63%  100 B       -     -  queued.bin
                  2  running   63%  100 B  10 B/s  0:04  running.bin
                  3  waiting   63%  100 B       -     -  waiting.bin  retry: 503 Busy
                  4  paused    63%  100 B       -     -  paused.bin   ended by SIGTERM
                  6  failed    63%  100 B       -     -  failed.bin   404 Not Found

                """)
    }

    @Test("The history shows when a download ended, and how long it took")
    func history() async throws {
        let service = FakeService()
        let end = Date(timeIntervalSince1970: 1_700_000_012)
        for (id, state) in [(1, .completed), (2, .failed(.cancelled)), (3, .cancelled)] as [(DownloadID, DownloadState)]
        {
            service.change(id) { record in
                record = .example(id: id, state: state)
                if state == .completed { record.complete() }
                var attempt = AttemptRecord(started: end.addingTimeInterval(-12))
                attempt.ended = end
                record.attempts = [attempt]
                record.updated = end
            }
        }
        let (_, captured) = try await run(["list", "--all"], service)
        let when = ShowText.text(end) + " in 12 s"
        let notes = captured.outputLines.dropFirst().map {
            $0.split(separator: "debian-12.iso  ").last.map(String.init)
        }
        #expect(notes == [when, "cancelled; \(when)", when])
        let (_, json) = try await run(["list", "--json", "--state", "completed"], service)
        #expect(json.output.contains(#""ended":"2023-11-14T22:13:32Z""#) && json.output.contains(#""seconds":12"#))
    }

    @Test("If a download waits for a dead background session, its line says how to start the session")
    func interrupted() async throws {
        let service = FakeService()
        service.change(1) {
            $0 = .example(id: 1)
            $0.session = "background"
        }
        _ = service.state.withLock { $0.unattended.insert(1) }
        let line = "interrupted: the background session is not running; run: dlm daemon start"
        for command in [["list"], ["show", "1"]] {
            let (_, captured) = try await run(command, service)
            #expect(captured.output.contains(line), "\(captured.output)")
        }
        let (_, json) = try await run(["list", "--json"], service)
        #expect(json.output.contains(#""isAttended":false"#) && json.output.contains(#""session":"background""#))
    }

    @Test("A long list is read page by page")
    func pages() async throws {
        let service = FakeService()
        for id in 1...1200 { service.change(DownloadID(id)) { $0 = .example(id: DownloadID(id)) } }
        let (_, captured) = try await run(["list"], service)
        #expect(captured.outputLines.count == 1201)
        #expect(captured.outputLines.filter { $0.contains("STATE") }.count == 1)
        #expect(captured.outputLines.last?.hasPrefix(" 1200  queued") ?? false)
    }

    @Test("An empty list has no header")
    func empty() async throws {
        let (status, captured) = try await run(["ls"], FakeService())
        #expect(status == 0)
        #expect(captured.output == "" && captured.errors == "")
    }

    @Test(
        "--state, --limit and --all choose the downloads in the list",
        arguments: [
            (["--all"], [1, 2, 3, 4, 5, 6, 7]), (["--state", "completed"], [5]),
            (["--state", "failed", "--state", "paused"], [4, 6]), (["--limit", "2"], [4, 6]), (["--limit", "0"], []),
            (["--all", "--state", "cancelled"], [7]),
        ])
    func choice(arguments: [String], ids: [Int]) async throws {
        let (_, captured) = try await run(["list", "--json"] + arguments, Self.service())
        let listed = try captured.outputLines.map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(listed.map { $0?["id"] as? Int } == ids)
        #expect(listed.allSatisfy { $0?["version"] as? Int == 1 })
    }

    @Test("show describes each of several downloads")
    func show() async throws {
        let (status, captured) = try await run(["show", "6", "4-5"], Self.service())
        #expect(status == 0)
        let heads = captured.outputLines.filter { !$0.hasPrefix(" ") }
        #expect(
            heads == [
                "6  failed.bin  failed", "4  paused.bin  paused: ended by SIGTERM", "5  completed.bin  completed",
            ])
    }

    @Test(
        "An unknown ID is an error, and nothing is done to the other downloads",
        arguments: [["show", "1", "99"], ["remove", "1", "99"], ["resume", "1", "99"], ["remove", "6-8"]])
    func unknown(arguments: [String]) async throws {
        let service = Self.service()
        let (status, captured) = try await run(arguments, service)
        #expect(status == 10)
        #expect(captured.output == "")
        #expect(captured.errorLines.count == 1 && captured.errors.hasPrefix("dlm: no download "))
        #expect(service.calls == ["close"])
    }

    @Test("remove prints nothing, and passes --delete-file on")
    func remove() async throws {
        let service = Self.service()
        let (status, captured) = try await run(["rm", "4-5", "--delete-file"], service)
        #expect(status == 0)
        #expect(captured.output == "" && captured.errors == "")
        #expect(service.calls.first == "remove [4, 5] true")
    }

    @Test("Resuming a complete download prints its path at once")
    func resumeComplete() async throws {
        let record = DownloadRecord.example(id: 1) { $0.complete(path: "/data/x") }
        let service = FakeService(onResume: { _, _, _ in [ClaimedDownload(.completed, record)] })
        service.change(1) { $0 = record }
        let (status, captured) = try await run(["resume", "1"], service)
        #expect(status == 0)
        #expect(captured.output == "/data/x\n")
    }
}
