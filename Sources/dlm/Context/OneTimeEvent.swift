/// An event that happens at most once, and for which one task waits.
struct OneTimeEvent: Sendable {
    private let sender: AsyncStream<Never>.Continuation
    private let stream: AsyncStream<Never>

    init() { (stream, sender) = AsyncStream.makeStream() }

    func send() { sender.finish() }

    /// Waits for the event. Returns early if the task is cancelled.
    func wait() async { for await _ in stream {} }
}
