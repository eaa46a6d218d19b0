import Foundation

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

extension DispatchQueue {
    /// Runs the body on the queue, and waits for its result, even if the task is cancelled.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            async { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }
}
