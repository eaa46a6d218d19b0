import DownloadCore

/// A wrapper of a transport. During its transfers, the ``ManualTime`` does not leap to the end of the next wait,
/// because libcurl and servers take real time.
package final class TimedTransport: Transport {
    private let inner: any Transport
    private let time: ManualTime

    package init(_ inner: any Transport, time: ManualTime) {
        self.inner = inner
        self.time = time
    }

    package func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer {
        time.begin()
        return inner.start(request, sink: TimedSink(sink, time))
    }

    package func allowance(under limits: [RateLimit]) -> any RateAllowance { inner.allowance(under: limits) }

    package func dropConnections(except usable: Set<String>) { inner.dropConnections(except: usable) }

    package func shutdown() { inner.shutdown() }
}

private final class TimedSink: TransferSink {
    private let inner: any TransferSink
    private let time: ManualTime

    init(_ inner: any TransferSink, _ time: ManualTime) {
        self.inner = inner
        self.time = time
    }

    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition { inner.transferDidReceiveHead(head) }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition { inner.transferDidReceive(bytes) }

    func transferDidFinish(_ result: TransferResult) {
        inner.transferDidFinish(result)
        time.end()
    }
}
