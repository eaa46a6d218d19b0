import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadStoragePostgres
@testable import dlm

/// Lines of `--json`, each with its definitions in docs/json-schema.json.
private final class JSONLines {
    private(set) var input = ""
    private(set) var commands: Set<String> = []

    /// - Parameter definitions: names of definitions in the schema, with `|` between them. Each line must match one of
    ///   these definitions.
    func add(
        _ command: String, _ lines: [Substring], _ definitions: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        commands.insert(command)
        #expect(!lines.isEmpty, "\(command)", sourceLocation: sourceLocation)
        for line in lines { input += "\(definitions)\t\(line)\n" }
    }
}

extension EndToEnd {
    @Suite("JSON and its schema", .serialized, .timeLimit(.minutes(2)))
    struct JSONTests {
        let content = Content(seed: 61, size: 2 * mebibyte)

        func handler(_ request: FaultRequest) -> FaultReply {
            switch request.target {
            case "/gone", "/gone?m": FaultReply(status: 404)
            // The answer stalls, so that the download is not complete before the test has run all its commands.
            case "/slow", "/moved": FaultReply(content, etag: "\"s\"").with { $0.gate = Gate(after: 300_000) }
            default: FaultReply(content, etag: "\"v1\"")
            }
        }

        @Test("The output of every command that has --json, except work, matches the schema")
        func everyCommand() async throws {
            try await withDlm({ [self] in handler($0) }) { sandbox, server in
                let lines = JSONLines()
                try await foreground(sandbox, server, lines)
                try await background(sandbox, server, lines)
                try await expectValid(lines.input)
                let all = try CommandDescription.root().visibleCommands.flatMap { command in
                    ([command] + command.visibleCommands).filter { command in
                        command.visibleArguments.contains { $0.names?.contains { $0.text == "--json" } == true }
                    }.map(\.commandName)
                }
                // No PostgreSQL server runs here. `queues` makes the documents of a shared queue, and `work` is left
                // out.
                queues(lines)
                #expect(lines.commands == Set(all).union(["events"]).subtracting(["work"]))
            }
        }

        private func queues(_ lines: JSONLines) {
            let line = #"""
                {"attempts":1,"bytes":0,"ended":"2026-11-24T09:00:00Z","seconds":0,"status":"done","url":"u","version":1}
                """#
            let item = RecordedItem(
                id: 1, url: "u", state: .failedForGood, attempts: 1, worker: "w", error: "a/b", line: line)
            lines.add("list", [Substring(QueueItemDocument(item).json)], "queueItem")
            lines.add("list", [Substring(QueueDocument(QueueCounts()).json)], "queue")
            lines.add("get", [Substring(AddedToQueueDocument().json)], "queued")
        }

        private func manifests(_ sandbox: DlmSandbox, _ server: FaultServer, _ lines: JSONLines) async throws {
            let path = sandbox.root("m.jsonl")
            let list = "\(server.url("/m"))\n\(server.url("/gone?m"))\nnot a url\n"
            try sandbox.root.write(list, to: "manifest-list")
            let get = try await sandbox.perform(
                "get", "-i", sandbox.root("manifest-list"), "--manifest", path, "--manifest-digest", "--shard", "0/1")
            #expect(get.ending == .exited(65), "\(get.stderr)")
            let written = try String(contentsOfFile: path, encoding: .utf8)
            lines.add("get", written.split(separator: "\n"), "manifest")
            lines.add("failed", try await sandbox.perform("manifest", "failed", "--json", path).outputLines, "manifest")
            let summary = try await sandbox.perform("manifest", "summary", "--json", path)
            lines.add("summary", summary.outputLines, "manifestSummary")
        }

        private func foreground(_ sandbox: DlmSandbox, _ server: FaultServer, _ lines: JSONLines) async throws {
            try Data("\(server.url("/listed"))\nnot a url\n".utf8).write(to: URL(fileURLWithPath: sandbox.file("list")))
            let arguments = [
                "get", "--json", "--progress", "json", "-i", "list", server.url("/a"), server.url("/gone"),
            ]
            let get = try await sandbox.run(arguments)
            #expect(get.ending == .exited(1))
            lines.add("get", get.outputLines, "finished|change|rejected")
            try await manifests(sandbox, server, lines)
            let told = get.errorLines.filter { $0.hasPrefix("{") }
            lines.add("get", told, "progress|total")
            // The other lines are messages for people.
            #expect(get.errorLines.filter { !$0.hasPrefix("{") }.allSatisfy { $0.hasPrefix("dlm: ") })
            let last = told.filter { $0.contains(#""event":"progress""#) }.suffix(3)
            #expect(last.count { $0.contains(#""state":"completed""#) } == 2, "\(told)")
            #expect(last.count { $0.contains(#""state":"failed""#) } == 1, "\(told)")

            let again = try await sandbox.done("get", "--json", server.url("/a"))
            lines.add("get", again.outputLines, "finished|change")
            #expect(again.outputLines.last?.contains(#""result":"up-to-date""#) == true, "\(again.stdout)")
            let taken = try await sandbox.done("get", "--json", "--if-exists", "skip", "-o", "list", server.url("/b"))
            #expect(taken.outputLines.last?.contains(#""result":"skipped""#) == true, "\(taken.stdout)")
            lines.add(
                "verify", try await sandbox.run("verify", "--json", "1", sandbox.file("a")).outputLines, "verified")
            let wrong = "sha256:" + String(repeating: "0", count: 64)
            let verified = try await sandbox.run("verify", "--json", "--checksum", wrong, sandbox.file("a"))
            #expect(verified.ending == .exited(9))
            lines.add("verify", verified.outputLines, "verified")
            lines.add("doctor", try await sandbox.run("doctor", "--json", server.url("/gone")).outputLines, "finding")
            lines.add("config", try await sandbox.done("config", "--json").outputLines, "setting")
            let examined = try await sandbox.done("doctor", "--json", server.url("/a"))
            lines.add("doctor", examined.outputLines, "finding")
        }

        private func background(_ sandbox: DlmSandbox, _ server: FaultServer, _ lines: JSONLines) async throws {
            func add(_ definitions: String, _ arguments: String...) async throws {
                let result = try await sandbox.run(arguments)
                #expect([.exited(0), .exited(1)].contains(result.ending), "\(arguments) \(result.stderr)")
                let command = arguments[0] == "daemon" ? arguments[1] : arguments[0]
                lines.add(command, result.outputLines, definitions)
            }
            try await add("daemon", "daemon", "status", "--json")
            try await add("daemon", "daemon", "start", "--json", "-j", "4")
            let handed = try await sandbox.done("get", "-b", "--json", server.url("/slow"), server.url("/quick"))
            lines.add("get", handed.outputLines, "change")
            let ids = handed.outputLines.compactMap { $0.firstMatch(of: /"id":([0-9]+)/)?.1 }.map(String.init)
            try #require(ids.count == 2)
            try await add("change|finished", "wait", "--json", ids[1])
            try await sandbox.waitToShow(try #require(Int(ids[0]))) { $0.received > 0 }
            try await add("daemon", "daemon", "status", "--json")
            try await add("limited", "limit", "--json", "50M")
            try await add("change", "limit", "--json", "1M", ids[0])
            try await add("change", "priority", "--json", "5", ids[0])
            try await add("listed", "list", "--json", "--all")
            try await add("shown", "show", "--json", "1-3", ids[0])
            try await add("change", "set-url", "--json", ids[0], server.url("/moved"))
            try await add("change", "pause", "--json", ids[0])
            try await add("change", "pause", "--json", ids[0])
            try await add("listed", "list", "--json")
            try await add("change|finished", "resume", "--json", "-b", ids[0])
            let watch = try sandbox.start("watch", "--json", ids[0])
            try await add("change", "cancel", "--json", ids[0])
            lines.add("watch", try await watch.result().outputLines, "change|finished")
            try await add("change", "remove", "--json", "--all")
            try await add("logged", "events", "--since", "0", "--once")
            try await add("daemon", "daemon", "stop", "--json")
        }

        private func expectValid(_ input: String) async throws {
            let script = GeneratedFilesTests.root.appending(path: "scripts/validate-json").path
            var launch = ProcessLaunch(script)
            launch.environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]
            launch.input = input
            let result = try await ChildProcess(launch).result()
            #expect(result.ending == .exited(0), "\(result.stdout)\(result.stderr)")
        }

        @Test("scripts/validate-json rejects a line that does not match the schema")
        func invalid() async throws {
            var launch = ProcessLaunch(GeneratedFilesTests.root.appending(path: "scripts/validate-json").path)
            launch.environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]
            for line in [
                #"{"event":"rejected","exitStatus":2,"message":"no","version":2}"#,
                #"{"event":"rejected","exitStatus":2,"version":1}"#,
                #"{"event":"rejected","exitStatus":2,"message":"no","newField":1,"version":1}"#, "no JSON",
            ] {
                launch.input = "rejected\t\(line)\n"
                #expect(try await ChildProcess(launch).result().ending == .exited(1), "\(line)")
            }
            launch.input = ""
            #expect(try await ChildProcess(launch).result().ending == .exited(1))
            launch.input =
                #"rejected"# + "\t" + #"{"event":"rejected","exitStatus":2,"message":"no","version":1}"# + "\n"
            #expect(try await ChildProcess(launch).result().ending == .exited(0))
        }
    }
}
