import Dispatch
import DownloadCore
import Synchronization

/// A transfer that plays prepared calls to one sink, in order, on one queue. It ends at most once.
package final class ScriptedTransfer: Transfer {
    /// The times that a transfer takes.
    package struct Pace: Sendable {
        let time: any TimeSource
        let patience: Duration
        let head: Duration
        let piece: Duration

        /// - Parameters:
        ///   - patience: The time after which a stalled transfer fails, as libcurl lets it fail.
        ///   - head: The time until the answer begins.
        ///   - piece: The time before each piece of the body.
        package init(time: any TimeSource, patience: Duration, head: Duration, piece: Duration) {
            (self.time, self.patience, self.head, self.piece) = (time, patience, head, piece)
        }
    }

    private struct State {
        var nextPiece = 0
        var headIsDone = false
        var isPaused = false
        var isOver = false
        var received: Int64 = 0
    }

    private let playback: Playback
    private let pace: Pace?
    private let sink: any TransferSink
    private let queue = DispatchQueue(label: "dlm.scripted-transfer")
    private let state = Mutex(State())

    /// - Parameter pace: nil for a transfer that takes no time, and whose stall lasts until `cancel`.
    package init(_ playback: Playback, _ pace: Pace?, sink: any TransferSink) {
        self.playback = playback
        self.pace = pace
        self.sink = sink
    }

    package func begin() { schedule(after: pace?.head) }

    private func schedule(after delay: Duration?) {
        guard let pace, let delay, delay > .zero else { return queue.async { self.step() } }
        pace.time.schedule(after: delay, on: queue) { self.step() }
    }

    package func cancel() { queue.async { self.finish(.cancelled) } }

    package func resume() {
        queue.async {
            let wasPaused = self.state.withLock { state in
                defer { state.isPaused = false }
                return state.isPaused
            }
            if wasPaused { self.step() }
        }
    }

    /// Makes one call to the sink and schedules the next call on the queue, so that a cancel between the two takes
    /// effect.
    private func step() {
        let now = state.withLock { $0 }
        if now.isOver || now.isPaused { return }
        if !now.headIsDone {
            deliverHead()
        } else if now.nextPiece < playback.pieceCount {
            deliver(now.nextPiece)
        } else if let ending = playback.ending {
            finish(ending)
        } else if let pace {
            pace.time.schedule(after: pace.patience, on: queue) {
                self.finish(
                    .failed(.networkFailed(.stalled, TransportDiagnosis(code: 28, message: "the script stalled"))))
            }
        }
    }

    private func deliverHead() {
        state.withLock { $0.headIsDone = true }
        guard let head = playback.head else { return step() }
        switch sink.transferDidReceiveHead(head) {
        case .accept: schedule(after: pace?.piece)
        case .discard: finish(playback.ending ?? .complete)
        case .refuse: finish(.refused)
        }
    }

    private func deliver(_ index: Int) {
        let bytes = playback.piece(index)
        switch bytes.withUnsafeBytes({ sink.transferDidReceive($0) }) {
        case .taken:
            state.withLock {
                $0.nextPiece += 1
                $0.received += Int64(bytes.count)
            }
            schedule(after: pace?.piece)
        case .pause: state.withLock { $0.isPaused = true }
        case .refuse: finish(.refused)
        }
    }

    private func finish(_ ending: TransferResult.Ending) {
        let received = state.withLock { state -> Int64? in
            if state.isOver { return nil }
            state.isOver = true
            return state.received
        }
        guard let received else { return }
        var metrics = TransferMetrics()
        metrics.received = received
        metrics.httpVersion = playback.head?.httpVersion
        var result = TransferResult(ending, metrics: metrics)
        if ending == .complete { result.trailers = playback.trailers }
        sink.transferDidFinish(result)
    }
}
