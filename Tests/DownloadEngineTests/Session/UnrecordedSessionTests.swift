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

    @Test("The spool of a stream is closed when the download has failed, and not before its last attempt")
    func spool() async throws {
        let stream = StreamOutput(descriptor: -1)
        weak let file = stream.openSpool(for: 1 << 20)?.file
        let spools = Observed<[Bool]>([])
        let bench = try await SessionBench(stream: stream) { _, _ in
            spools.update { $0.append(stream.pump != nil) }
            return .reply(FaultReply(status: 503))
        }
        let id = try await bench.add()
        #expect(try await bench.ending(of: id).failure != nil)
        #expect(spools.value == [true, true, true, true])
        #expect(stream.pump == nil)
        await bench.manager.close()
        #expect(file == nil)
    }

    @Test("After a connection was lost while the spool is full, the next request waits for the reader")
    func idleReader() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let content = Content(seed: 10, size: 20 << 20)
        let reply = FaultReply(content, etag: "\"a\"")
        let stream = StreamOutput(descriptor: ends[1], spool: StreamOutput.leastSpool)
        let bench = try await SessionBench(stream: stream) { _, asked in
            // The first request nearly fills the spool.
            let cuts: [Int: FaultReply.Cut] = [1: .close(after: 8_000_000), 2: .close(after: 0)]
            return .reply(reply.with { $0.cut = cuts[asked.number] })
        }
        let id = try await bench.add()
        #expect(await bench.transport.waitForRequests(2))
        #expect(await !bench.transport.waitForRequests(3, atMost: .seconds(1)))
        let (end, size) = (ends[0], Int(content.size))
        let read = Task<Data?, Never> {
            await withCheckedContinuation { read in
                Thread.detachNewThread {
                    read.resume(returning: try? FileHandle(fileDescriptor: end).read(upToCount: size))
                }
            }
        }
        #expect(try await bench.ending(of: id).state == .completed)
        close(ends[1])
        let bytes = try #require(await read.value)
        #expect(bytes.elementsEqual(content.bytes(0..<content.size)))
        await bench.manager.close()
    }
}
