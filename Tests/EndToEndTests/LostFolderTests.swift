import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Folders that are gone", .serialized, .timeLimit(.minutes(1)))
    struct LostFolderTests {
        static let content = Content(seed: 1903, size: 2 * mebibyte)
        let count = 6

        /// Starts downloads into a folder and interrupts them when each has a partial file with some bytes.
        private func withInterrupted(
            in folder: String, _ body: @escaping (DlmSandbox, FaultServer) async throws -> Void
        ) async throws {
            let slow = FaultReply(Self.content, etag: "\"v1\"").with { $0.cut = .stall(after: mebibyte) }
            try await withDlm(serving: slow) { sandbox, server in
                let urls = (1...count).map { server.url("/f\($0)") }
                let get = try sandbox.start(["get", "-x", "1", "-j", "\(count)", "-d", folder] + urls)
                let all = count
                let haveBegun = await server.waitUntil { $0.entries.count == all }
                #expect(haveBegun)
                for id in 1...count { try await sandbox.waitToShow(id) { $0.received == mebibyte } }
                try await get.expectEnd(by: SIGTERM)
                server.handle { _ in FaultReply(Self.content, etag: "\"v1\"") }
                try await body(sandbox, server)
            }
        }

        @Test("A deleted folder is made again, and one line reports this for all of its downloads")
        func madeAgain() async throws {
            try await withInterrupted(in: "sub") { sandbox, _ in
                try FileManager.default.removeItem(atPath: sandbox.file("sub"))
                let result = try await sandbox.done("resume", "--all")
                #expect(result.outputLines.count == count)
                #expect(
                    result.errorLines == [
                        "dlm: \(sandbox.file("sub")): was deleted; it is made again, and its downloads start over"
                    ])
                for id in 1...count { try expectFile(Self.content, "sub/f\(id)", in: sandbox) }
            }
        }

        @Test("If the parent of the folder is deleted, too, one line reports all failures, and nothing is made again")
        func missing() async throws {
            try await withInterrupted(in: "deep/sub") { sandbox, server in
                try FileManager.default.removeItem(atPath: sandbox.file("deep"))
                let result = try await sandbox.perform("resume", "--all")
                expectFailure(3, of: result)
                #expect(result.stderr.contains("; \(count) downloads failed; run: dlm resume 1-\(count)"))
                #expect(!sandbox.exists("deep"))
                #expect(server.log.entries.count == count)
            }
        }
    }
}
