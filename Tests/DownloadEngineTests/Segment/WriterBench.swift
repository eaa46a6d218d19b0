import DownloadSystem
import DownloadTestSupport
import Foundation
import Synchronization

@testable import DownloadCore
@testable import DownloadEngine

/// A disk, a pool and a file for segment writers that a test drives by hand, as a transport would.
final class WriterBench: Sendable {
    static let bufferSize = Int64(BufferPool.bufferSize)

    let folder: TemporaryFolder
    let disk: DiskWriter
    let control: AttemptControl
    private let capacity: Int

    init(buffers capacity: Int = 4, time: any TimeSource = SystemTime()) throws {
        folder = try TemporaryFolder()
        self.capacity = capacity
        disk = DiskWriter(pool: BufferPool(capacity: capacity), time: time)
        let url = try SourceURL.parse("http://example.org/file").get().url
        control = AttemptControl(
            record: DownloadRecord(
                id: 1, request: DownloadRequest(url: url, destination: Destination(folder: folder.path)),
                created: Date()))
    }

    func file(_ name: String = "file") throws -> PartialFile {
        try PartialFile.open(folder: folder.path, name: name, mode: .create, followsLinks: true)
    }

    func writer(
        _ asked: Range<Int64>? = nil, file: PartialFile? = nil, countedFrom: Int64 = 0,
        known: ResponseJudge.Version? = nil, connection: Int = 0
    ) -> SegmentWriter {
        let judge = ResponseJudge(
            start: asked?.lowerBound ?? 0, end: asked?.upperBound, asksRange: true, known: known)
        return SegmentWriter(
            connection: connection, judge: judge, file: file, countedFrom: countedFrom, disk: disk, control: control)
    }

    /// Waits for every write so far.
    func drain() async {
        await withCheckedContinuation { continuation in disk.afterWrites { continuation.resume() } }
    }

    /// Returns the bytes of the range on disk.
    func bytes(_ range: Range<Int64>, of file: PartialFile) throws -> [UInt8] { try file.read(range) }

    /// Returns the number of free buffers, by taking and returning them.
    func freeBuffers() -> Int { freeBuffers(of: disk.pool) }

    private func freeBuffers(of pool: BufferPool) -> Int {
        var taken: [PoolBuffer] = []
        while let buffer = pool.take() { taken.append(buffer) }
        for buffer in taken { pool.give(buffer) }
        return taken.count
    }

    /// Returns whether no buffer is lost. Call it only after all writers have ended.
    func poolIsWhole() -> Bool {
        freeBuffers() == capacity && freeBuffers(of: disk.smallPool) == BufferPool.smallCapacity
    }
}

/// A transfer whose sink is called by a test. Counts the calls of the writer.
final class HandTransfer: Transfer {
    let calls = Observed((resumes: 0, cancels: 0))

    func cancel() { calls.update { $0.cancels += 1 } }
    func resume() { calls.update { $0.resumes += 1 } }
}

/// A transport whose transfer does nothing by itself.
final class HandTransport: Transport {
    private let transfer: HandTransfer

    init(_ transfer: HandTransfer) { self.transfer = transfer }

    func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer { transfer }
    func shutdown() {}
}

extension SegmentWriter {
    /// Begins a transfer whose sink is called by the test.
    func begin() throws -> HandTransfer {
        let transfer = HandTransfer()
        let url = try SourceURL.parse("http://example.org/file").get().url
        begin(HandTransport(transfer), TransferRequest(url: url))
        return transfer
    }

    /// Delivers pieces until one is not taken. Returns the last answer and the number of bytes taken.
    func deliver(_ bytes: [UInt8], pieces: [Int] = [16384]) -> (answer: BodyDisposition, taken: Int) {
        var done = 0
        var turn = 0
        while done < bytes.count {
            let next = min(bytes.count, done + pieces[turn % pieces.count])
            let answer = bytes[done..<next].withUnsafeBytes { transferDidReceive($0) }
            guard answer == .taken else { return (answer, done) }
            done = next
            turn += 1
        }
        return (.taken, done)
    }

    func finish(_ ending: TransferResult.Ending = .complete) { transferDidFinish(TransferResult(ending)) }
}
