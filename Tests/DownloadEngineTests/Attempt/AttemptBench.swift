import DownloadStorage
import DownloadSystem
import DownloadTestSupport
import Foundation
import Synchronization

@testable import DownloadCore
@testable import DownloadEngine

/// One attempt, with a disk, a store and a transport that the test controls.
final class AttemptBench: Sendable {
    let folder: TemporaryFolder
    let disk = DiskWriter(pool: BufferPool(capacity: 8))
    let store: any DownloadStore
    let events = Observed<[DownloadEvent]>([])

    init(store: any DownloadStore = SQLiteDownloadStore.inMemory()) throws {
        folder = try TemporaryFolder()
        self.store = store
    }

    /// Adds a download, and returns its record, owned by the session "own".
    func record(
        _ path: String = "/file.bin", _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> DownloadRecord {
        let url = try SourceURL.parse("http://example.org\(path)").get().url
        var request = DownloadRequest(url: url, destination: Destination(folder: folder.path))
        change(&request)
        var record = try await store.add([request], session: "own")[0].record
        record.move(to: .running)
        return record
    }

    /// Returns a record as an earlier attempt left it, with `part` of the content on disk.
    func record(with part: Range<Int64>, of content: Content, validators: Validators) async throws -> DownloadRecord {
        var record = try await record()
        let file = try PartialFile.open(folder: folder.path, name: "file.bin", mode: .create, followsLinks: true)
        content.bytes(part).withUnsafeBytes { file.write($0, at: part.lowerBound) }
        file.unlock()
        record.fileName = "file.bin"
        record.resume.total = content.size
        record.resume.validators = validators
        record.resume.written = file.written
        record.resume.file = file.identity
        record.resume.device = file.device
        record.resume.bootID = FileStatus.bootID
        return record
    }

    func run(
        _ record: DownloadRecord, on transport: any Transport, _ control: AttemptControl? = nil
    ) async -> (outcome: AttemptTask.Outcome, record: DownloadRecord) {
        var parts = SessionParts(
            store: store, identifier: "own", version: "test",
            resources: SessionResources(start: { transport }, end: {}))
        (parts.watchesWriters, parts.time) = (false, disk.time)
        let context = AttemptContext(
            parts: parts, transport: transport, disk: disk,
            committer: Committer(store: store, session: "own", time: disk.time) { _, _ in },
            requests: SessionRequests(userAgent: "dlm/test"), transfersEnded: { _, _ in },
            announce: { [events] event in events.update { $0.append(event) } })
        let attempt = AttemptTask(
            record: record, context: context, control: control ?? AttemptControl(record: record),
            prefersMultiplexing: false)
        let outcome = await attempt.run()
        return (outcome, attempt.record)
    }

    func freeBuffers() -> Int {
        var taken: [PoolBuffer] = []
        while let buffer = disk.pool.take(whenFree: {}) { taken.append(buffer) }
        for buffer in taken { disk.pool.give(buffer) }
        return taken.count
    }
}

/// A transport whose `start` returns only after all bytes that the sink accepts have been delivered. The sink
/// gets them while the attempt still calls `start`, so the attempt handles them only after that.
final class EagerTransport: Transport {
    private let script: @Sendable (TransferRequest) -> (head: ResponseHead, body: [UInt8])
    let onStart = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ script: @escaping @Sendable (TransferRequest) -> (head: ResponseHead, body: [UInt8])) {
        self.script = script
    }

    func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer {
        let answer = script(request)
        let transfer = EagerTransfer(sink: sink, body: answer.body)
        onStart.withLock { $0 }?()
        switch sink.transferDidReceiveHead(answer.head) {
        case .accept: transfer.deliver()
        case .discard: transfer.end(.complete)
        case .refuse: transfer.end(.refused)
        }
        return transfer
    }

    func shutdown() {}
}

private final class EagerTransfer: Transfer {
    private let state: Mutex<(sink: (any TransferSink)?, rest: [UInt8])>

    init(sink: any TransferSink, body: [UInt8]) { state = Mutex((sink, body)) }

    func deliver() {
        while let (sink, rest) = state.withLock({ state in state.sink.map { ($0, state.rest) } }) {
            if rest.isEmpty { return end(.complete) }
            let piece = Array(rest.prefix(16384))
            switch piece.withUnsafeBytes({ sink.transferDidReceive($0) }) {
            case .taken: state.withLock { $0.rest.removeFirst(piece.count) }
            case .pause: return
            case .refuse: return end(.refused)
            }
        }
    }

    func end(_ ending: TransferResult.Ending) {
        let sink = state.withLock { state in
            defer { state.sink = nil }
            return state.sink
        }
        sink?.transferDidFinish(TransferResult(ending))
    }

    func cancel() { end(.cancelled) }
    func resume() { deliver() }
}
