import Synchronization

/// The answer to one request, kept in memory.
package struct CollectedAnswer: Sendable {
    /// The head of the answer. Nil if no head came.
    package var head: ResponseHead?
    package var body: [UInt8] = []
    /// Whether the body is longer than the limit, so that it was not read to its end.
    package var isTooLarge = false
    /// Whether the time limit ended the transfer.
    package var isLate = false
    package var result = TransferResult(.cancelled)
}

extension Transport {
    /// Makes one request and returns at the end of its answer. If the calling task is cancelled, the transfer is
    /// cancelled too.
    /// - Parameters:
    ///   - largest: The maximum size of the body in bytes. A longer body ends the transfer.
    ///   - limit: The time limit from the request to the last byte.
    ///   - keepsBody: Returns whether the body after this head is kept, not discarded. Called on the transport's
    ///     thread.
    package func answer(
        to request: TransferRequest, atMost largest: Int, within limit: Duration, _ time: any TimeSource,
        keepsBody: @escaping @Sendable (ResponseHead) -> Bool = { _ in true }
    ) async -> CollectedAnswer {
        let sink = AnswerSink(largest: largest, keepsBody: keepsBody)
        let transfer = start(request, sink: sink)
        let timer = Task {
            try await time.sleep(for: limit)
            sink.noteLate()
            transfer.cancel()
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await sink.answer()
        } onCancel: {
            transfer.cancel()
        }
    }
}

private final class AnswerSink: TransferSink {
    private struct State {
        var answer = CollectedAnswer()
        var isOver = false
        var waiter: CheckedContinuation<CollectedAnswer, Never>?
    }

    private let largest: Int
    private let keepsBody: @Sendable (ResponseHead) -> Bool
    private let state = Mutex(State())

    init(largest: Int, keepsBody: @escaping @Sendable (ResponseHead) -> Bool) {
        self.largest = largest
        self.keepsBody = keepsBody
    }

    /// Returns the answer at the end of the transfer.
    func answer() async -> CollectedAnswer {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> CollectedAnswer? in
                if state.isOver { return state.answer }
                state.waiter = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    func noteLate() { state.withLock { if !$0.isOver { $0.answer.isLate = true } } }

    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition {
        state.withLock { $0.answer.head = head }
        return keepsBody(head) ? .accept : .discard
    }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        state.withLock { state in
            guard state.answer.body.count + bytes.count <= largest else {
                state.answer.isTooLarge = true
                return .refuse
            }
            state.answer.body.append(contentsOf: bytes)
            return .taken
        }
    }

    func transferDidFinish(_ result: TransferResult) {
        let (answer, waiter) = state.withLock { state in
            state.answer.result = result
            state.isOver = true
            defer { state.waiter = nil }
            return (state.answer, state.waiter)
        }
        waiter?.resume(returning: answer)
    }
}
