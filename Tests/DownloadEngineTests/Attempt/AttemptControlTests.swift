import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("AttemptControl: checkpoints by bytes", .timeLimit(.minutes(1)))
struct AttemptControlTests {
    private static let step = AttemptControl.bytesBetweenCheckpoints

    private func messages(_ control: AttemptControl, after body: () -> Void) async -> Int {
        body()
        control.close()
        var count = 0
        for await message in control.messages { if case .checkpointDue = message { count += 1 } }
        return count
    }

    @Test("The speed of a connection is that since the last look, if the look was not just before")
    func speeds() async throws {
        let bench = try WriterBench()
        let content = Content(seed: 3, size: 30_000)
        let writer = bench.writer(0..<30_000, file: try bench.file())
        _ = writer.transferDidReceiveHead(.part(0..<30_000, of: 30_000))
        let start = ContinuousClock.now
        var connection = LiveConnection(writer, origin: "http://a", at: start)
        func look(_ seconds: Double) -> ConnectionProgress { connection.look(at: start + .seconds(seconds)) }
        #expect(look(0) == ConnectionProgress(origin: "http://a", position: 0, speed: 0))
        _ = writer.deliver(content.bytes(0..<10_000), pieces: [5000])
        #expect(look(0.1) == ConnectionProgress(origin: "http://a", position: 10_000, speed: 100_000))
        _ = writer.deliver(content.bytes(10_000..<30_000), pieces: [5000])
        #expect(look(0.2) == ConnectionProgress(origin: "http://a", position: 30_000, speed: 100_000))
        #expect(abs(look(1.1).speed - 20_000) < 1)
        #expect(look(2).speed == 0)
        writer.finish()
        await bench.drain()
    }

    @Test("A checkpoint is due after a number of bytes, whatever the time")
    func due() async throws {
        let control = AttemptControl(record: try await AttemptBench().record())
        let count = await messages(control) {
            for _ in 0..<4 { control.add(received: Int(Self.step) / 4) }
            #expect(control.isCheckpointDue)
            control.add(received: Int(Self.step))
            control.beginCheckpoint(connections: 2)
            #expect(!control.isCheckpointDue)
            control.add(received: Int(Self.step))
            #expect(!control.isCheckpointDue)
            control.add(received: Int(Self.step))
            #expect(control.isCheckpointDue)
        }
        #expect(count == 2)
    }

    @Test("Bytes are recorded without a tick of the session's clock")
    func recorded() async throws {
        let recorded = Observed<Int64>(0)
        let bench = try AttemptBench(
            store: GatedStore(
                .init(beforeSave: { records in
                    recorded.update { $0 = records.reduce($0) { max($0, $1.received) } }
                })))
        let record = try await bench.record { $0.connections = 1 }
        let content = Content(seed: 50, size: 40_000_000)
        let transport = FakeTransport(
            serving: FaultReply(content, etag: "\"a\"").with { $0.cut = .stall(after: 20_000_000) })
        let control = AttemptControl(record: record)
        async let run = bench.run(record, on: transport, control)
        let isRecorded = await recorded.wait { $0 >= 20_000_000 - 2 * Self.step }
        control.stop()
        _ = await run
        #expect(isRecorded)
    }
}
