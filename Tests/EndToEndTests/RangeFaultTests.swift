import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Servers that get ranges wrong", .timeLimit(.minutes(2)))
    struct RangeFaultTests {
        static let content = Content(seed: 80, size: 8 * mebibyte)

        static let behaviours: [FaultReply.RangeBehaviour] = [
            .ignored, .withoutContentRange, .wrongStart(by: 5), .wrongStart(by: 4096), .wrongEnd(by: -100),
            .wrongEnd(by: 100), .wrongTotal(by: 1000), .wrongTotal(by: -1000), .multipart, .refused,
        ]

        /// Right, or refused as a contradiction: nothing else will do.
        static func judge(
            _ result: ChildProcess.Result, _ behaviour: FaultReply.RangeBehaviour, in sandbox: DlmSandbox
        ) throws {
            if result.ending == .exited(0) {
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox, behaviour)
            } else {
                expectFailure(7, of: result, behaviour)
                #expect(!sandbox.exists("file.bin"), "\(behaviour)")
            }
        }

        @Test("Wrong from the first request on: the right file, or a refusal", arguments: [1, 4])
        func fromTheStart(connections: Int) async throws {
            try await concurrently(Self.behaviours, atMost: 4) { behaviour in
                let reply = FaultReply(Self.content, etag: "\"v1\"").with { $0.ranges = behaviour }
                try await withDlm(serving: reply) { sandbox, server in
                    let result = try await sandbox.run(
                        "get", "-x", "\(connections)", "--retries", "1", server.url())
                    try Self.judge(result, behaviour, in: sandbox)
                    if behaviour == .ignored || behaviour == .refused {
                        #expect(result.ending == .exited(0), "\(behaviour)")
                    }
                }
            }
        }

        @Test("Wrong for a while: the file is right in the end", arguments: [1, 4])
        func forAWhile(connections: Int) async throws {
            let good = FaultReply(Self.content, etag: "\"v1\"")
            try await concurrently(Self.behaviours, atMost: 5) { behaviour in
                try await withDlm({ request in
                    switch request.number {
                    case 1: good.with { $0.cut = .close(after: mebibyte) }
                    case 2, 3: good.with { $0.ranges = behaviour }
                    default: good
                    }
                }) { sandbox, server in
                    let result = try await sandbox.run("get", "-x", "\(connections)", server.url())
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox, behaviour)
                }
            }
        }

        @Test("Wrong when resumed in a new process: the right file, or a refusal", arguments: [1, 4])
        func whenResumed(connections: Int) async throws {
            let good = FaultReply(Self.content, etag: "\"v1\"").with {
                $0.bytesPerSecond = Int(16 * mebibyte) / connections
            }
            try await concurrently(Self.behaviours, atMost: 4) { behaviour in
                try await withDlm(serving: good) { sandbox, server in
                    _ = try await sandbox.interrupt(
                        "get", "-x", "\(connections)", "--retries", "1", server.url(), with: SIGTERM,
                        after: 3 * mebibyte, from: server)
                    server.handle { _ in FaultReply(Self.content, etag: "\"v1\"").with { $0.ranges = behaviour } }
                    let resumed = try await sandbox.run("resume", try await sandbox.onlyID())
                    try Self.judge(resumed, behaviour, in: sandbox)
                }
            }
        }
    }
}
