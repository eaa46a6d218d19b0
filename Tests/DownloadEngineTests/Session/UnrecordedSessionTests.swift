import DownloadStorage
import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Sessions like those of `--ephemeral`, whose store is a database in memory.
@Suite("SessionManager: unrecorded sessions", .inTurn, .timeLimit(.minutes(1)))
struct UnrecordedSessionTests {
    private static let reply = FaultReply(Content(seed: 9, size: 400_000), etag: "\"a\"")
    private static let header = RequestHeader(name: "Authorization", value: "secret")

    private func bench(_ script: @escaping FakeTransport.Script) async throws -> SessionBench {
        try await SessionBench(store: SQLiteDownloadStore(folder: nil, isAlive: { _ in true }), script)
    }

    @Test("Downloads that wait in the store are begun with their secrets")
    func waiting() async throws {
        let bench = try await bench { _, _ in .reply(FaultReply(status: 404)) }
        let requests = try (0..<2 * SessionBench.mostQueued).map { number in
            try bench.request("/\(number)") { $0.credential = Credential(user: "me", password: "word \(number % 2)") }
        }
        let ids = try await bench.manager.add(requests).map(\.record.id)
        #expect(await bench.ends.wait { $0.count == ids.count })
        #expect(Set(bench.transport.requests.map(\.url.path)).count == ids.count)
        for asked in bench.transport.requests {
            let number = try #require(Int(asked.url.path.dropFirst()))
            #expect(asked.options.credential?.password == "word \(number % 2)")
        }
        await bench.manager.close()
    }

    @Test("A paused download continues with its secrets")
    func resumed() async throws {
        let bench = try await bench { _, asked in
            .reply(asked.number == 1 ? Self.reply.with { $0.cut = .stall(after: 300_000) } : Self.reply)
        }
        let id = try await bench.add { $0.headers = [Self.header] }
        #expect(await bench.transport.taken.wait { $0 == 300_000 })
        _ = try await bench.manager.pause([id])
        #expect(try await bench.ending(of: id).state == .paused(.user))
        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        #expect(bench.transport.requests.count > 1)
        #expect(bench.transport.requests.allSatisfy { $0.options.fields[.authorization] == "secret" })
        await bench.manager.close()
    }
}
