import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Names that clash", .serialized, .timeLimit(.minutes(2)))
    struct NameClashTests {
        static let first = Content(seed: 700, size: 300_001)
        static let second = Content(seed: 701, size: 400_002)

        static let pair: FaultServer.Handler = { request in
            let content = request.target.hasPrefix("/1") ? first : second
            return FaultReply(content, etag: "\"\(content.size)\"").with {
                $0.lines = [Array("Content-Disposition: attachment; filename=a.txt".utf8)]
            }
        }

        @Test(
            "Two downloads of one command get the same name from servers: a file reported as complete is complete",
            arguments: ["fail", "rename", "overwrite", "skip", "newer"])
        func twoOfOneName(choice: String) async throws {
            try await withDlm(Self.pair) { sandbox, server in
                let result = try await sandbox.perform(
                    "get", "--if-exists", choice, server.url("/1/x"), server.url("/2/y"))
                let digests = try sandbox.names.map { try sha256(of: sandbox.file($0)) }
                #expect(digests.allSatisfy { [Self.first.sha256, Self.second.sha256].contains($0) })
                #expect(Set(result.outputLines.map(String.init)) == Set(sandbox.names.map(sandbox.file)))
                switch choice {
                case "rename":
                    #expect(result.ending == .exited(0), "\(result.stderr)")
                    #expect(sandbox.names == ["a (1).txt", "a.txt"])
                    #expect(Set(digests).count == 2)
                case "fail":
                    expectStatus(3, of: result)
                    #expect(sandbox.names == ["a.txt"])
                default:
                    // If the downloads do not run one after the other, the second finds the partial file of the first.
                    #expect([.exited(0), .exited(3)].contains(result.ending), "\(result.stderr)")
                    #expect(sandbox.names == ["a.txt"])
                }
                let trial = FaultTrial(area: .name, fault: "one name for two files, --if-exists \(choice)")
                trial.note(outcome: ["rename": "right", "fail": "error 3"][choice] ?? "right or error 3")
            }
        }

        @Test("Names that look the same or differ in case are different files")
        func lookalikes() async throws {
            let names = ["e\u{301}.txt", "\u{E9}.txt", "README", "readme", "a.txt", "\u{430}.txt"]
            try await withDlm({ FaultReply(Content("of \($0.target)")) }) { sandbox, server in
                for (index, name) in names.enumerated() {
                    try await sandbox.performDone("get", "-o", name, server.url("/\(index)"))
                }
                #expect(sandbox.names.count == names.count)
                for (index, name) in names.enumerated() {
                    #expect(try sandbox.root.read("files/\(name)") == "of /\(index)")
                }
            }
        }

        @Test(
            "A partial file is not replaced, even if a server names another file NAME.part",
            arguments: FaultTrial.short(["overwrite", "newer", "rename", "skip", "fail"], each: 2))
        func partial(choice: String) async throws {
            let stalling = FaultReply(Self.first, etag: "\"1\"").with { $0.cut = .stall(after: 200_000) }
            try await withDlm({ request in
                request.target == "/attack"
                    ? FaultReply(Self.second).with {
                        $0.fields = [("Content-Disposition", "attachment; filename=a.part")]
                    }
                    : request.number == 1 ? stalling : FaultReply(Self.first, etag: "\"1\"")
            }) { sandbox, server in
                let get = try sandbox.start("get", server.url("/a"))
                #expect(await server.waitUntil { $0.bytesSent >= 200_000 })
                try await sandbox.waitToShow(1) { $0.received >= 200_000 }
                let running = try await sandbox.perform("get", "--if-exists", choice, server.url("/attack"))
                try await get.expectEnd(by: SIGINT)
                let paused = try await sandbox.perform("get", "--if-exists", choice, server.url("/attack"))
                for result in [running, paused] {
                    switch choice {
                    case "rename": #expect(result.ending == .exited(0), "\(result.stderr)")
                    case "skip": #expect(result.stdout == sandbox.file("a.part") + "\n")
                    default: expectFailure(3, of: result)
                    }
                }
                try await sandbox.expectDownloaded(Self.first, as: "a", by: "resume", "1")
                #expect(server.log.requests(to: "/a").last?.start ?? 0 > 0)
            }
        }

        @Test("Once the name is decided, it stays, whatever name the server sends on the resume")
        func resumed() async throws {
            let named = { @Sendable (request: FaultRequest, name: String) in
                FaultReply(Self.first, etag: "\"1\"").with {
                    $0.fields = [("Content-Disposition", "attachment; filename=\"\(name)\"")]
                    if request.number == 1 { $0.cut = .close(after: 200_000) }
                }
            }
            try await withDlm({ named($0, $0.number == 1 ? "a.txt" : "../b.txt") }) { sandbox, server in
                let result = try await sandbox.perform("get", "--retries", "0", server.url())
                #expect(result.ending == .exited(4), "\(result.stderr)")
                #expect(sandbox.names == ["a.txt.part"])
                let trial = FaultTrial(area: .name, fault: "another name on the resume", moment: .resume)
                let resumed = try await sandbox.perform("resume", "1")
                try trial.judge(resumed, in: sandbox, right: [Self.first], errors: [], as: "a.txt")
                #expect(sandbox.names == ["a.txt"])
            }
        }

        private func expectStatus(_ status: Int32, of result: ChildProcess.Result) {
            #expect(result.ending == .exited(status), "\(result.stderr)")
            #expect(result.errorLines.allSatisfy { $0.hasPrefix("dlm: ") })
        }
    }
}
