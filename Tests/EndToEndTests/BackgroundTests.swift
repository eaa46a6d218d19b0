import DownloadCore
import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("A background session that dies, and commands that wait for it", .serialized, .timeLimit(.minutes(3)))
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
            "If a session with 20 running and 200 queued downloads dies, list is right, and the next session continues",
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
                for id in 1...Self.running { try await sandbox.waitToShow(id) { $0.received > 0 } }
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
                var kept: [Int64] = []
                for id in 1...Self.running { kept.append(try await sandbox.show(id).received) }

                server.handle(Self.handler(bytesPerSecond: nil))
                server.releaseEnds()
                _ = try await sandbox.startDaemon(limits[0], limits[1], limits[2], limits[3])
                let wait = try await sandbox.done("wait", "1-\(count)")
                #expect(wait.outputLines.count == count)
                for name in names { try expectFile(Self.content("/" + name), name, in: sandbox) }
                expectOrder(names.map { "/" + $0 }, server.log.entries.dropFirst(Self.running))
                for (name, kept) in zip(names, kept) {
                    let start = server.log.requests(to: "/" + name).last?.start ?? 0
                    #expect(start >= kept - Overlap.resumed, "\(name)")
                }
                // After SIGKILL, the bytes of one second may be sent twice. After SIGTERM, only the bytes that were on
                // their way may be.
                let twice = names.map { server.log.bytesSentTwice(target: "/" + $0) }
                let limit = signal == SIGKILL ? Self.rate : Self.rate / 8
                #expect(!holdsToPromises || twice.allSatisfy { $0 <= limit }, "\(twice)")
            }
        }

        /// Expects the requests in the order of `wanted`. Downloads that begin at the same time reach the server in any
        /// order. A download that starts slowly may be overtaken by downloads that start when others end.
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
            "wait and watch survive a restart of the session, and end with the status of the download",
            arguments: [SIGKILL, SIGTERM])
        func restart(signal: Int32) async throws {
            try await withDlm(Self.handler(bytesPerSecond: Self.rate)) { sandbox, server in
                server.holdEnds()
                let daemon = try await sandbox.startDaemon()
                try await sandbox.hand(["-x", "1"] + ["/whole", "/gone", "/cancelled"].map { server.url($0) })
                try await sandbox.hand([
                    "-x", "1", "--checksum", "sha256:" + String(repeating: "0", count: 64), server.url("/wrong"),
                ])
                let waits = try (1...4).map { try sandbox.start("wait", "-v", "\($0)") }
                let watches = try (1...4).map { try sandbox.start("watch", "--json", "\($0)") }
                let plain = try (1...4).map { try sandbox.start("watch", "--progress", "plain", "\($0)") }
                // This command gets the numbers of the downloads. With --all, a command that starts only after the
                // pause below would find nothing to wait for.
                let all = try sandbox.start("wait", "-v", "1-4")
                let everybody = waits + watches + plain + [all]
                #expect(await server.waitUntil { $0.entries.count == 4 && $0.entries.allSatisfy { $0.sent > 0 } })
                // Each command reports a pause, so from then on it follows the downloads.
                try await sandbox.done("pause", "1-4")
                for process in everybody { await process.expectSays("paused; continue with: dlm resume") }
                try await sandbox.done("resume", "1-4")
                for process in everybody { await process.expectSays(": resumed") }
                daemon.send(signal)
                #expect(await daemon.waitForEnd())
                for process in everybody { await process.expectSays("session is not running; run: dlm daemon start") }

                server.handle { request in
                    if request.target == "/gone" { return FaultReply(status: 404) }
                    // The download that is cancelled below stalls after one byte.
                    let gate = request.target == "/cancelled" ? Gate(after: 1) : nil
                    return Self.handler(bytesPerSecond: nil)(request).with { $0.gate = gate }
                }
                server.releaseEnds()
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

        @Test("wait --any ends with the first download, wait --timeout in time, and neither affects a download")
        func anyAndTimeout() async throws {
            try await withDlm({ request in
                let gate = request.target == "/fast" ? nil : Gate(after: mebibyte / 2)
                return Self.handler(bytesPerSecond: nil)(request).with { $0.gate = gate }
            }) { sandbox, server in
                try await sandbox.hand(["-x", "1", server.url("/slow")])
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
