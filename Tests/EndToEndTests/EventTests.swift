import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("The log of events", .serialized, .timeLimit(.minutes(1)))
    struct EventTests {
        static func handler(bytesPerSecond: Int64?) -> FaultServer.Handler {
            let files = AnyFiles(size: 2 * mebibyte + 9).handler(bytesPerSecond: bytesPerSecond)
            return { $0.target == "/gone" ? FaultReply(status: 404) : files($0) }
        }

        func events(since cursor: Int64, in sandbox: DlmSandbox) async throws -> [EventLine] {
            try await sandbox.done("events", "--since", "\(cursor)", "--once").eventLines
        }

        @Test("Each event comes once and in order, across a restart of the background session and two sessions at once")
        func onceInOrder() async throws {
            try await withDlm(holding: Self.handler(bytesPerSecond: mebibyte)) { sandbox, server in
                let daemon = try await sandbox.startDaemon()
                let live = try sandbox.start("events", "--since", "0")
                await live.expectSays("didFinishEvents")
                try await sandbox.hand([server.url("/a"), server.url("/gone")])
                let get = try sandbox.start("get", server.url("/c"))
                await live.expectSays(#""event":"failed","id":2"#)
                #expect(await server.waitUntil { $0.entries.count == 3 && $0.bytesSent > mebibyte })
                try await sandbox.done("pause", "1", "3")
                let first = try await events(since: 0, in: sandbox)
                try await sandbox.done("limit", "5M", "3")
                try await sandbox.done("resume", "1", "3")
                #expect(await server.waitUntil { $0.entries.count == 5 })
                try await sandbox.waitToShow(1) { $0.state == "running" }
                daemon.send(SIGKILL)
                #expect(await daemon.waitForEnd())
                let cursor = try #require(first.last?.cursor)
                let second = try await events(since: cursor, in: sandbox)
                server.handle(Self.handler(bytesPerSecond: nil))
                server.releaseEnds()
                _ = try await sandbox.startDaemon()
                try await sandbox.done("wait", "1")
                #expect(try await get.result().ending == .exited(0))
                try await sandbox.done("remove", "2")
                let third = try await events(since: try #require(second.last?.cursor), in: sandbox)

                let whole = try await events(since: 0, in: sandbox)
                await live.expectSays(#""event":"removed","id":2"#)
                #expect(whole.filter { $0.event.hasPrefix("did") }.map(\.event) == ["didFinishEvents"])
                for part in [first, second, third, whole] {
                    #expect(part.last?.event == "didFinishEvents")
                    #expect(part.last?.cursor == part.dropLast().last?.cursor)
                }
                let told = Array(whole.dropLast())
                #expect([first, second, third].flatMap { $0.dropLast() } == told)
                #expect(zip(told, told.dropFirst()).allSatisfy { $0.cursor ?? 0 < $1.cursor ?? 0 })
                #expect(try EventLine.lines(live.standardOutput).filter { $0.event != "didFinishEvents" } == told)
                #expect(try EventLine.lines(live.standardOutput).filter { $0.event == "didFinishEvents" }.count == 1)

                func story(_ id: Int) -> [String] { told.filter { $0.id == id }.map(\.event) }
                let paused = ["added", "started", "paused"]
                // There is no event for the kill, because no process could write it.
                #expect(story(1) == paused + ["resumed", "started", "resumed", "started", "completed"])
                #expect(story(2).filter { $0 != "started" } == ["added", "failed", "removed"])
                #expect(story(3) == paused + ["changed", "resumed", "started", "completed"])
                #expect(told.filter { $0.id == 1 }.allSatisfy { $0.session == "background" })
                #expect(told.filter { $0.id == 3 }.allSatisfy { $0.session?.hasPrefix("foreground-") ?? false })
                #expect(told.filter { $0.event == "completed" }.allSatisfy { $0.received == 2 * mebibyte + 9 })
            }
        }

        @Test("A cursor beyond the last event means the end of the log")
        func future() async throws {
            try await withDlm(Self.handler(bytesPerSecond: nil)) { sandbox, server in
                #expect(try await events(since: 0, in: sandbox).map(\.event) == ["didFinishEvents"])
                try await sandbox.done("get", server.url("/a"))
                let last = try #require(try await events(since: 0, in: sandbox).last?.cursor)
                for cursor in [last, last + 1, Int64.max] {
                    let events = try await events(since: cursor, in: sandbox)
                    #expect(events.map(\.event) == ["didFinishEvents"])
                    #expect(events.map(\.cursor) == [last])
                }
                for word in ["-1", "x", "9223372036854775808", "1.5"] {
                    expectFailure(2, of: try await sandbox.run("events", "--since", word), word)
                }
            }
        }
    }
}
