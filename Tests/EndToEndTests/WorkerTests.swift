import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

extension EndToEnd {
    @Suite("Manifests of workers", .serialized, .timeLimit(.minutes(2)))
    struct WorkerTests {
        private func entries(_ path: String) throws -> [ManifestEntry] {
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
                try ManifestEntry(line: $0.utf8)
            }
        }

        private func reply(_ request: FaultRequest) -> FaultReply {
            switch request.target {
            case "/gone": FaultReply(status: 404)
            case "/busy": FaultReply(status: 503)
            default: FaultReply(Content(seed: UInt64(request.target.count), size: 5000), etag: "\"v1\"")
            }
        }

        @Test("Each URL has a line in the manifest, and a second run requests only URLs that may still succeed")
        func again() async throws {
            try await withDlm({ [self] in reply($0) }) { sandbox, server in
                let urls = ["/a", "/bb", "/gone", "/busy"].map { server.url($0) } + ["nonsense://x"]
                try sandbox.root.write(urls.joined(separator: "\n"), to: "list")
                let manifest = sandbox.root("m.jsonl")
                let command = [
                    "get", "-i", sandbox.root("list"), "--manifest", manifest, "--manifest-digest", "--retries", "0",
                    "-d", "d",
                    "--name-by", "hash", "--spread", "--state", sandbox.root("own"),
                ]
                let first = try await sandbox.perform(command)
                #expect(first.ending == .exited(75), "\(first.stderr)")
                let told = Dictionary(try entries(manifest).map { ($0.url, $0) }) { $1 }
                #expect(Set(told.keys) == Set(urls))
                let done = try #require(told[server.url("/a")])
                #expect(
                    done.sha256 == Content(seed: 2, size: 5000).sha256 && done.bytes == 5000 && done.etag == "\"v1\"")
                #expect(done.attempts == 1 && done.error == nil)
                #expect(try sha256(of: try #require(done.path)) == done.sha256)
                #expect(told[server.url("/gone")]?.error?.reason == "status404")
                #expect(told[server.url("/gone")]?.httpStatus == 404 && told["nonsense://x"]?.error?.kind == "request")
                #expect(sandbox.root.exists("own/dlm/downloads.sqlite") && !sandbox.root.exists("state/dlm"))

                let before = server.log.entries.count
                let second = try await sandbox.perform(command)
                #expect(second.ending == .exited(75))
                #expect(server.log.entries.dropFirst(before).map(\.request.target) == ["/busy"])
                #expect(
                    second.stderr.contains("left out by the manifest: 2 done, 2 failed for good"), "\(second.stderr)")

                // A deleted file is fetched again. A permanent failure is tried again only with --retry-failed.
                try FileManager.default.removeItem(atPath: try #require(done.path))
                _ = try await sandbox.perform(command + ["--retry-failed"])
                #expect(
                    Set(server.log.entries.dropFirst(before + 1).map(\.request.target)) == ["/a", "/gone", "/busy"])
                #expect(try sha256(of: try #require(done.path)) == done.sha256)
            }
        }

        @Test(
            "If a complete download has no line in the manifest, it is not requested again, and is not a failure")
        func withoutLine() async throws {
            try await withDlm({ _ in FaultReply(Content(seed: 6, size: 2000)) }) { sandbox, server in
                let urls = (0..<3).map { server.url("/f\($0)") }
                try sandbox.root.write(urls.joined(separator: "\n"), to: "list")
                let manifest = sandbox.root("m.jsonl")
                let command = ["get", "-i", sandbox.root("list"), "--manifest", manifest, "-d", "d"]
                #expect(try await sandbox.run(command).ending == .exited(0))
                try FileManager.default.removeItem(atPath: manifest)
                try await sandbox.done(command)
                #expect(server.log.entries.count == 3)
                let done = try entries(manifest)
                #expect(Set(done.map(\.url)) == Set(urls) && done.allSatisfy { $0.status == .done && $0.bytes == 2000 })
                // A file that somebody changed does not count as the downloaded file: the command fails and keeps the
                // file.
                try FileManager.default.removeItem(atPath: manifest)
                try sandbox.root.write("mine", to: "files/d/f1")
                let changed = try await sandbox.run(command)
                #expect(changed.ending == .exited(65), "\(changed.stderr)")
                #expect(try sandbox.root.read("files/d/f1") == "mine")
            }
        }

        @Test(
            "After kills at any time, the same command completes the list, and requests no finished file again")
        func killed() async throws {
            let urls = (0..<300).map { "/f\($0)" }
            try await withDlm({ _ in
                FaultReply(Content(seed: 5, size: 2000), etag: "\"v1\"").with { $0.bytesPerSecond = 40_000 }
            }) {
                sandbox, server in
                try sandbox.root.write(urls.map { server.url($0) }.joined(separator: "\n"), to: "list")
                let manifest = sandbox.root("m.jsonl")
                let command = ["get", "-i", sandbox.root("list"), "--manifest", manifest, "-d", "d"]
                let named = { @Sendable in Set(sandbox.root.names(in: "files/d").map { "/\($0)" }).intersection(urls) }
                // The files that have names after each kill, and the number of requests until then.
                var kills: [(named: Set<String>, requests: Int)] = []
                for count in [60, 150] {
                    let process = try sandbox.start(command)
                    #expect(await server.waitUntil { $0.entries.count >= count && !named().isEmpty })
                    try await process.killed()
                    kills.append((named(), server.log.entries.count))
                }
                try await sandbox.done(command)
                for kill in kills {
                    let later = Set(server.log.entries.dropFirst(kill.requests).map(\.request.target))
                    #expect(kill.named.isDisjoint(with: later))
                }
                let done = try entries(manifest).filter { $0.status == .done }
                #expect(Set(done.map(\.url)) == Set(urls.map { server.url($0) }))
            }
        }
    }
}
