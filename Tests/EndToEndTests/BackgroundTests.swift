import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("A background session that dies, and who waits for it", .serialized, .timeLimit(.minutes(3)))
    struct BackgroundTests {
        static let rate = mebibyte / 2
        static let running = 20
        static let queued = 200

        static func content(_ target: String) -> Content {
            Content(seed: target.utf8.reduce(3) { $0 &* 31 &+ UInt64($1) }, size: 2 * mebibyte + 7)
        }

        static func handler(bytesPerSecond: Int64?) -> FaultServer.Handler {
            { request in
                FaultReply(content(request.target), etag: "\"v1\"").with {
                    $0.bytesPerSecond = bytesPerSecond.map { Int($0) }
                }
            }
        }

        @Test(
            "With 20 running and 200 queued the list tells the truth at once, and the next start goes on in order",
            arguments: [SIGKILL, SIGTERM])
        func many(signal: Int32) async throws {
            try await withDlm(Self.handler(bytesPerSecond: Self.rate)) { sandbox, server in
                server.holdEnds()
                let count = Self.running + Self.queued
                let limits = ["-j", "\(Self.running)", "--max-per-host", "\(Self.running)"]
                let daemon = try await sandbox.startDaemon(limits[0], limits[1], limits[2], limits[3])
                let names = (0..<count).map { "f\($0)" }
                let ids = try await sandbox.hand(["-x", "1"] + names.map { server.url("/" + $0) })
                #expect(ids == Array(1...count))
                #expect(
                    await server.waitUntil { log in
                        log.entries.count == Self.running && log.entries.allSatisfy { $0.sent > Self.rate }
                    })
                daemon.send(signal)
                #expect(await daemon.waitForEnd())

                let list = try await sandbox.perform("list", "--json")
                #expect(list.duration < promised(within: .seconds(2)))
                let states = try list.outputLines.map {
                    try JSONDecoder().decode(ListedDownload.self, from: Data($0.utf8))
                }.sorted { $0.id < $1.id }.map(\.state)
                #expect(states.prefix(Self.running).allSatisfy { $0 == "paused" }, "\(states)")
                #expect(states.dropFirst(Self.running).allSatisfy { $0 == "queued" }, "\(states)")
                #expect(states.count == count)
                let shown = try await sandbox.show(1)
                #expect(shown.isAttended == false)
                #expect(shown.received > 0)

                server.handle(Self.handler(bytesPerSecond: nil))
                server.releaseEnds()
                _ = try await sandbox.startDaemon(limits[0], limits[1], limits[2], limits[3])
                let wait = try await sandbox.done("wait", "1-\(count)")
                #expect(wait.outputLines.count == count)
                for name in names { try expectFile(Self.content("/" + name), name, in: sandbox) }
                expectOrder(names.map { "/" + $0 }, server.log.entries.dropFirst(Self.running))
                // A second of traffic, or what was on its way.
                let twice = names.map { server.log.bytesSentTwice(target: "/" + $0) }
                #expect(twice.allSatisfy { $0 <= (signal == SIGKILL ? Self.rate : Self.rate / 8) }, "\(twice)")
            }
        }

        /// What begins at the same time reaches the server in any order, and a slow starter is overtaken by those that
        /// follow others.
        private func expectOrder(_ wanted: [String], _ entries: some Sequence<ServerLog.Entry>) {
            let got = entries.map(\.request.target)
            let twice = Dictionary(grouping: entries, by: \.request.target).filter { $0.value.count > 1 }
            #expect(got.count == wanted.count, "\(twice)")
            for (index, target) in got.enumerated() {
                let place = wanted.firstIndex(of: target) ?? -wanted.count
                #expect(abs(place - index) < 3 * Self.running, "\(target) came as number \(index)")
            }
        }

        @Test(
            "Who waits and watches survives a restart, and ends with the status of the download",
            arguments: [SIGKILL, SIGTERM])
        func restart(signal: Int32) async throws {
            try await withDlm(Self.handler(bytesPerSecond: Self.rate)) { sandbox, server in
                let daemon = try await sandbox.startDaemon()
                try await sandbox.hand(["/whole", "/gone", "/cancelled"].map { server.url($0) })
                try await sandbox.hand([
                    "--checksum", "sha256:" + String(repeating: "0", count: 64), server.url("/wrong"),
                ])
                let waits = try (1...4).map { try sandbox.start("wait", "-v", "\($0)") }
                let watches = try (1...4).map { try sandbox.start("watch", "--json", "\($0)") }
                let plain = try (1...4).map { try sandbox.start("watch", "--progress", "plain", "\($0)") }
                // By number: with --all, one that begins after the pause has nothing to wait for.
                let all = try sandbox.start("wait", "-v", "1-4")
                let everybody = waits + watches + plain + [all]
                #expect(await server.waitUntil { $0.entries.count == 4 && $0.entries.allSatisfy { $0.sent > 0 } })
                // Each tells of a pause: from then on it follows.
                try await sandbox.done("pause", "1-4")
                for process in everybody { await process.expectSays("paused; continue with: dlm resume") }
                try await sandbox.done("resume", "1-4")
                for process in everybody { await process.expectSays(": resumed") }
                daemon.send(signal)
                #expect(await daemon.waitForEnd())
                for process in everybody { await process.expectSays("session is not running; run: dlm daemon start") }

                server.handle { request in
                    if request.target == "/gone" { return FaultReply(status: 404) }
                    let rate = request.target == "/cancelled" ? Self.rate : nil
                    return Self.handler(bytesPerSecond: rate)(request)
                }
                _ = try await sandbox.startDaemon()
                #expect(await server.waitUntil { $0.requests(to: "/cancelled").count == 3 })
                try await sandbox.done("cancel", "3")
                for (index, status) in [0, 8, 11, 9].enumerated() {
                    for process in [waits[index], watches[index], plain[index]] {
                        let result = try await process.result()
                        #expect(
                            result.ending == .exited(Int32(status)), "\(index + 1): \(result.stdout)\(result.stderr)")
                    }
                    let finished = try await watches[index].result().eventLines.last
                    #expect(finished?.event == "finished")
                }
                #expect(try await waits[0].result().stdout == sandbox.file("whole") + "\n")
                #expect(try await all.result().ending == .exited(1))
                try expectFile(Self.content("/whole"), "whole", in: sandbox)
                #expect(!sandbox.exists("wrong"))
            }
        }

        @Test("wait --any ends with the first, wait --timeout in time, and neither touches a download")
        func anyAndTimeout() async throws {
            try await withDlm({ request in
                Self.handler(bytesPerSecond: request.target == "/fast" ? nil : Self.rate / 4)(request)
            }) { sandbox, server in
                try await sandbox.hand([server.url("/slow")])
                #expect(await server.waitUntil { $0.bytesSent > 0 })
                let timeout = try await sandbox.perform("wait", "--timeout", "0.5", "1")
                expectFailure(1, of: timeout)
                #expect(timeout.stderr.contains("timed out"), "\(timeout.stderr)")
                let any = try sandbox.start("wait", "--any", "1", "2")
                expectFailure(10, of: try await any.result())
                try await sandbox.hand([server.url("/fast")])
                let first = try await sandbox.perform("wait", "--any", "1-2")
                try expectDownloaded(Self.content("/fast"), as: "fast", by: first, in: sandbox)
                #expect(try await sandbox.show(1).state == "running")
                let watch = try sandbox.start("watch", "1") { $0.terminalColumns = 80 }
                await watch.expectSays("slow")
                watch.send(SIGINT)
                #expect(try await watch.result().ending == .signalled(SIGINT))
                #expect(try await sandbox.show(1).state == "running")
            }
        }
    }
}
