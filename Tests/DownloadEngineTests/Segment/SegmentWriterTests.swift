import DownloadTestSupport
import HTTPTypes
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Writers driven by hand, as a transport would drive them: the bytes on disk, and what happens to the buffers.
@Suite("SegmentWriter: bytes to the disk", .inTurn, .timeLimit(.minutes(1)))
struct SegmentWriterTests {
    static let size = WriterBench.bufferSize

    @Test(
        "The bytes on disk and the written ranges are exact, whatever the size of the pieces",
        arguments: [[1], [16384], [7, 16384, 1], [9999], [16384, 16383, 16385], [65536]])
    func exact(pieces: [Int]) async throws {
        let start: Int64 = 12_345
        let end = start + (pieces == [1] ? 5000 : 700_001)
        let content = Content(seed: 1, size: end + 10)
        let bench = try WriterBench()
        let file = try bench.file()
        let writer = bench.writer(start..<end, file: file)
        #expect(writer.transferDidReceiveHead(.part(start..<end, of: end + 10)) == .accept)
        let bytes = content.bytes(start..<end)
        var done = 0
        var turn = 0
        while done < bytes.count {
            let next = min(bytes.count, done + pieces[turn % pieces.count])
            switch bytes[done..<next].withUnsafeBytes({ writer.transferDidReceive($0) }) {
            case .taken: (done, turn) = (next, turn + 1)
            // All four buffers wait to be written.
            case .pause: await bench.drain()
            case .refuse: Issue.record("refused at \(done)"); return
            }
        }
        writer.finish()
        await bench.drain()
        #expect(file.written == ByteRanges([start..<end]))
        #expect(try bench.bytes(start..<end, of: file) == bytes)
        #expect(writer.position == end)
        #expect(writer.unfinished?.isEmpty == true)
        #expect(bench.poolIsWhole())
    }

    @Test("If a writer is cancelled while its transfer is being started, the transfer is cancelled, too")
    func cancelledAtStart() throws {
        let bench = try WriterBench()
        let writer = bench.writer()
        let transport = InterruptedTransport { writer.cancel() }
        writer.begin(transport, TransferRequest(url: try SourceURL.parse("http://example.org/file").get().url))
        #expect(transport.isCancelled.value)
        writer.finish(.cancelled)
    }

    @Test("Buffers end at multiples of their size in the file, so that writes stay aligned")
    func alignment() async throws {
        let bench = try WriterBench()
        let file = try bench.file()
        let writer = bench.writer(1000..<2 * Self.size, file: file)
        _ = writer.transferDidReceiveHead(.part(1000..<2 * Self.size, of: 2 * Self.size))
        let content = Content(seed: 2, size: 2 * Self.size)
        let answer = writer.deliver(content.bytes(1000..<Self.size + 500), pieces: [5000])
        #expect(answer.answer == .taken)
        await bench.drain()
        #expect(file.written == ByteRanges([1000..<Self.size]))
        writer.flush()
        await bench.drain()
        #expect(file.written == ByteRanges([1000..<Self.size + 500]))
        writer.finish(.cancelled)
        #expect(bench.poolIsWhole())
    }

    @Test("If the file comes when the buffer is just full, and nothing waits for the file, no byte is lost")
    func attachToFullBuffer() async throws {
        let bench = try WriterBench()
        let writer = bench.writer()
        let content = Content(seed: 31, size: 2 * Self.size + 7)
        let bytes = content.bytes(0..<content.size)
        #expect(writer.transferDidReceiveHead(.whole(content.size)) == .accept)
        #expect(writer.deliver(Array(bytes[..<Int(Self.size)])).answer == .taken)
        let file = try bench.file()
        writer.attach(file)
        #expect(writer.deliver(Array(bytes[Int(Self.size)...])).answer == .taken)
        #expect(writer.position == content.size)
        writer.finish()
        await bench.drain()
        #expect(try bench.bytes(0..<content.size, of: file) == bytes)
        #expect(bench.poolIsWhole())
    }

    @Test("Without a file a writer fills one buffer, then pauses until it has a file")
    func attach() async throws {
        let bench = try WriterBench()
        let writer = bench.writer()
        let transfer = try writer.begin()
        let content = Content(seed: 3, size: 3 * Self.size)
        #expect(writer.transferDidReceiveHead(.whole(content.size)) == .accept)
        let bytes = content.bytes(0..<content.size)
        let first = writer.deliver(bytes)
        #expect(first.answer == .pause)
        #expect(first.taken == Int(Self.size))
        let file = try bench.file()
        writer.attach(file)
        #expect(await transfer.calls.wait { $0.resumes == 1 })
        var taken = first.taken
        while taken < bytes.count {
            let more = writer.deliver(Array(bytes[taken...]))
            taken += more.taken
            if more.answer == .pause { await bench.drain() }
        }
        writer.finish()
        await bench.drain()
        #expect(file.written == ByteRanges([0..<content.size]))
        #expect(try bench.bytes(0..<content.size, of: file) == bytes)
        #expect(bench.poolIsWhole())
    }

    @Test("A body that fits into one buffer needs no file before its end", arguments: [true, false])
    func small(isAttachedAfterTheEnd: Bool) async throws {
        let bench = try WriterBench()
        let writer = bench.writer()
        let transfer = try writer.begin()
        let content = Content(seed: 4, size: 5000)
        #expect(writer.transferDidReceiveHead(.whole(5000)) == .accept)
        #expect(writer.deliver(content.bytes(0..<5000), pieces: [999]).answer == .taken)
        let file = try bench.file()
        if isAttachedAfterTheEnd { writer.finish() }
        writer.attach(file)
        if !isAttachedAfterTheEnd { writer.finish() }
        await bench.drain()
        #expect(try bench.bytes(0..<5000, of: file) == content.bytes(0..<5000))
        #expect(file.written == ByteRanges([0..<5000]))
        #expect(transfer.calls.value.resumes == 0)
        #expect(bench.poolIsWhole())
    }

    @Test("If the download of a writer is dropped, the writer returns its buffer", arguments: [true, false])
    func forgotten(isDiscarded: Bool) async throws {
        let bench = try WriterBench(buffers: 1)
        var messages = bench.control.messages.makeAsyncIterator()
        do {
            let writer = bench.writer()
            _ = writer.transferDidReceiveHead(.whole(100))
            _ = writer.deliver([UInt8](repeating: 1, count: 100))
            writer.finish()
            if isDiscarded { writer.discard() }
            guard case .segmentFinished? = await messages.next() else { Issue.record("no message"); return }
        }
        #expect(bench.poolIsWhole())
    }

    @Test(
        "The bytes of an overlap are compared and not written, wherever the overlap ends",
        arguments: [0, 1, 100, 5000, 16383, 16384, 20_000], [true, false])
    func overlap(distance: Int64, hasFile: Bool) async throws {
        // The overlap ends `distance` bytes before the end of a buffer, in the middle of a piece.
        let start = Self.size - distance
        let overlapStart = start - 60_000
        let end = start + 100_000
        let content = Content(seed: 5, size: end)
        let bench = try WriterBench(buffers: 3)
        let file = try bench.file()
        content.bytes(overlapStart..<start).withUnsafeBytes { file.write($0, at: overlapStart) }
        let writer = bench.writer(
            overlapStart..<end, file: hasFile ? file : nil, countedFrom: start,
            known: ResponseJudge.Version(validators: Validators(), total: end, contentType: nil))
        _ = try writer.begin()
        #expect(writer.transferDidReceiveHead(.part(overlapStart..<end, of: end)) == .accept)
        let bytes = content.bytes(overlapStart..<end)
        var delivered = writer.deliver(bytes)
        if delivered.answer == .pause {
            #expect(!hasFile)
            writer.attach(file)
            let more = writer.deliver(Array(bytes[delivered.taken...]))
            delivered = (more.answer, delivered.taken + more.taken)
        }
        if !hasFile { writer.attach(file) }
        #expect(delivered.answer == .taken)
        #expect(delivered.taken == bytes.count)
        writer.finish()
        await bench.drain()
        #expect(writer.position == end)
        #expect(file.written == ByteRanges([overlapStart..<end]))
        #expect(!file.differs)
        #expect(bench.control.progress(id: 1, state: .running).received == end - start)
        #expect(try bench.bytes(start..<end, of: file) == content.bytes(start..<end))
        #expect(bench.poolIsWhole())
    }

    @Test(
        "A different overlap ends the transfer before any byte after the overlap is written",
        arguments: [0, 30_000, 59_999])
    func overlapDiffers(at offset: Int) async throws {
        let start: Int64 = 100_000
        let content = Content(seed: 6, size: 600_000)
        var overlap = content.bytes(start - 60_000..<start)
        overlap[offset] ^= 1
        let bench = try WriterBench(buffers: 2)
        let file = try bench.file()
        overlap.withUnsafeBytes { file.write($0, at: start - 60_000) }
        let writer = bench.writer(start - 60_000..<600_000, file: file, countedFrom: start)
        #expect(writer.transferDidReceiveHead(.part(start - 60_000..<600_000, of: 600_000)) == .accept)
        // The first buffer reaches the write queue. Its overlap differs there, so none of its bytes are written, and
        // later bytes are refused.
        _ = writer.deliver(content.bytes(start - 60_000..<400_000), pieces: [7000])
        await bench.drain()
        #expect(file.differs)
        #expect(writer.deliver(content.bytes(400_000..<600_000)).answer == .refuse)
        #expect(writer.refusal == .fileRefused)
        writer.finish(.refused)
        await bench.drain()
        #expect(file.written == ByteRanges([start - 60_000..<start]))
        #expect(try bench.bytes(start - 60_000..<start, of: file) == overlap)
        #expect(bench.poolIsWhole())
    }

    @Test("A piece that goes beyond the announced length is refused whole, and the earlier pieces are kept")
    func tooLong() async throws {
        let bench = try WriterBench()
        let file = try bench.file()
        let writer = bench.writer(0..<1000, file: file)
        #expect(writer.transferDidReceiveHead(.part(0..<1000, of: 5000)) == .accept)
        #expect(writer.deliver([UInt8](repeating: 1, count: 600)).answer == .taken)
        #expect(writer.deliver([UInt8](repeating: 2, count: 401)).answer == .refuse)
        #expect(writer.refusal == .tooLong)
        writer.finish(.refused)
        await bench.drain()
        #expect(file.written == ByteRanges([0..<600]))
        #expect(writer.unfinished == 600..<1000)
        #expect(bench.poolIsWhole())
    }

    @Test("A failed file ends the transfer")
    func fileFailed() async throws {
        let bench = try WriterBench()
        let file = try bench.file()
        let writer = bench.writer(0..<1000, file: file)
        _ = writer.transferDidReceiveHead(.part(0..<1000, of: 1000))
        #expect(writer.deliver([1, 2, 3]).answer == .taken)
        file.fail(.fileFailed(.noSpace(needed: nil), path: file.path))
        #expect(writer.deliver([4]).answer == .refuse)
        #expect(writer.refusal == .fileRefused)
        writer.finish(.refused)
        await bench.drain()
        #expect(file.written.isEmpty)
        #expect(bench.poolIsWhole())
    }

    // MARK: Cut

    @Test(
        "A shortened transfer ends at its new end, with all bytes before that end",
        arguments: [50_000, 49_152] as [Int64])
    func shortened(end: Int64) async throws {
        let bench = try WriterBench()
        let file = try bench.file()
        let writer = bench.writer(0..<100_000, file: file)
        let transfer = try writer.begin()
        let content = Content(seed: 4, size: 200_000)
        _ = writer.transferDidReceiveHead(.part(0..<100_000, of: 200_000))
        #expect(writer.deliver(content.bytes(0..<20_000)).answer == .taken)
        #expect(writer.shorten(to: end) == end)
        #expect(transfer.calls.value.cancels == 0)
        #expect(writer.deliver(content.bytes(20_000..<100_000)).answer == .refuse)
        writer.finish(.refused)
        #expect(writer.refusal == .cut)
        #expect(writer.position == end)
        #expect(writer.unfinished?.isEmpty == true)
        #expect(writer.doubtful(after: .refused).isEmpty)
        await bench.drain()
        #expect(file.written == ByteRanges([0..<end]))
        #expect(try bench.bytes(0..<end, of: file) == content.bytes(0..<end))
        #expect(bench.poolIsWhole())
    }

    @Test("A transfer shortened to its position or less is cancelled, because it may be stalled")
    func shortenedBehind() async throws {
        let bench = try WriterBench()
        let writer = bench.writer(0..<100_000, file: try bench.file())
        let transfer = try writer.begin()
        _ = writer.transferDidReceiveHead(.part(0..<100_000, of: 200_000))
        _ = writer.deliver([UInt8](repeating: 1, count: 20_000))
        // The bytes that the writer has by then need not be requested elsewhere.
        #expect(writer.shorten(to: 10_000) == 20_000)
        #expect(transfer.calls.value.cancels == 1)
        writer.finish(.cancelled)
        #expect(writer.ended(TransferResult(.cancelled)).outcome == .cut)
        #expect(writer.position == 20_000)
        #expect(writer.unfinished?.isEmpty == true)
        await bench.drain()
        #expect(bench.poolIsWhole())
    }

    @Test("A cancelled transfer with chunks may lose its bytes, so another connection must fetch them")
    func shortenedChunks() async throws {
        let bench = try WriterBench()
        let writer = bench.writer(0..<100_000, file: try bench.file())
        _ = try writer.begin()
        var head = ResponseHead.part(0..<100_000, of: 200_000)
        head.fields[.transferEncoding] = "chunked"
        _ = writer.transferDidReceiveHead(head)
        _ = writer.deliver([UInt8](repeating: 1, count: 20_000))
        #expect(writer.shorten(to: 10_000) == 10_000)
        writer.finish(.cancelled)
        #expect(writer.doubtful(after: .cancelled) == 0..<20_000)
        await bench.drain()
    }
}

/// A transport that calls a closure after a transfer was started, and before `start` returns.
private final class InterruptedTransport: Transport, Transfer {
    let isCancelled = Observed(false)
    private let meanwhile: @Sendable () -> Void

    init(_ meanwhile: @escaping @Sendable () -> Void) { self.meanwhile = meanwhile }

    func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer {
        meanwhile()
        return self
    }

    func cancel() { isCancelled.update { $0 = true } }
    func resume() {}
    func shutdown() {}
}
