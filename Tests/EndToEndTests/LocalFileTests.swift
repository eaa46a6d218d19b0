import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("file URLs", .serialized, .timeLimit(.minutes(2)))
    struct LocalFileTests {
        static let content = Content(seed: 1601, size: 12 * mebibyte + 3)

        @Test("Large, small and empty files are copied with their modification times; a second run succeeds, too")
        func files() async throws {
            try await withDlm { sandbox in
                for (name, content) in [
                    ("large.bin", Self.content), ("a b#c?.txt", Content("small")), ("empty", .empty),
                ] {
                    let source = sandbox.root(name)
                    try content.write(to: source)
                    try date(source)
                    let path = source.replacing(" ", with: "%20").replacing("#", with: "%23").replacing(
                        "?", with: "%3F")
                    for round in 1...2 {
                        let result = try await sandbox.perform(
                            "get", "--remote-time", "--checksum", "sha256:\(content.sha256)",
                            round == 1 ? "file://\(path)" : "file://localhost\(path)")
                        try expectDownloaded(content, as: name, by: result, in: sandbox, name)
                    }
                    #expect(try sandbox.modified(name) == Date(timeIntervalSince1970: 1_600_000_000), "\(name)")
                }
                let bad = try await sandbox.perform(
                    "get", "-o", "bad", "--checksum", "sha256:\(String(repeating: "0", count: 64))",
                    "file://\(sandbox.root("large.bin"))")
                expectFailure(9, of: bad)
                #expect(!sandbox.exists("bad"))
            }
        }

        @Test(
            "resume continues a killed copy, or starts over if the source was changed",
            arguments: [false, true])
        func resumed(changes: Bool) async throws {
            try await withDlm { sandbox in
                let source = sandbox.root("file.bin")
                try Self.content.write(to: source)
                try await sandbox.kill(["file://\(source)"], after: 2 * mebibyte)
                let content = changes ? Content(seed: 1602, size: Self.content.size) : Self.content
                if changes { try content.write(to: source) }
                try await sandbox.expectDownloaded(content, by: "resume", "1")
            }
        }

        @Test("Holes are copied as zeros")
        func sparse() async throws {
            try await withDlm { sandbox in
                let source = sandbox.root("sparse.bin")
                #expect(FileManager.default.createFile(atPath: source, contents: Data("begin".utf8)))
                #expect(truncate(source, 9 << 20) == 0)
                try await sandbox.performDone("get", "file://\(source)")
                #expect(try sha256(of: sandbox.file("sparse.bin")) == sha256(of: source))
            }
        }

        @Test(
            "A file URL is copied to standard output, with limit and checksum; if a reader ends early, the status is 3")
        func stream() async throws {
            try await withDlm { sandbox in
                for content in [Self.content, Content("small"), .empty] {
                    try content.write(to: sandbox.root("file.bin"))
                    let url = "file://\(sandbox.root("file.bin"))"
                    let sum = "--checksum sha256:\(content.sha256)"
                    let result = try await sandbox.runShell(
                        "$dlm get -o - --limit-rate 20M \(sum) \(url) | sha256sum")
                    #expect(result.stdout == "\(content.sha256)  -\n", "\(result.stderr)")
                    #expect(result.stderr == "", "\(result.stderr)")
                    let wrong = "--checksum sha256:\(String(repeating: "0", count: 64))"
                    let failed = try await sandbox.runShell("$dlm get -o - \(wrong) \(url) >/dev/null")
                    #expect(failed.ending == .exited(9))
                }
                try Self.content.write(to: sandbox.root("file.bin"))
                let cut = try await sandbox.runShell(
                    "{ $dlm get -o - file://\(sandbox.root("file.bin")); echo $? >&2; } | head -c 9 >/dev/null")
                #expect(cut.stderr.hasSuffix("3\n"), "\(cut.stderr)")
                #expect(sandbox.names == [] && sandbox.root.names(in: "state") == [])
            }
        }

        @Test("-c compares the end of an existing file and continues it; a file with other bytes is not changed")
        func continued() async throws {
            try await withDlm { sandbox in
                try Self.content.write(to: sandbox.root("file.bin"))
                let url = "file://\(sandbox.root("file.bin"))"
                for size in [0, 5 * mebibyte + 1, Self.content.size] {
                    try Data(Self.content.bytes(0..<size)).write(to: URL(fileURLWithPath: sandbox.file("file.bin")))
                    try await sandbox.expectDownloaded(Self.content, by: "get", "-c", url, what: size)
                    try FileManager.default.removeItem(atPath: sandbox.file("file.bin"))
                }
                let other = Content(seed: 1603, size: 4 * mebibyte)
                try other.write(to: sandbox.file("file.bin"))
                expectFailure(9, of: try await sandbox.perform("get", "-c", url))
                #expect(try sha256(of: sandbox.file("file.bin")) == other.sha256)
            }
        }

        @Test("A missing file, a folder and a file that is not regular are refused")
        func errors() async throws {
            try await withDlm { sandbox in
                expectFailure(3, of: try await sandbox.perform("get", "file://\(sandbox.root("missing"))"))
                expectFailure(3, of: try await sandbox.perform("get", "file:///dev/zero"))
                #expect(mkfifo(sandbox.root("pipe"), 0o600) == 0)
                expectFailure(3, of: try await sandbox.perform("get", "file://\(sandbox.root("pipe"))"))
                expectFailure(2, of: try await sandbox.perform("get", "file://\(sandbox.root.path)"))
                expectFailure(2, of: try await sandbox.perform("get", "file://\(sandbox.root.path)/"))
                expectFailure(2, of: try await sandbox.perform("get", "file://elsewhere/etc/passwd"))
                #expect(sandbox.names == [])
            }
        }
    }
}
