import DownloadTestSupport
import HTTPTypes
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("What checkpoints record of a file on disk", .inTurn, .timeLimit(.minutes(1)))
struct CheckpointTests {
    private static let content = Content(seed: 21, size: 900_000)
    private static let reply = FaultReply(content, etag: "\"a\"")

    @Test("Bytes without a finished sync are not durable")
    func durable() async throws {
        let bench = try AttemptBench()
        let transport = FakeTransport(serving: Self.reply.with { $0.cut = .close(after: 500_000) })
        let (outcome, record) = await bench.run(try await bench.record { $0.retry.limit = 0 }, on: transport)
        #expect(outcome != .completed)
        #expect(record.resume.written == ByteRanges([0..<500_000]))
        #expect(record.resume.durable.isEmpty)
    }

    @Test("The name of the partial file is saved durably before the file is created")
    func name() async throws {
        let store = GatedStore()
        let bench = try AttemptBench(store: store)
        let namesAtSave = Observed<[[String]]>([])
        store.change { trouble in
            trouble.beforeSave = { [folder = bench.folder] records in
                if records[0].fileName != nil { namesAtSave.update { $0.append(folder.names()) } }
            }
        }
        let (outcome, _) = await bench.run(try await bench.record(), on: FakeTransport(serving: Self.reply))
        #expect(outcome == .completed)
        #expect(namesAtSave.value.first == [])
        #expect(store.durable.first?.fileName == "file.bin")
        #expect(store.durable.first?.isFinishing == false)
    }

    @Test(
        "A save waits for the previous checkpoint, whose older record would otherwise replace the partial file's name")
    func order() async throws {
        let store = GatedStore()
        // A store that is slow with the first checkpoint, which is made before the file has a name.
        store.change { trouble in
            trouble.beforeSave = { records in
                if records[0].fileName == nil { for _ in 0..<10_000 { await Task.yield() } }
            }
        }
        let bench = try AttemptBench(store: store)
        let record = try await bench.record()
        let control = AttemptControl(record: record)
        let head = ResponseHead(
            status: 200, fields: [.contentLength: "\(Self.content.size)", .eTag: "\"a\""])
        let transport = EagerTransport { _ in (head, Self.content.bytes(0..<Self.content.size)) }
        transport.onStart.withLock { $0 = { control.send(.flushed) } }
        let (outcome, _) = await bench.run(record, on: transport, control)
        #expect(outcome == .completed)
        let names = store.records.map(\.fileName)
        #expect(names.first == .some(nil))
        #expect(names.drop { $0 == nil }.allSatisfy { $0 == "file.bin" })
    }

    @Test("A stopped attempt ends after the save of its last checkpoint, which is older than the record of the end")
    func last() async throws {
        let store = GatedStore()
        let bench = try AttemptBench(store: store)
        let record = try await bench.record()
        let control = AttemptControl(record: record)
        let transport = FakeTransport(serving: Self.reply.with { $0.cut = .stall(after: 500_000) })
        async let run = bench.run(record, on: transport, control)
        while control.progress(id: record.id, state: .running).received < 500_000 { await Task.yield() }
        let (isSaving, isEnded, endedFirst) = (Observed(false), Observed(false), Observed<Bool?>(nil))
        store.change { trouble in
            trouble.beforeSave = { _ in
                let isFirst = isSaving.update { isSaving in
                    defer { isSaving = true }
                    return !isSaving
                }
                guard isFirst else { return }
                let ended = await isEnded.wait(atMost: .seconds(2)) { $0 }
                endedFirst.update { $0 = ended }
            }
        }
        control.send(.flushed)
        #expect(await isSaving.wait { $0 })
        control.stop()
        #expect(await run.0 == .stopped)
        isEnded.update { $0 = true }
        #expect(await endedFirst.wait { $0 != nil })
        #expect(endedFirst.value == false)
    }

    @Test("The bytes of a stopped attempt are durable, so that they count after a restart of the machine")
    func stopped() async throws {
        let bench = try AttemptBench()
        let record = try await bench.record()
        let control = AttemptControl(record: record)
        let transport = FakeTransport(serving: Self.reply.with { $0.cut = .stall(after: 500_000) })
        async let run = bench.run(record, on: transport, control)
        while control.progress(id: record.id, state: .running).received < 500_000 { await Task.yield() }
        control.stop()
        let (outcome, ended) = await run
        #expect(outcome == .stopped)
        #expect(ended.resume.written == ByteRanges([0..<500_000]))
        #expect(ended.resume.durable == ended.resume.written)
    }
}
