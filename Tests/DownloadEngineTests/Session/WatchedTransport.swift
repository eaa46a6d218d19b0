import DownloadCore
import DownloadTestSupport
import Synchronization

/// A transport that forwards to another one, records the bytes taken, and calls closures at pieces and cancellations.
final class WatchedTransport: Transport {
    private let inner: FakeTransport
    /// The bytes of bodies that sinks took, of all transfers together.
    let taken = Observed<Int64>(0)
    /// Called after each piece, with the number of pieces so far.
    let onTaken = Mutex<(@Sendable (Int) -> Void)?>(nil)
    private let pieces = Atomic(0)
    private let load = Mutex((now: 0, most: 0))
    /// Called before each cancellation is forwarded.
    let onCancel = Mutex<(@Sendable () -> Void)?>(nil)

    private let pace: Pace?
    private let time: ManualTime?

    init(_ inner: FakeTransport, pace: Pace? = nil, time: ManualTime? = nil) {
        self.time = time
        self.inner = inner
        self.pace = pace
    }

    func allowance(under limits: [RateLimit]) -> any RateAllowance {
        guard let pace else { return inner.allowance(under: limits) }
        pace.limits.update { $0.append(limits) }
        return pace
    }

    var requests: [TransferRequest] { inner.requests }
    /// The highest number of concurrent transfers.
    var mostAtOnce: Int { load.withLock { $0.most } }

    func waitForRequests(_ count: Int, atMost limit: Duration = .seconds(45)) async -> Bool {
        await inner.waitForRequests(count, atMost: limit)
    }

    func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer {
        time?.begin()
        load.withLock { load in
            load.now += 1
            load.most = max(load.most, load.now)
        }
        return WatchedTransfer(inner.start(request, sink: WatchedSink(sink, self)), self)
    }

    /// The sets of usable addresses that the session passed on.
    let left = Observed<[Set<String>]>([])

    func dropConnections(except usable: Set<String>) { left.update { $0.append(usable) } }

    func shutdown() { inner.shutdown() }

    fileprivate func isFinishing() { load.withLock { $0.now -= 1 } }

    fileprivate func finished() { time?.end() }

    fileprivate func took(_ count: Int) {
        taken.update { $0 += Int64(count) }
        let number = pieces.add(1, ordering: .relaxed).newValue
        onTaken.withLock { $0 }?(number)
    }
}

private final class WatchedTransfer: Transfer {
    private let inner: any Transfer
    private let transport: WatchedTransport

    init(_ inner: any Transfer, _ transport: WatchedTransport) {
        self.inner = inner
        self.transport = transport
    }

    func cancel() {
        transport.onCancel.withLock { $0 }?()
        inner.cancel()
    }

    func resume() { inner.resume() }
}

private final class WatchedSink: TransferSink {
    private let inner: any TransferSink
    private let transport: WatchedTransport

    init(_ inner: any TransferSink, _ transport: WatchedTransport) {
        self.inner = inner
        self.transport = transport
    }

    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition { inner.transferDidReceiveHead(head) }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        let answer = inner.transferDidReceive(bytes)
        if answer == .taken { transport.took(bytes.count) }
        return answer
    }

    func transferDidFinish(_ result: TransferResult) {
        transport.isFinishing()
        inner.transferDidFinish(result)
        transport.finished()
    }
}
