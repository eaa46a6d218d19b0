/// A signal for one waiting task. A signal that is sent while no task waits is kept for the next wait.
package struct Signal: Sendable {
    private let signals: AsyncStream<Void>
    private let sender: AsyncStream<Void>.Continuation

    package init() { (signals, sender) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    package func send() { sender.yield() }

    /// Waits for the next signal. Returns at once if the task is cancelled, now and in all later waits.
    package func wait() async {
        var iterator = signals.makeAsyncIterator()
        await iterator.next()
    }
}
