import Dispatch
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Few buffers and many writers: no writer waits forever, and no byte is lost.
@Suite("Back-pressure between the pool and the writers", .inTurn, .timeLimit(.minutes(2)))
struct BackPressureTests {
    private static let size = WriterBench.bufferSize

    @Test("An empty pool pauses a transfer, and a returned buffer resumes the transfer exactly once")
    func pauseAndResume() async throws {
        let bench = try WriterBench(buffers: 1)
        let file = try bench.file()
        let held = try #require(bench.disk.pool.take {})
        let writer = bench.writer(0..<1000, file: file)
        let transfer = try writer.begin()
        _ = writer.transferDidReceiveHead(.part(0..<1000, of: 1000))
        #expect(writer.deliver([1, 2, 3]).answer == .pause)
        #expect(transfer.calls.value.resumes == 0)
        bench.disk.pool.give(held)
        #expect(transfer.calls.value.resumes == 1)
        #expect(writer.deliver([1, 2, 3]).answer == .taken)
        writer.finish()
        await bench.drain()
        #expect(transfer.calls.value.resumes == 1)
        #expect(bench.poolIsWhole())
    }

    @Test("A small body needs no buffer of the pool while there are small buffers; other bodies do")
    func smallBodies() throws {
        let bench = try WriterBench(buffers: 1)
        let held = try #require(bench.disk.pool.take {})
        let small = Array(repeating: UInt8(7), count: BufferPool.smallSize)
        func writer(_ total: Int) -> SegmentWriter {
            let writer = bench.writer()
            _ = writer.transferDidReceiveHead(.whole(Int64(total)))
            return writer
        }
        let large = writer(small.count + 1)
        #expect(large.deliver([7]).answer == .pause)
        let writers = (0..<BufferPool.smallCapacity).map { _ in writer(small.count) }
        for writer in writers {
            #expect(writer.deliver(small).answer == .taken)
            writer.finish()
            #expect(writer.withWhole { $0.elementsEqual(small) })
        }
        let last = writer(1)
        #expect(last.deliver([7]).answer == .pause)
        writers[0].discard()
        #expect(last.deliver([7]).answer == .taken)
        for writer in writers + [large, last] { writer.discard() }
        bench.disk.give(held)
        #expect(bench.poolIsWhole())
    }

    @Test("If a writer is woken before it knows its transfer, it resumes the transfer later")
    func wokenEarly() throws {
        let bench = try WriterBench(buffers: 1)
        let held = try #require(bench.disk.pool.take {})
        let writer = bench.writer(0..<10, file: try bench.file())
        _ = writer.transferDidReceiveHead(.part(0..<10, of: 10))
        #expect(writer.deliver([1]).answer == .pause)
        bench.disk.pool.give(held)
        let transfer = try writer.begin()
        #expect(transfer.calls.value.resumes == 1)
    }

    @Test("If a writer ends while it waits, its turn passes to the next writer", arguments: [true, false])
    func passedOn(isGone: Bool) throws {
        let bench = try WriterBench(buffers: 1)
        let file = try bench.file()
        let held = try #require(bench.disk.pool.take {})
        var first: SegmentWriter? = bench.writer(0..<10, file: file)
        _ = try first?.begin()
        _ = first?.transferDidReceiveHead(.part(0..<10, of: 100))
        #expect(first?.deliver([1]).answer == .pause)
        let second = bench.writer(10..<20, file: file)
        let transfer = try second.begin()
        _ = second.transferDidReceiveHead(.part(10..<20, of: 100))
        #expect(second.deliver([1]).answer == .pause)
        if isGone { first = nil } else { first?.finish(.cancelled) }
        bench.disk.pool.give(held)
        #expect(transfer.calls.value.resumes == 1)
        _ = first
    }

    @Test("A partly filled buffer is written if there is no second buffer")
    func partial() async throws {
        let bench = try WriterBench(buffers: 1)
        let file = try bench.file()
        let content = Content(seed: 1, size: 2 * Self.size)
        let writer = bench.writer(0..<content.size, file: file)
        let transfer = try writer.begin()
        _ = writer.transferDidReceiveHead(.part(0..<content.size, of: content.size))
        // Pieces that do not divide the buffer. One piece needs the end of one buffer and the beginning of the next.
        let first = writer.deliver(content.bytes(0..<content.size), pieces: [10_000])
        #expect(first.answer == .pause)
        #expect(await transfer.calls.wait { $0.resumes == 1 })
        await bench.drain()
        #expect(file.written == ByteRanges([0..<Int64(first.taken)]))
    }

    @Test("If a checkpoint comes while a writer waits for its second buffer, nothing hangs, and the buffer is not lost")
    func flushWhileWaiting() async throws {
        let bench = try WriterBench(buffers: 2)
        let file = try bench.file()
        let held = try #require(bench.disk.pool.take {})
        // The range begins 100 bytes before the end of a buffer, so the first piece needs two buffers.
        let start = Self.size - 100
        let content = Content(seed: 2, size: 2 * Self.size)
        let writer = bench.writer(start..<content.size, file: file)
        let transfer = try writer.begin()
        _ = writer.transferDidReceiveHead(.part(start..<content.size, of: content.size))
        var taken = writer.deliver(content.bytes(start..<start + 16384)).taken
        writer.flush()
        await bench.drain()
        bench.disk.pool.give(held)
        while taken < 200_000 {
            let more = writer.deliver(content.bytes(start + Int64(taken)..<start + 200_000))
            taken += more.taken
            if more.answer == .pause { await bench.drain() }
        }
        writer.finish(.cancelled)
        await bench.drain()
        #expect(file.written == ByteRanges([start..<start + 200_000]))
        #expect(try bench.bytes(start..<start + 200_000, of: file) == content.bytes(start..<start + 200_000))
        _ = transfer
        #expect(bench.poolIsWhole())
    }

    @Test("A writer writes its partly filled buffer while other writers wait for buffers")
    func handedOn() async throws {
        let bench = try WriterBench(buffers: 4)
        let file = try bench.file()
        let content = Content(seed: 6, size: 200)
        let (first, second) = (bench.writer(0..<100, file: file), bench.writer(100..<200, file: file, connection: 1))
        _ = try first.begin()
        let waiting = try second.begin()
        _ = first.transferDidReceiveHead(.part(0..<100, of: 200))
        _ = second.transferDidReceiveHead(.part(100..<200, of: 200))
        #expect(first.deliver(content.bytes(0..<50)).answer == .taken)
        let others = try (0..<3).map { _ in try #require(bench.disk.pool.take {}) }
        #expect(second.deliver(content.bytes(100..<200)).answer == .pause)
        #expect(first.deliver(content.bytes(50..<60)).answer == .taken)
        #expect(await waiting.calls.wait { $0.resumes == 1 })
        #expect(file.written == ByteRanges([0..<60]))
        #expect(second.deliver(content.bytes(100..<200)).answer == .taken)
        second.finish()
        await bench.drain()
        #expect(first.deliver(content.bytes(60..<100)).answer == .taken)
        first.finish()
        await bench.drain()
        #expect(file.written == ByteRanges([0..<200]))
        #expect(try bench.bytes(0..<200, of: file) == content.bytes(0..<200))
        for other in others { bench.disk.pool.give(other) }
        #expect(bench.poolIsWhole())
    }

    @Test("A writer that finds no buffer gets one at once, although nothing more comes for the partly filled buffers")
    func atOnce() async throws {
        // With this clock no time passes.
        let bench = try WriterBench(buffers: 4, time: ManualTime())
        let file = try bench.file()
        let content = Content(seed: 8, size: 500)
        let writers = (0..<5).map { index in
            let start = Int64(index) * 100
            return bench.writer(start..<start + 100, file: file, connection: index)
        }
        let transfers = try writers.map { try $0.begin() }
        for (index, writer) in writers.enumerated() {
            let start = Int64(index) * 100
            _ = writer.transferDidReceiveHead(.part(start..<start + 100, of: 500))
            #expect(writer.deliver(content.bytes(start..<start + 50)).answer == (index < 4 ? .taken : .pause))
        }
        #expect(await transfers[4].calls.wait { $0.resumes == 1 })
        #expect(writers[4].deliver(content.bytes(400..<450)).answer == .taken)
        for writer in writers { writer.finish(.cancelled) }
        await bench.drain()
        #expect(file.written == ByteRanges((0..<5).map { Int64($0) * 100..<Int64($0) * 100 + 50 }))
        #expect(bench.poolIsWhole())
    }

    @Test("A writer without a file asks for one, and writes its buffer when it gets the file")
    func handedOnWithoutFile() async throws {
        let bench = try WriterBench(buffers: 1)
        var messages = bench.control.messages.makeAsyncIterator()
        let content = Content(seed: 7, size: 1000)
        let (writer, other) = (bench.writer(), bench.writer(900..<1000, file: try bench.file("other"), connection: 1))
        _ = try writer.begin()
        let waiting = try other.begin()
        _ = writer.transferDidReceiveHead(.whole(Int64(BufferPool.smallSize) + 1))
        _ = other.transferDidReceiveHead(.part(900..<1000, of: 1000))
        #expect(writer.deliver(content.bytes(0..<400)).answer == .taken)
        #expect(other.deliver(content.bytes(900..<1000)).answer == .pause)
        #expect(writer.deliver(content.bytes(400..<500)).answer == .taken)
        guard case .segmentNeedsFile? = await messages.next() else { Issue.record("no message"); return }
        let file = try bench.file()
        writer.attach(file)
        #expect(await waiting.calls.wait { $0.resumes == 1 })
        #expect(file.written == ByteRanges([0..<500]))
        writer.finish(.cancelled)
        other.finish(.cancelled)
        #expect(bench.poolIsWhole())
    }

    @Test(
        "With fewer buffers than writers, writers on several threads all write the right bytes",
        arguments: [(1, 6, 1), (2, 16, 2), (3, 40, 4)], [3, 4])
    func crowd(numbers: (buffers: Int, writers: Int, engines: Int), seed: UInt64) async throws {
        let bench = try WriterBench(buffers: numbers.buffers)
        let share = 3 * Self.size / 2 + 4321
        let content = Content(seed: seed, size: share * Int64(numbers.writers) + 777)
        let file = try bench.file()
        let engines = (0..<numbers.engines).map { DispatchQueue(label: "engine \($0)") }
        let left = Observed(numbers.writers)
        let crowd = (0..<numbers.writers).map { index in
            let start = 777 + Int64(index) * share
            return CrowdTransfer(
                bench.writer(start..<start + share, file: file, connection: index), content, start..<start + share,
                engines[index % engines.count], seed: seed &+ UInt64(index)
            ) { left.update { $0 -= 1 } }
        }
        for transfer in crowd { transfer.start(of: content.size) }
        // Checkpoints are made meanwhile, as in a running download.
        let checkpoints = Task.detached {
            while !Task.isCancelled {
                for transfer in crowd { transfer.writer.flush() }
                await bench.drain()
                await Task.yield()
            }
        }
        #expect(await left.wait(atMost: .seconds(60)) { $0 == 0 })
        checkpoints.cancel()
        await checkpoints.value
        await bench.drain()
        #expect(file.written == ByteRanges([777..<content.size]))
        #expect(try bench.bytes(777..<content.size, of: file) == content.bytes(777..<content.size))
        #expect(bench.poolIsWhole())
    }
}

/// Delivers a range to its writer on an engine's queue, in pieces of random size, and obeys the writer's pauses.
private final class CrowdTransfer: Transfer {
    private struct State {
        var offset: Int64
        var isPaused = false
        var random: SplitMix64
    }

    let writer: SegmentWriter
    private let content: Content
    private let range: Range<Int64>
    private let engine: DispatchQueue
    private let state: Mutex<State>
    private let whenDone: @Sendable () -> Void

    init(
        _ writer: SegmentWriter, _ content: Content, _ range: Range<Int64>, _ engine: DispatchQueue, seed: UInt64,
        whenDone: @escaping @Sendable () -> Void
    ) {
        self.writer = writer
        self.content = content
        self.range = range
        self.engine = engine
        self.whenDone = whenDone
        state = Mutex(State(offset: range.lowerBound, random: SplitMix64(seed: seed)))
    }

    func start(of total: Int64) {
        guard let url = try? SourceURL.parse("http://example.org/file").get().url else { return }
        writer.begin(StartedTransport(transfer: self), TransferRequest(url: url))
        engine.async { [self] in
            _ = writer.transferDidReceiveHead(.part(range, of: total))
            step()
        }
    }

    func cancel() {}

    func resume() {
        engine.async { [self] in
            let wasPaused = state.withLock { state in
                defer { state.isPaused = false }
                return state.isPaused
            }
            if wasPaused { step() }
        }
    }

    private func step() {
        var state = state.withLock { $0 }
        let next = min(range.upperBound, state.offset + Int64.random(in: 1...16384, using: &state.random))
        let answer = content.bytes(state.offset..<next).withUnsafeBytes { writer.transferDidReceive($0) }
        if answer == .taken { state.offset = next }
        state.isPaused = answer == .pause
        self.state.withLock { [state] in $0 = state }
        if state.offset == range.upperBound {
            writer.finish()
            whenDone()
        } else if !state.isPaused {
            engine.async { [self] in step() }
        }
    }
}

private final class StartedTransport: Transport {
    private let transfer: CrowdTransfer

    init(transfer: CrowdTransfer) { self.transfer = transfer }
    func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer { transfer }
    func shutdown() {}
}
