import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// A server may send the right `Content-Range` and a strong ETag, but bytes from another place of the file.
@Suite("Parts with bytes from another place than their heads say", .inTurn, .timeLimit(.minutes(2)))
struct MisplacedPartTests {
    private static let content = Content(seed: 40, size: 40_000_000)
    private static let small = Content(seed: 41, size: 1_000_000)

    private static func reply(_ content: Content) -> FaultReply { FaultReply(content, etag: "\"v1\"") }

    @Test("A resumed part from the wrong place is noticed, and the file is fetched in one answer")
    func resumed() async throws {
        let good = Self.reply(Self.small)
        let first = try await SessionBench(serving: good.with { $0.cut = .stall(after: 600_000) })
        let id = try await first.add { $0.connections = 1 }
        #expect(await first.transport.taken.wait { $0 == 600_000 })
        await first.manager.pauseAll(.user)
        await first.manager.close()
        let second = try await SessionBench(
            after: first, session: "second", serving: good.with { $0.ranges = .wrongBytes(by: 4096) })
        _ = try await second.manager.resume([id], overrides: RequestOverrides())
        #expect(try await second.ending(of: id).state == .completed)
        #expect(try second.holds("file.bin", Self.small))
        #expect(second.ranges == ["583616-", nil])
    }

    @Test("Several connections with bytes from wrong places still result in the right file", arguments: [2, 4])
    func several(connections: Int) async throws {
        let bench = try await SessionBench { _, asked in
            let good = Self.reply(Self.content)
            return .reply(asked.number == 1 ? good : good.with { $0.ranges = .wrongBytes(by: 4096) })
        }
        let id = try await bench.add { $0.connections = .fixed(connections) }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(try bench.holds("file.bin", Self.content))
        #expect(bench.ranges.last == .some(nil))
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    /// Returns a record with two runs of bytes, 0 to 300,000 and 500,000 to 700,000. The bytes of the second run come
    /// from `shift` bytes later in the file.
    private static func twoRuns(shift: Int64) async throws -> (AttemptBench, DownloadRecord) {
        let bench = try AttemptBench()
        let validators = Validators(etag: EntityTag(opaque: "v1"))
        var record = try await bench.record(with: 0..<300_000, of: small, validators: validators)
        let file = try PartialFile.open(folder: bench.folder.path, name: "file.bin", mode: .reopen, followsLinks: true)
        small.bytes(500_000 + shift..<700_000 + shift).withUnsafeBytes { file.write($0, at: 500_000) }
        file.unlock()
        record.resume.written.insert(500_000..<700_000)
        return (bench, record)
    }

    @Test("Wrong bytes of an earlier attempt are found behind a gap")
    func leftByAnEarlierAttempt() async throws {
        // The second run came from a server that began 4096 bytes late.
        let (bench, record) = try await Self.twoRuns(shift: 4096)
        let transport = WatchedTransport(FakeTransport(serving: Self.reply(Self.small)))
        let (outcome, _) = await bench.run(record, on: transport)
        #expect(outcome == .completed)
        #expect(try sha256(of: bench.folder("file.bin")) == Self.small.sha256)
        // The request for the gap includes some bytes before and behind the gap.
        #expect(transport.requests.first?.range == "283616-500511")
    }

    @Test("A right part is joined without a further request")
    func right() async throws {
        let (bench, record) = try await Self.twoRuns(shift: 0)
        let transport = WatchedTransport(FakeTransport(serving: Self.reply(Self.small)))
        let (outcome, after) = await bench.run(record, on: transport)
        #expect(outcome == .completed)
        #expect(try sha256(of: bench.folder("file.bin")) == Self.small.sha256)
        #expect(transport.requests.map(\.range) == ["283616-500511", "699488-"])
        #expect(after.attempts.last?.received == 500_000)
    }

    @Test("After an answer that contradicts itself, the next run fetches the edges of all other parts again")
    func contradiction() async throws {
        let first = try await SessionBench { _, asked in
            let good = Self.reply(Self.content)
            switch asked.number {
            case 1: return .reply(good)
            // The bytes come from another place than the head says. The answer stalls after 2,000,000 bytes, and the
            // next answer contradicts itself.
            case 2:
                return .reply(
                    good.with {
                        $0.ranges = .wrongBytes(by: 4096); $0.cut = .stall(after: 2_000_000)
                    })
            case 3: return .reply(good.with { $0.ranges = .contentRange("bytes 0-5/40000000") })
            default: return .reply(FaultReply(status: 500))
            }
        }
        let id = try await first.add {
            $0.connections = 3
            $0.retry.limit = 0
        }
        _ = try await first.endingOrPause(of: id)
        await first.manager.close()
        let second = try await SessionBench(after: first, session: "second", serving: Self.reply(Self.content))
        _ = try await second.manager.resume([id], overrides: RequestOverrides())
        #expect(try await second.ending(of: id).state == .completed)
        #expect(try second.holds("file.bin", Self.content))
    }
}

extension SessionBench {
    /// Waits until 2,000,000 bytes have arrived, pauses the downloads of the session, and returns the record.
    fileprivate func endingOrPause(of id: DownloadID) async throws -> DownloadRecord {
        #expect(await transport.taken.wait { $0 >= 2_000_000 })
        await manager.pauseAll(.user)
        return try await record(id)
    }
}
