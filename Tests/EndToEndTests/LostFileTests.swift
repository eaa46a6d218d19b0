import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Completed files that are gone or changed", .serialized, .timeLimit(.minutes(1)))
    struct LostFileTests {
        static let content = Content(seed: 1901, size: 300_000)

        private struct FileLine: Decodable {
            let event: String?
            let id: Int?
            let state: String?
            let result: String?
            let file: String?
        }

        private func lines(_ sandbox: DlmSandbox, _ arguments: String...) async throws -> [FileLine] {
            let result = try await sandbox.perform(arguments)
            return try result.outputLines.map { try JSONDecoder().decode(FileLine.self, from: Data($0.utf8)) }
        }

        private func withCompleted(
            _ names: [String], _ body: @escaping (DlmSandbox, FaultServer) async throws -> Void
        ) async throws {
            try await withDlm(serving: FaultReply(Self.content, etag: "\"v1\"")) { sandbox, server in
                for name in names { try await sandbox.done("get", server.url("/" + name)) }
                try await body(sandbox, server)
            }
        }

        @Test("Every command that shows a completed download reports that its file is gone or changed")
        func told() async throws {
            try await withCompleted(["there", "gone", "changed"]) { sandbox, _ in
                try FileManager.default.removeItem(atPath: sandbox.file("gone"))
                try Data("mine".utf8).write(to: URL(fileURLWithPath: sandbox.file("changed")))
                let fates = ["there", "gone", "changed"]
                #expect(try await lines(sandbox, "show", "--json", "1-3").map(\.file) == fates)
                #expect(try await lines(sandbox, "list", "--all", "--json").map(\.file) == fates)
                let events = try await lines(sandbox, "events", "--since", "0", "--once")
                #expect(events.filter { $0.event == "completed" }.map(\.file) == fates)
                let finished = try await lines(sandbox, "wait", "--json", "1-3")
                #expect(finished.map(\.file) == fates)
                #expect(finished.map(\.result) == ["downloaded", "gone", "changed"])
                #expect(finished.allSatisfy { $0.state == "completed" })
                let shown = try await sandbox.done("show", "2", "3").stdout
                #expect(shown.contains("completed, file is gone"))
                #expect(shown.contains("completed, file was changed"))
                let listed = try await sandbox.done("list", "--all").stdout
                #expect(listed.contains("file is gone; ") && listed.contains("file was changed; "))
                for id in ["2", "3"] {
                    expectFailure(13, of: try await sandbox.perform("wait", id), id)
                    expectFailure(13, of: try await sandbox.perform("watch", id), id)
                }
                let both = try await sandbox.perform("wait", "1-3")
                #expect(both.ending == .exited(13) && both.stdout == sandbox.file("there") + "\n")
            }
        }

        @Test("resume fetches a deleted file again, in the foreground and in the background")
        func resumed() async throws {
            try await withCompleted(["a", "b"]) { sandbox, server in
                for name in ["a", "b"] { try FileManager.default.removeItem(atPath: sandbox.file(name)) }
                let result = try await sandbox.done("resume", "1")
                try expectDownloaded(Self.content, as: "a", by: result, in: sandbox)
                try await sandbox.done("resume", "-b", "2")
                #expect(try await sandbox.perform("wait", "2").ending == .exited(0))
                try expectFile(Self.content, "b", in: sandbox)
                #expect(server.log.entries.count == 4)
            }
        }

        @Test("resume does not change a file that took the place of the finished file")
        func replaced() async throws {
            try await withCompleted(["a"]) { sandbox, _ in
                try Data("mine".utf8).write(to: URL(fileURLWithPath: sandbox.file("a")))
                expectFailure(13, of: try await sandbox.perform("resume", "1"))
                #expect(try await sandbox.list().map(\.state) == ["completed"])
                #expect(try Data(contentsOf: URL(fileURLWithPath: sandbox.file("a"))) == Data("mine".utf8))
            }
        }

        @Test("If a hook moves the finished file, wait and resume still end with status 0")
        func moved() async throws {
            try await withCompleted([]) { sandbox, server in
                let hook = sandbox.root("move")
                try Data("#!/bin/sh\nmv \"$DLM_PATH\" \"$DLM_PATH.moved\"\n".utf8).write(to: URL(fileURLWithPath: hook))
                #expect(chmod(hook, 0o755) == 0)
                try await sandbox.done("get", "--on-complete", hook, server.url("/a"))
                #expect(sandbox.names == ["a.moved"])
                for command in ["wait", "resume"] { try await sandbox.done(command, "1") }
                #expect(sandbox.names == ["a.moved"] && server.log.entries.count == 1)
            }
        }
    }
}
