import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadStoragePostgres
@testable import dlm

extension EndToEnd {
    @Suite(
        "Shared queues", .long, .serialized, .timeLimit(.minutes(4)), .enabled(if: PostgresServer.canRun))
    struct PostgresTests {
        private let gate = Gate(after: 300_000)

        private func reply(_ request: FaultRequest) -> FaultReply {
            switch request.target {
            case "/gone": FaultReply(status: 404)
            case "/slow": FaultReply(Content(seed: 9, size: 2 * mebibyte)).with { $0.gate = gate }
            default: FaultReply(Content(seed: UInt64(request.target.count), size: 3000))
            }
        }

        private func withQueue(_ body: (DlmSandbox, FaultServer, PostgresServer) async throws -> Void) async throws {
            let postgres = try await PostgresServer()
            try await finally({ await postgres.stop() }) {
                try await withDlm({ [self] in reply($0) }) { try await body($0, $1, postgres) }
            }
        }

        private func entries(_ path: String) throws -> [ManifestEntry] {
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
                try ManifestEntry(line: $0.utf8)
            }
        }

        @Test("A list is added once, two workers download it, and the commands show it")
        func workers() async throws {
            try await withQueue { sandbox, server, postgres in
                let store = postgres.url("postgres")
                let urls = (0..<60).map { server.url("/f\($0)") } + [server.url("/gone")]
                try sandbox.root.write(urls.joined(separator: "\n") + "\nnot a url\n", to: "list")
                let early = try await sandbox.perform("work", "--store", store)
                expectFailure(12, of: early)
                #expect(early.stderr.contains("has no queue"), "\(early.stderr)")
                let list = sandbox.root("list")
                let add = try await sandbox.perform("get", "-b", "--store", store, "-i", list, "-d", "data")
                #expect(add.ending == .exited(2) && add.stdout == "61 added\n", "\(add.stdout) \(add.stderr)")
                let again = try await sandbox.perform("get", "-b", "--store", store, "-i", list, "-d", "data", "--json")
                #expect(
                    again.stdout.contains("\"known\":61") && again.stdout.contains("\"rejected\":1"), "\(again.stdout)")
                #expect(server.log.entries.isEmpty)
                // A queue takes no secrets, because everyone who can read the queue could read them.
                let secret = try await sandbox.perform("get", "-b", "--store", store, "-u", "a:b", server.url("/s"))
                expectFailure(2, of: secret)

                func work(_ name: String) throws -> ChildProcess {
                    try sandbox.start(
                        "work", "--store", store, "-j", "4", "-q", "--manifest", sandbox.root("\(name).jsonl"),
                        "--state",
                        sandbox.root(name), "--retry-failed", "--workers-per-host", "2")
                }
                let running = [try work("one"), try work("two")]
                for worker in running {
                    let result = try await worker.result()
                    #expect([.exited(0), .exited(65)].contains(result.ending), "\(result.ending) \(result.stderr)")
                }
                let all = try entries(sandbox.root("one.jsonl")) + entries(sandbox.root("two.jsonl"))
                #expect(all.map(\.url).sorted() == urls.sorted())
                #expect(
                    server.log.entries.map(\.request.target).sorted()
                        == urls.map { "/" + ($0.split(separator: "/").last ?? "") }.sorted())
                for entry in all where entry.status == .done {
                    #expect(FileManager.default.fileExists(atPath: try #require(entry.path)))
                    #expect(entry.path?.hasPrefix(sandbox.file("data/http+127.0.0.1")) == true, "\(entry.path ?? "")")
                }
                try await showing(sandbox, store)
            }
        }

        private func showing(_ sandbox: DlmSandbox, _ store: String) async throws {
            let list = try await sandbox.perform("list", "--store", store)
            #expect(list.stdout.hasPrefix("0 queued, 0 leased, 60 done ("), "\(list.stdout)")
            #expect(list.stdout.contains("0 failed and 1 for good"))
            let failed = try await sandbox.perform("list", "--store", store, "--state", "failed")
            #expect(failed.stdout.contains("/gone (server/status404)"), "\(failed.stdout)")
            let id = try #require(failed.stdout.split(separator: " ").first)
            let show = try await sandbox.perform("show", "--store", store, "\(id)")
            #expect(show.stdout.contains("404"), "\(show.stdout)")
            expectFailure(10, of: try await sandbox.perform("show", "--store", store, "99999"))
            #expect(try await sandbox.perform("wait", "--store", store).ending == .exited(65))
            let events = try await sandbox.performDone("events", "--store", store, "--since", "0", "--once")
            #expect(events.stdout.split(separator: "\n").count { $0.contains("\"queueItem\"") } == 61)
            let last = try #require(events.stdout.split(separator: "\n").last)
            let cursor = try #require(last.firstMatch(of: /"cursor":(\d+),"event":"didFinishEvents"/)?.1)
            let none = try await sandbox.perform("events", "--store", store, "--since", "\(cursor)", "--once")
            #expect(none.stdout.split(separator: "\n").count == 1, "\(none.stdout)")
            let resume = try await sandbox.perform("resume", "--store", store, "--state", "failed")
            #expect(resume.stderr.contains("1 failed URLs"), "\(resume.stderr)")
            try await sandbox.performDone("pause", "--store", store, "--all")
            let wait = try await sandbox.perform("wait", "--store", store, "--timeout", "0")
            #expect(wait.ending == .exited(1), "\(wait.stderr)")
            #expect(try await sandbox.perform("list", "--store", store).stdout.contains("the queue is paused"))
        }

        /// Lists the queue until the list contains the text, for 30 seconds at most.
        private func shows(_ text: String, _ store: String, in sandbox: DlmSandbox) async throws -> Bool {
            let end = ContinuousClock.now + .seconds(30)
            while ContinuousClock.now < end {
                if try await sandbox.perform("list", "--store", store).stdout.contains(text) { return true }
            }
            return false
        }

        @Test("SIGTERM gives the URLs back at once, and after kill -9 another worker gets them when the lease is over")
        func endings() async throws {
            try await withQueue { sandbox, server, postgres in
                let store = postgres.url("postgres")
                let add = try await sandbox.perform(
                    "get", "-b", "--store", store, server.url("/slow"), server.url("/a"))
                #expect(add.stdout == "2 added\n", "\(add.stderr)")
                func work(_ name: String) throws -> ChildProcess {
                    try sandbox.start(
                        "work", "--store", store, "-q", "--lease-time", "1s", "--state", sandbox.root(name),
                        "--manifest", sandbox.root("\(name).jsonl"), "-d", name)
                }
                let first = try work("first")
                #expect(await server.waitUntil { $0.bytesSent > 300_000 })
                #expect(try await shows("1 done", store, in: sandbox))
                try await first.expectEnd(by: SIGTERM)
                var list = try await sandbox.perform("list", "--store", store)
                #expect(list.stdout.hasPrefix("1 queued, 0 leased, 1 done"), "\(list.stdout)")
                let second = try work("second")
                #expect(await server.waitUntil { $0.bytesSent > 600_000 })
                try await second.killed()
                list = try await sandbox.perform("list", "--store", store)
                // The lease may be over by now.
                #expect(list.stdout.contains("1 leased, 1 done") || list.stdout.hasPrefix("1 queued"), "\(list.stdout)")
                let third = try work("third")
                #expect(await server.waitUntil { $0.bytesSent > 900_000 })
                gate.open()
                let result = try await third.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(try entries(sandbox.root("third.jsonl")).map(\.url) == [server.url("/slow")])
            }
        }

        @Test("In a shared folder, a worker replaces a dead worker's partial file, even where it expects its own")
        func replaced() async throws {
            try await withQueue { sandbox, server, postgres in
                let store = postgres.url("postgres")
                let add = try await sandbox.perform("get", "-b", "--store", store, server.url("/slow"), "-d", "data")
                #expect(add.stdout == "1 added\n", "\(add.stderr)")
                func work(_ name: String) throws -> ChildProcess {
                    try sandbox.start(
                        "work", "--store", store, "-q", "--lease-time", "1s", "--state", sandbox.root(name),
                        "--manifest", sandbox.root("\(name).jsonl"))
                }
                let first = try work("first")
                #expect(await server.waitUntil { $0.bytesSent > 300_000 })
                try await first.expectEnd(by: SIGTERM)
                let files = FileManager.default.enumerator(atPath: sandbox.file("data"))?.compactMap { $0 as? String }
                let partial = sandbox.file("data/" + (try #require(files?.first { $0.hasSuffix(".part") })))
                try FileManager.default.removeItem(atPath: partial)
                let second = try work("second")
                while !FileManager.default.fileExists(atPath: partial) {
                    if await second.waitForEnd(atMost: .milliseconds(10)) { break }
                }
                try await second.killed()
                #expect(FileManager.default.fileExists(atPath: partial))
                // The first worker has a record of another file with this name.
                let third = try work("first")
                #expect(await server.waitUntil { $0.entries.count == 3 })
                gate.open()
                let result = try await third.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(try entries(sandbox.root("first.jsonl")).map(\.status) == [.done])
                let file = try Data(contentsOf: URL(fileURLWithPath: String(partial.dropLast(5))))
                let content = Content(seed: 9, size: 2 * mebibyte)
                #expect(file == Data(content.bytes(0..<content.size)))
            }
        }

        @Test("If another program adds URLs in a form that dlm does not write, they fail for good, and no worker waits")
        func foreign() async throws {
            try await withQueue { sandbox, server, postgres in
                let store = postgres.url("postgres")
                _ = try await sandbox.perform("get", "-b", "--store", store, server.url("/a"), "-d", "data")
                // For Swift, the last two are equal texts.
                let urls = ["HTTP://h.test/a", "http://a:b@h.test/a", "http://h.test/e\u{301}", "http://h.test/\u{e9}"]
                let rows = urls.enumerated().map { "(\($0.offset), '\($0.element)')" }.joined(separator: ", ")
                try PostgresConnection(try QueueLocation(store)).run(
                    """
                    INSERT INTO dlm.incoming SELECT v.n, substring(encode(sha256(convert_to(v.url, 'UTF8')), 'hex') FOR 32)::uuid,
                        v.url, 'h.test', (SELECT id FROM dlm.request LIMIT 1), '', 'f' || v.n FROM (VALUES \(rows)) v(n, url);
                    SELECT dlm.enqueue()
                    """)
                let work = try await sandbox.perform(
                    "work", "--store", store, "-q", "--manifest", sandbox.root("m.jsonl"), "--state", sandbox.root("s"))
                #expect(work.ending == .exited(65), "\(work.stderr)")
                let list = try await sandbox.perform("list", "--store", store)
                #expect(list.stdout.hasPrefix("0 queued, 0 leased, 1 done"), "\(list.stdout)")
                #expect(list.stdout.contains("0 failed and 4 for good"), "\(list.stdout)")
                #expect(try entries(sandbox.root("m.jsonl")).count >= 5)
            }
        }

        @Test("A URL with a password is refused with a hint, and a server that cannot be reached fails with one line")
        func missing() async throws {
            try await withDlm { sandbox in
                let password = try await sandbox.perform("list", "--store", "postgres://ann:t0psecret@h/d")
                expectFailure(2, of: password)
                #expect(password.stderr.contains("PGPASSWORD") && !password.stderr.contains("t0psecret"))
                let refused = try await sandbox.perform("list", "--store", "postgres://127.0.0.1:1/d")
                expectFailure(12, of: refused)
                #expect(refused.errorLines.count == 1, "\(refused.stderr)")
            }
        }
    }
}
