import DownloadCore
import Foundation
import HTTPTypes
import Synchronization

/// One question and its whole answer.
final class Exchange: TransferSink {
    struct Answer: Sendable {
        let head: ResponseHead
        let body: Data
    }

    enum Failure: Error {
        /// The transport's words.
        case transfer(DownloadError)
        case timedOut
        case tooLarge
        case cancelled
    }

    private struct State {
        var head: ResponseHead?
        var body = Data()
        var isTooLarge = false
        var isTimedOut = false
        var transfer: (any Transfer)?
        var isCancelled = false
        var result: Result<Answer, Failure>?
        var waiter: CheckedContinuation<Result<Answer, Failure>, Never>?
    }

    private let state = Mutex(State())
    private let limit: Int
    private let time: any TimeSource

    /// - Parameter limit: bytes of an answer: whoever listens on the socket may not fill our memory.
    init(limit: Int = 64 << 20, time: any TimeSource = SystemTime()) {
        self.limit = limit
        self.time = time
    }

    /// Asks, and waits for the end of the answer, but not for longer than `patience`.
    func ask(
        _ request: TransferRequest, over transport: any Transport, within patience: Duration
    ) async throws -> Answer {
        let timer = Task {
            try await time.sleep(for: patience)
            let transfer = state.withLock { state in
                state.isTimedOut = true
                return state.transfer
            }
            transfer?.cancel()
        }
        defer { timer.cancel() }
        let result = await withTaskCancellationHandler {
            begin(transport.start(request, sink: self))
            return await withCheckedContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.waiter = continuation }
                    return state.result
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let transfer = state.withLock { state in
                state.isCancelled = true
                return state.transfer
            }
            transfer?.cancel()
        }
        return try result.get()
    }

    private func begin(_ transfer: any Transfer) {
        let isLate = state.withLock { state in
            if state.result == nil { state.transfer = transfer }
            return state.isCancelled || state.isTimedOut
        }
        if isLate { transfer.cancel() }
    }

    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition {
        state.withLock { $0.head = head }
        return .accept
    }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        state.withLock { state in
            guard state.body.count + bytes.count <= limit else {
                state.isTooLarge = true
                return .refuse
            }
            state.body.append(contentsOf: bytes)
            return .taken
        }
    }

    func transferDidFinish(_ result: TransferResult) {
        let (waiter, outcome) = state.withLock { state in
            let outcome = Self.outcome(result.ending, state)
            state.result = outcome
            state.transfer = nil
            state.body = Data()
            defer { state.waiter = nil }
            return (state.waiter, outcome)
        }
        waiter?.resume(returning: outcome)
    }

    private static func outcome(_ ending: TransferResult.Ending, _ state: State) -> Result<Answer, Failure> {
        switch ending {
        case .complete:
            guard let head = state.head else { return .failure(.transfer(.unexpected("an answer without a head"))) }
            return .success(Answer(head: head, body: state.body))
        case .failed(let error): return .failure(state.isTimedOut ? .timedOut : .transfer(error))
        case .refused: return .failure(.tooLarge)
        case .cancelled: return .failure(state.isTimedOut ? .timedOut : .cancelled)
        }
    }
}
