import Synchronization

/// The short way of a new file that comes whole in one buffer: no task of its own, no partial file, and the disk and the
/// store are asked for many at once. At anything else it becomes an ordinary attempt, with what it has so far.
final class SmallFileAttempt: RunnerAttendant {
    private enum Stage: @unchecked Sendable {
        /// The runner waits; whoever takes it out of here has it alone.
        case transferring(DownloadRunner)
        /// All of it came; there is nothing to stop or change any more.
        case whole
        case left
    }

    private let stage: Mutex<Stage>
    private let finisher: SmallFileFinisher

    private init(_ runner: DownloadRunner, _ finisher: SmallFileFinisher) {
        stage = Mutex(.transferring(runner))
        self.finisher = finisher
    }

    /// Begins it. The runner must not be used by anybody else any more.
    static func begin(_ runner: DownloadRunner, _ finisher: SmallFileFinisher) {
        let control = runner.control
        let attempt = SmallFileAttempt(runner, finisher)
        control.attend(attempt)
        do {
            try runner.beginScout()
        } catch {
            // The task finds the same, and says so.
            attempt.leave()
        }
    }

    func takes(_ message: RunnerControl.Message) -> Bool {
        if case .segmentFinished(let scout, let result) = message {
            let file = stage.withLock { stage -> WholeSmallFile? in
                guard case .transferring(let runner) = stage, runner.isWholeSmallFile(scout, result) else { return nil }
                stage = .whole
                return WholeSmallFile(runner: runner, scout: scout, result: result)
            }
            if let file {
                finisher.add(file)
                return true
            }
        }
        let isWhole = stage.withLock { if case .whole = $0 { true } else { false } }
        if isWhole, case .change(_, let answer) = message { answer.resume(returning: nil) }
        if !isWhole { leave() }
        return isWhole
    }

    private func leave() {
        let runner = stage.withLock { stage -> DownloadRunner? in
            guard case .transferring(let runner) = stage else { return nil }
            stage = .left
            return runner
        }
        guard let runner else { return }
        runner.control.attend(nil)
        finisher.goOn(runner)
    }
}

/// A small file in memory, with the runner that would go on with it in the ordinary way; used by one thread at a time.
struct WholeSmallFile: @unchecked Sendable {
    let runner: DownloadRunner
    let scout: SegmentWriter
    let result: TransferResult
}
