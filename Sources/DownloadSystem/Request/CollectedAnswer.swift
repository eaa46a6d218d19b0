import DownloadCore
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
        let (answers, end) = AsyncStream.makeStream(of: CollectedAnswer.self)
        let sink = AnswerSink(largest: largest, keepsBody: keepsBody, end: end)
        let transfer = start(request, sink: sink)
        let timer = Task {
            try await time.sleep(for: limit)
            sink.noteLate()
            transfer.cancel()
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            // A cancelled task does not wait for the end of its transfer.
            await answers.first { _ in true } ?? CollectedAnswer()
        } onCancel: {
            transfer.cancel()
        }
    }
}

private final class AnswerSink: TransferSink {
    private let largest: Int
    private let keepsBody: @Sendable (ResponseHead) -> Bool
    /// Takes the answer at the end of the transfer.
    private let end: AsyncStream<CollectedAnswer>.Continuation
    private let answer = Mutex(CollectedAnswer())

    init(
        largest: Int, keepsBody: @escaping @Sendable (ResponseHead) -> Bool,
        end: AsyncStream<CollectedAnswer>.Continuation
    ) {
        self.largest = largest
        self.keepsBody = keepsBody
        self.end = end
    }

    func noteLate() { answer.withLock { $0.isLate = true } }

    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition {
        answer.withLock { $0.head = head }
        return keepsBody(head) ? .accept : .discard
    }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        answer.withLock { answer in
            guard answer.body.count + bytes.count <= largest else {
                answer.isTooLarge = true
                return .refuse
            }
            answer.body.append(contentsOf: bytes)
            return .taken
        }
    }

    func transferDidFinish(_ result: TransferResult) {
        answer.withLock { answer in
            answer.result = result
            end.yield(answer)
        }
        end.finish()
    }
}
