import DownloadKit
import Foundation
import Synchronization

/// Shows the progress of a ``Follower``'s downloads on stderr: bars on a terminal, or a plain line now and then.
final class ProgressDisplay: Sendable {
    enum Mode: Sendable {
        case bar, plain, none
    }

    private static let framesPerSecond = 8.0
    private static let secondsPerPlainLine = 5.0
    /// More finished lines at a time than this are told by their paths and the summary alone.
    private static let settledLines = 100

    private struct State {
        var model = ProgressModel()
        var isFrozen = false
    }

    let mode: Mode
    private let console: Console
    private let style: Style
    private let state = Mutex(State())
    private let start = ContinuousClock.now

    init(_ mode: Mode, console: Console, style: Style) {
        self.mode = mode
        self.console = console
        self.style = style
    }

    /// Draws until the task is cancelled.
    func run(_ follower: Follower) async {
        guard mode != .none else { return }
        let pause = mode == .bar ? 1 / Self.framesPerSecond : Self.secondsPerPlainLine
        while !Task.isCancelled {
            if mode == .bar { await draw(follower) }
            // Only cancellation ends the pause early, and the loop with it.
            try? await Task.sleep(for: .seconds(pause))
            if mode == .plain, !Task.isCancelled { await tell(follower) }
        }
    }

    /// A download of another process as it was seen.
    func update(_ progress: DownloadProgress) { state.withLock { $0.model.update(progress) } }

    func forget(_ id: DownloadID) { state.withLock { $0.model.forget(id) } }

    /// The line of a download that is complete scrolls away above the others.
    func settle(_ snapshot: DownloadSnapshot) {
        guard mode == .bar, let file = snapshot.record.completed else { return }
        let row = ProgressFrame.Row(
            name: snapshot.record.displayName, state: .complete, received: file.bytes, total: file.bytes,
            note: SettledText.note(snapshot.record))
        console.note(renderer.line(row))
    }

    /// No more frames: what is drawn stays until ``last(_:)``.
    func freeze() { state.withLock { $0.isFrozen = true } }

    /// Draws once more and leaves that standing.
    func last(_ follower: Follower) async {
        guard mode == .bar else { return }
        let lines = renderer.lines(await frame(follower))
        console.clearBlock()
        for line in lines { console.note(line) }
    }

    func end() {
        freeze()
        console.clearBlock()
    }

    private func draw(_ follower: Follower) async {
        let frame = await frame(follower)
        guard !state.withLock(\.isFrozen), !Task.isCancelled else { return }
        console.draw(frame.rows.isEmpty && frame.total == nil ? [] : renderer.lines(frame))
    }

    private func tell(_ follower: Follower) async {
        let frame = await frame(follower)
        guard !state.withLock(\.isFrozen) else { return }
        for line in PlainProgress.lines(frame) { console.report(line) }
    }

    private func frame(_ follower: Follower) async -> ProgressFrame {
        let progress = await follower.service.progress()
        let time = (ContinuousClock.now - start) / .seconds(1)
        return state.withLock { state in
            follower.ledger.withLock { state.model.frame(progress, &$0, time: time, now: Date()) }
        }
    }

    private var renderer: ProgressRenderer {
        let size = console.size
        return ProgressRenderer(width: size.columns, height: size.rows, style: style)
    }
}
