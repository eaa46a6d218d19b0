import DownloadCore
import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Sessions that do not answer, are dead, or get invalid requests", .serialized, .timeLimit(.minutes(2)))
    struct OwnerTests {
        let content = Content(seed: 420, size: 8 * mebibyte + 5)

        var slow: FaultReply { FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(4 * mebibyte) } }
        var fast: FaultReply { FaultReply(content, etag: "\"v1\"") }

        @Test(
            "If a download's session does not answer, commands fail with status 12 in seconds, without a later effect")
        func silent() async throws {
            let content = Content(seed: 421, size: 32 * mebibyte)
            let slow = FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(mebibyte) }
            try await withDlm(holding: slow) { sandbox, server in
                _ = try await sandbox.startDaemon()
                let get = try sandbox.start("get", "-x", "1", server.url())
                #expect(await server.waitUntil { $0.bytesSent > mebibyte })
                get.send(SIGSTOP)
                let verbs = [
                    ["pause", "1"], ["resume", "1"], ["cancel", "1"], ["remove", "1"], ["limit", "1M", "1"],
                    ["priority", "3", "1"], ["set-url", "1", server.url("/other")], ["limit", "1M"],
                ]
                try await concurrently(verbs, atMost: verbs.count) { words in
                    let result = try await sandbox.run(words)
                    expectFailure(12, of: result, words)
                    #expect(result.stderr.contains("does not answer"), "\(result.stderr)")
                    #expect(result.duration < promised(within: .seconds(15)), "\(words)")
                }
                // A command that only reads needs no answer from the session that owns the download.
                #expect(try await sandbox.show(1).state == "running")
                // The limit for all sessions reaches every session that answers.
                #expect(try await sandbox.daemonStatus().rateLimit == 1 << 20)
                get.send(SIGCONT)
                try await sandbox.done("pause", "1")
                let paused = try await sandbox.show(1)
                #expect(paused.state == "paused")
                #expect(paused.rateLimit == nil)
                #expect(paused.priority == 0)
                #expect(paused.url == server.url())
                server.handle { _ in FaultReply(content, etag: "\"v1\"") }
                server.releaseEnds()
                try await sandbox.done("resume", "1")
                try expectDownloaded(content, as: "file.bin", by: try await get.result(), in: sandbox)
                #expect(server.log.requests(to: "/other").isEmpty)
            }
        }

        @Test("If one session does not answer, the limit for all sessions still reaches the sessions asked after it")
        func limitOfAll() async throws {
            let content = Content(seed: 422, size: 48 * mebibyte)
            let slow = FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(mebibyte) }
            try await withDlm(holding: slow) { sandbox, server in
                let daemon = try await sandbox.startDaemon()
                _ = try sandbox.start("get", "-x", "1", server.url())
                #expect(await server.waitUntil { $0.bytesSent > mebibyte })
                daemon.send(SIGSTOP)
                expectFailure(12, of: try await sandbox.run("limit", "60M"))
                daemon.send(SIGCONT)
                #expect(try await sandbox.daemonStatus().rateLimit == nil)
                let session = try #require(try await sandbox.show(1).session)
                let client = try RawClient("\(sandbox.stateFolder)/sessions/\(session).sock")
                client.send("GET /v1/session HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                let status = try await client.answer()
                #expect(status.body.contains(#""rateLimit":62914560"#), "\(status.text)")
            }
        }

        @Test(
            "Commands change downloads of a killed session in the store; the downloads continue from their bytes")
        func dead() async throws {
            try await withDlm({ [slow] _ in slow }) { sandbox, server in
                let names = ["a", "b", "c", "d"]
                server.holdEnds()
                let get = try sandbox.start(["get", "-x", "1"] + names.map { server.url("/" + $0) })
                #expect(await server.waitUntil { $0.entries.count == 4 })
                let ids = try await sandbox.ids(of: names.map { server.url("/" + $0) })
                for id in ids { try await sandbox.waitToShow(id) { $0.received > mebibyte } }
                try await get.killed()
                #expect(Set(try await sandbox.list().map(\.state)) == ["paused"])

                try await sandbox.done("pause", "\(ids[0])")
                try await sandbox.done("cancel", "\(ids[1])")
                try await sandbox.done("remove", "\(ids[2])")
                #expect(try await sandbox.show(ids[0]).state == "paused")
                #expect(try await sandbox.show(ids[1]).state == "cancelled")
                #expect(sandbox.names == ["a.part", "b.part", "d.part"])
                expectFailure(10, of: try await sandbox.run("show", "\(ids[2])"))

                let interrupted = server.log.entries.count
                server.handle { [fast] _ in fast }
                server.releaseEnds()
                for (name, id) in zip(names, ids) where name != "c" {
                    let received = try await sandbox.show(id).received
                    #expect(received > mebibyte, "\(name)")
                    let resumed = try await sandbox.run("resume", "\(id)")
                    try expectDownloaded(content, as: name, by: resumed, in: sandbox)
                    #expect(server.log.entries.last?.start == received - Overlap.resumed, "\(name)")
                }
                #expect(server.log.entries.count == interrupted + 3)
            }
        }

        @Test("With an unknown ID, a command changes none of the other downloads, wherever they run")
        func unknown() async throws {
            try await withDlm({ [slow] _ in slow }) { sandbox, server in
                server.holdEnds()
                let get = try sandbox.start("get", "-x", "1", server.url("/here"))
                #expect(await server.waitUntil { $0.bytesSent > mebibyte })
                try await sandbox.hand([server.url("/there")])
                let verbs = [
                    ["pause"], ["resume"], ["cancel"], ["remove"], ["limit", "1k"], ["priority", "7"], ["wait"],
                    ["watch"], ["show"], ["verify"],
                ]
                try await concurrently(verbs, atMost: 3) { words in
                    for ids in [["1", "2", "77"], ["77", "1-2"], ["1-3"], ["2-77"]] {
                        expectFailure(
                            10, of: try await sandbox.run(words + ids), words + ids)
                    }
                }
                expectFailure(10, of: try await sandbox.run("set-url", "77", server.url("/x")))
                for id in [1, 2] {
                    let shown = try await sandbox.show(id)
                    #expect(shown.state == "running", "\(id)")
                    #expect(shown.rateLimit == nil && shown.priority == 0, "\(id)")
                    #expect(shown.attempts.count == 1, "\(id)")
                }
                server.releaseEnds()
                try expectDownloaded(content, as: "here", by: try await get.result(), in: sandbox)
                try expectDownloaded(content, as: "there", by: try await sandbox.run("wait", "2"), in: sandbox)
            }
        }
    }
}
