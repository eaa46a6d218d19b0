import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("The remote file changes between kill and resume", .timeLimit(.minutes(3)))
    struct ChangeTests {
        /// How a server tells one version from another.
        enum Validator: CaseIterable {
            case strongETag, weakETag, weakETagKept, lastModified, freshLastModifiedKept, neither

            /// The reply without its content, for the old version and the new one.
            func reply(_ content: Content, isNew: Bool, now: String) -> FaultReply {
                let version = isNew ? "new" : "old"
                return switch self {
                case .strongETag: FaultReply(content, etag: "\"\(version)\"")
                case .weakETag: FaultReply(content, etag: "W/\"\(version)\"")
                case .weakETagKept: FaultReply(content, etag: "W/\"same\"")
                case .lastModified:
                    FaultReply(content, lastModified: "Tue, 0\(isNew ? 2 : 1) Jan 2019 00:00:00 GMT")
                case .freshLastModifiedKept: FaultReply(content, lastModified: now)
                case .neither: FaultReply(content)
                }
            }
        }

        enum Change: CaseIterable {
            case sameSize, larger, smaller, smallerThanPartial, appendedTo, cutShort, emptied

            var content: Content {
                switch self {
                case .sameSize: Content(seed: 61, size: ChangeTests.old.size)
                case .larger: Content(seed: 61, size: ChangeTests.old.size + 3_000_001)
                case .smaller: Content(seed: 61, size: ChangeTests.old.size - 1_000_001)
                case .smallerThanPartial: Content(seed: 61, size: 1_500_000)
                case .appendedTo: Content(seed: 60, size: ChangeTests.old.size + 2_000_003)
                case .cutShort: Content(seed: 60, size: 1_700_000)
                case .emptied: .empty
                }
            }
        }

        static let old = Content(seed: 60, size: 8 * mebibyte)

        @Test(
            "The result is exactly the new file or a clear error, never a mixture",
            arguments: Validator.allCases, [1, 4])
        func changed(validator: Validator, connections: Int) async throws {
            let now = HTTPDate.ago(0)
            try await concurrently(Change.allCases, atMost: 7) { change in
                let before = validator.reply(Self.old, isNew: false, now: now).with {
                    $0.bytesPerSecond = Int(12 * mebibyte) / connections
                }
                try await withDlm(serving: before) { sandbox, server in
                    _ = try await sandbox.interrupt(
                        "get", "-x", "\(connections)", server.url(), with: change == .larger ? SIGTERM : SIGKILL,
                        after: 5 * mebibyte, from: server)
                    // On a machine too slow to be interrupted in time, it has all of the old file, and may keep it.
                    if server.log.bytesSent >= Self.old.size { return }
                    server.handle { _ in validator.reply(change.content, isNew: true, now: now) }
                    let result = try await sandbox.run("resume", try await sandbox.onlyID())
                    try Self.judge(result, change, in: sandbox)
                }
            }
        }

        static func judge(_ result: ChildProcess.Result, _ change: Change, in sandbox: DlmSandbox) throws {
            if result.ending == .exited(0) {
                try expectDownloaded(change.content, as: "file.bin", by: result, in: sandbox, change)
            } else {
                print("\(change): \(result.stderr)")
                #expect(result.errorLines.count == 1, "\(change): \(result.stderr)")
                #expect(result.ending == .exited(7) || result.ending == .exited(9), "\(change): \(result.stderr)")
                #expect(!sandbox.exists("file.bin"), "\(change)")
            }
        }

        @Test(
            "With a new strong ETag or date, or a new size, the new file is fetched",
            arguments: [
                Validator.strongETag, .lastModified,
            ])
        func startsOver(validator: Validator) async throws {
            let before = validator.reply(Self.old, isNew: false, now: "").with {
                $0.bytesPerSecond = Int(12 * mebibyte)
            }
            try await withDlm(serving: before) { sandbox, server in
                _ = try await sandbox.interrupt(
                    "get", server.url(), with: SIGTERM, after: 5 * mebibyte, from: server)
                let new = Change.sameSize.content
                let sent = server.log.bytesSent
                server.handle { _ in validator.reply(new, isNew: true, now: "") }
                let result = try await sandbox.run("get", server.url())
                try expectDownloaded(new, as: "file.bin", by: result, in: sandbox)
                #expect(result.errorLines.count == 1 && result.stderr.contains("starts over"), "\(result.stderr)")
                #expect(server.log.bytesSent - sent <= new.size + mebibyte, "fetched once")
                let condition = try #require(server.log.entries.last { $0.ifRange != nil }?.ifRange)
                #expect(condition == (validator == .strongETag ? "\"old\"" : "Tue, 01 Jan 2019 00:00:00 GMT"))
            }
        }

        @Test("A server that ignores If-Range does not make a mixture", arguments: Change.allCases)
        func blindRanges(change: Change) async throws {
            let before = FaultReply(Self.old, etag: "\"old\"").with {
                $0.ranges = .honouredBlindly
                $0.bytesPerSecond = Int(12 * mebibyte)
            }
            try await withDlm(serving: before) { sandbox, server in
                _ = try await sandbox.interrupt(
                    "get", server.url(), with: SIGKILL, after: 5 * mebibyte, from: server)
                server.handle { _ in FaultReply(change.content, etag: "\"new\"").with { $0.ranges = .honouredBlindly } }
                let result = try await sandbox.run("resume", try await sandbox.onlyID())
                try Self.judge(result, change, in: sandbox)
            }
        }

        @Test("The file changes while it is being fetched over several connections")
        func changedUnderway() async throws {
            let new = Content(seed: 62, size: Self.old.size)
            let before = FaultReply(Self.old, etag: "\"old\"").with {
                $0.cut = .close(after: mebibyte)
                $0.bytesPerSecond = Int(3 * mebibyte)
            }
            try await withDlm(serving: before) { sandbox, server in
                let process = try sandbox.start("get", "-x", "4", server.url())
                #expect(await server.waitUntil { $0.bytesSent > mebibyte })
                server.handle { _ in FaultReply(new, etag: "\"new\"") }
                let result = try await process.result()
                if result.ending == .exited(0) {
                    try expectDownloaded(new, as: "file.bin", by: result, in: sandbox)
                } else {
                    #expect(!sandbox.exists("file.bin"))
                }
            }
        }

        @Test("A login page instead of the file does not replace what is there")
        func loginPage() async throws {
            let before = FaultReply(Self.old, etag: "\"old\"").with {
                $0.bytesPerSecond = Int(12 * mebibyte)
                $0.fields = [("Content-Type", "application/octet-stream")]
            }
            try await withDlm(serving: before) { sandbox, server in
                _ = try await sandbox.interrupt(
                    "get", server.url(), with: SIGTERM, after: 5 * mebibyte, from: server)
                let kept = try sandbox.root.size(of: "files/file.bin.part")
                server.handle { _ in
                    FaultReply(Content("<html>please log in</html>")).with {
                        $0.fields = [("Content-Type", "text/html")]
                        $0.ranges = .ignored
                    }
                }
                let result = try await sandbox.run("resume", try await sandbox.onlyID())
                #expect(result.ending != .exited(0))
                #expect(!sandbox.exists("file.bin"))
                #expect(try sandbox.root.size(of: "files/file.bin.part") == kept)
            }
        }
    }
}
