import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Row 8 of docs/user-needs.md: a command that runs again and again without a user.
    @Suite("Cron: the same command again", .serialized, .timeLimit(.minutes(2)))
    struct CronTests {
        let content = Content(seed: 750, size: 2 * mebibyte + 1)

        /// Returns attributes that show whether the file was fetched or changed.
        private func identity(_ sandbox: DlmSandbox, _ name: String) throws -> [String] {
            let attributes = try FileManager.default.attributesOfItem(atPath: sandbox.file(name))
            return [FileAttributeKey.modificationDate, .systemFileNumber, .size].map { "\(attributes[$0] ?? "")" }
        }

        /// Runs a command as cron does: with a home and a path, and without a terminal.
        private func run(
            _ sandbox: DlmSandbox, _ arguments: [String], asProcess: Bool = true
        ) async throws -> ChildProcess.Result {
            var launch = try sandbox.launch(["get"] + arguments)
            PauseTests.asCron(&launch)
            return try await launch.result(asProcess: asProcess)
        }

        enum Validator: CaseIterable {
            case etag, weak, date, both

            func reply(_ content: Content) -> FaultReply {
                switch self {
                case .etag: FaultReply(content, etag: "\"v1\"")
                case .weak: FaultReply(content, etag: "W/\"v1\"")
                case .date: FaultReply(content, lastModified: "Tue, 15 Nov 1994 12:45:26 GMT")
                case .both: FaultReply(content, etag: "\"v1\"", lastModified: "Tue, 15 Nov 1994 12:45:26 GMT")
                }
            }
        }

        @Test(
            "The second run is one conditional request: status 0, no output, no body, and the file is not changed",
            arguments: Validator.allCases, [[], ["-o", "file.bin"], ["--if-exists", "newer"], ["--remote-time"]])
        func secondRun(validator: Validator, options: [String]) async throws {
            let asProcess = options.isEmpty
            for small in [true, false] {
                let content = small ? Content(seed: 751, size: 900) : content
                try await withDlm(serving: validator.reply(content)) { sandbox, server in
                    let first = try await run(sandbox, options + [server.url()], asProcess: asProcess)
                    try expectDownloaded(content, as: "file.bin", by: first, in: sandbox)
                    #expect(first.stderr == "")
                    let (before, sent) = (try identity(sandbox, "file.bin"), server.log.bytesSent)
                    let asked = server.log.entries.count
                    for number in 1...2 {
                        let again = try await run(sandbox, options + [server.url()], asProcess: asProcess)
                        try expectDownloaded(content, as: "file.bin", by: again, in: sandbox)
                        #expect(again.stderr == "")
                        #expect(try identity(sandbox, "file.bin") == before)
                        #expect(server.log.entries.count == asked + number)
                    }
                    #expect(server.log.bytesSent == sent)
                    let condition = validator == .date ? "If-Modified-Since" : "If-None-Match"
                    #expect(server.log.entries.last?.request[condition] != nil)
                    #expect(server.log.entries.last?.status == 304)
                }
            }
        }

        @Test(
            "--if-exists newer fetches a file whose ETag or Last-Modified has changed, even to an earlier date",
            arguments: [
                ("\"v1\"", nil, "\"v2\"", nil), (nil, -200_000, nil, -100_000),
                ("\"v1\"", -200_000, "\"v2\"", -100_000),
                // The file has an old date on the server, as if put there by rsync.
                ("\"v1\"", -100_000, "\"v2\"", -100_000), ("\"v1\"", -100_000, "\"v2\"", -200_000),
                (nil, -100_000, nil, -200_000),
            ] as [(String?, Double?, String?, Double?)])
        func changed(etag: String?, date: Double?, newTag: String?, newDate: Double?) async throws {
            for small in [true, false] {
                let old = small ? Content(seed: 752, size: 900) : content
                let new = Content(seed: 753, size: old.size + 7)
                let first = FaultReply(old, etag: etag, lastModified: date.map { HTTPDate.ago(-$0) })
                try await withDlm(serving: first) { sandbox, server in
                    let command = ["--if-exists", "newer", server.url()]
                    _ = try await run(sandbox, command, asProcess: false)
                    try expectFile(old, "file.bin", in: sandbox)
                    server.change(to: new, etag: newTag, lastModified: newDate.map { HTTPDate.ago(-$0) })
                    let result = try await run(sandbox, command, asProcess: false)
                    try expectDownloaded(new, as: "file.bin", by: result, in: sandbox)
                    #expect(result.stderr == "")
                    #expect(sandbox.names == ["file.bin"])
                    let sent = server.log.bytesSent
                    try expectDownloaded(
                        new, as: "file.bin", by: try await run(sandbox, command, asProcess: false), in: sandbox)
                    #expect(server.log.bytesSent == sent)
                }
            }
        }

        @Test(
            "f=$(dlm get URL) has only the path; if one of two URLs fails, dlm reports it and ends with its status")
        func script() async throws {
            try await withDlm({ [content] in $0.target == "/gone" ? FaultReply(status: 404) : FaultReply(content) }) {
                sandbox, server in
                let result = try await sandbox.runShell(
                    """
                    f=$($dlm get \(server.url())) && echo "<$f>"
                    printf '%s\\n' \(server.url("/a")) \(server.url("/gone")) | $dlm get -i - ; echo $?
                    """)
                #expect(result.stdout == "<\(sandbox.file("file.bin"))>\n\(sandbox.file("a"))\n8\n")
                #expect(result.errorLines.count == 1 && result.stderr.contains("/gone: 404"), "\(result.stderr)")
            }
        }
    }
}
