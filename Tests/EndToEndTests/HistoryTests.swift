import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("History", .serialized, .timeLimit(.minutes(1)))
    struct HistoryTests {
        let content = Content(seed: 450, size: 2 * mebibyte)

        var handler: FaultServer.Handler {
            { [content] request in
                switch request.target {
                case "/gone": FaultReply(status: 404)
                case "/slow": FaultReply(content, etag: "\"v1\"").with { $0.cut = .stall(after: mebibyte) }
                default: FaultReply(content, etag: "\"v1\"")
                }
            }
        }

        @Test("Finished, failed and cancelled downloads stay listed with their attempts until they are removed")
        func listed() async throws {
            try await withDlm(handler) { sandbox, server in
                try await sandbox.done("get", server.url("/here"))
                try await sandbox.hand(["/there", "/gone", "/slow", "/removed"].map { server.url($0) })
                #expect(try await sandbox.perform("wait", "2-3", "5").ending == .exited(8))
                #expect(await server.waitUntil { $0.requests(to: "/slow").first?.sent == mebibyte })
                try await sandbox.waitToShow(4) { $0.received == mebibyte }
                try await sandbox.done("cancel", "4")
                try await sandbox.done("daemon", "stop")

                let states = try await sandbox.list().sorted { $0.id < $1.id }.map(\.state)
                #expect(states == ["completed", "completed", "failed", "cancelled", "completed"])
                let unfinished = try await sandbox.done("list", "--json")
                let ids = try unfinished.outputLines.map {
                    try JSONDecoder().decode(ListedDownload.self, from: Data($0.utf8)).id
                }
                #expect(ids == [3])
                for id in 1...5 {
                    let shown = try await sandbox.show(id)
                    #expect(shown.attempts.count == 1, "\(id)")
                    #expect(shown.attempts.first?.outcome != nil, "\(id)")
                }
                let failed = try await sandbox.done("list", "--state", "failed", "--state", "cancelled", "--json")
                #expect(failed.outputLines.count == 2)

                // remove keeps a finished file unless --delete-file is given, and deletes a partial file.
                try await sandbox.done("remove", "1", "4")
                try await sandbox.done("remove", "--delete-file", "5")
                #expect(sandbox.names == ["here", "there"])
                expectFailure(10, of: try await sandbox.perform("show", "1"))
                try await sandbox.done("remove", "--all")
                #expect(try await sandbox.list() == [])
                #expect(sandbox.names == ["here", "there"])
                // The number of a removed download is never used again.
                try await sandbox.done("get", "-o", "new", server.url("/here"))
                #expect(try await sandbox.list().map(\.id) == [6])
            }
        }
    }
}
