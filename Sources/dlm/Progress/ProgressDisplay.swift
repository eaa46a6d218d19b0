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
    /// After so many seconds without a frame the process was stopped, and others have written below the block.
    private static let longestPause = 2.0

    private struct State {
        var model = ProgressModel()
        var isFrozen = false
        /// Of the last frame, in seconds.
        var drawn = 0.0
        /// Of the widest name drawn.
        var widest = 0

        mutating func render<Drawn>(
            _ size: (columns: Int, rows: Int), _ style: Style, _ draw: (inout ProgressRenderer) -> Drawn
        ) -> Drawn {
            var renderer = ProgressRenderer(width: size.columns, height: size.rows, style: style, widest: widest)
            defer { widest = renderer.widest }
            return draw(&renderer)
        }
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

    /// Makes room for names before their lines are drawn.
    func expect(_ names: [String]) {
        guard mode == .bar else { return }
        let labels = names + (names.count > 1 ? ["\(names.count) downloads"] : [])
        let widest = labels.map { DisplayWidth.of(Escaping.line($0)) }.max() ?? 0
        state.withLock { $0.widest = max($0.widest, widest) }
    }

    /// A download of another process as it was seen.
    func update(_ progress: DownloadProgress) { state.withLock { $0.model.update(progress) } }

    func forget(_ id: DownloadID) { state.withLock { $0.model.forget(id) } }

    /// The line of a download that is complete scrolls away above the others.
    func settle(_ snapshot: DownloadSnapshot) {
        guard mode == .bar, let row = ProgressFrame.Row(settled: snapshot.record) else { return }
        let size = console.size
        console.note(state.withLock { $0.render(size, style) { $0.line(row) } })
    }

    /// No more frames: what is drawn stays.
    func freeze() {
        state.withLock { $0.isFrozen = true }
        console.keepBlock()
    }

    /// No more frames, and none left.
    func end() {
        state.withLock { $0.isFrozen = true }
        console.clearBlock()
    }

    private func draw(_ follower: Follower) async {
        let frame = await frame(follower)
        let size = console.size
        state.withLock { state in
            guard !state.isFrozen, console.isInForeground else { return }
            let now = seconds
            if now - state.drawn > Self.longestPause { console.keepBlock() }
            state.drawn = now
            console.draw(state.render(size, style) { $0.lines(frame) })
        }
    }

    private func tell(_ follower: Follower) async {
        let frame = await frame(follower)
        guard !state.withLock(\.isFrozen) else { return }
        for line in PlainProgress.lines(frame) { console.report(line) }
    }

    private var seconds: Double { (ContinuousClock.now - start) / .seconds(1) }

    private func frame(_ follower: Follower) async -> ProgressFrame {
        let progress = await follower.service.progress()
        let time = seconds
        return state.withLock { state in
            follower.ledger.withLock { state.model.frame(progress, &$0, time: time, now: Date()) }
        }
    }
}
