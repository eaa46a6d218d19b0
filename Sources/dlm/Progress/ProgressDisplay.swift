import DownloadKit
import Foundation
import Synchronization

/// The display on stderr of the progress of a ``Follower``'s downloads: bars on a terminal, or lines at intervals.
final class ProgressDisplay: Sendable {
    enum Mode: Sendable {
        case bar, plain, json, none

        var pause: Double {
            switch self {
            case .bar: 1 / 8
            case .json: 0.5
            // A plain line is printed only every ``looksPerPlainLine`` frames, but each frame measures the speed.
            case .plain, .none: 1
            }
        }
    }

    private static let looksPerPlainLine = 5
    /// The longest usual time between two frames, in seconds. After a stop (Ctrl-Z), other programs may have written.
    private static let longestPause = 2.0

    typealias Below = @Sendable (_ size: (columns: Int, rows: Int), Style) -> [String]

    private struct State {
        var model = ProgressModel()
        var taskbar: TaskbarProgress
        var isFrozen = false
        var drawn = 0.0
        /// The frame that was drawn last, without the downloads that have ended after that.
        var frame = ProgressFrame(rows: [])
        var renderer: ProgressRenderer
        /// Makes the lines below the progress, of at most so many columns and rows.
        var below: Below = { _, _ in [] }
        var json = JSONProgress()
    }

    let mode: Mode
    let style: Style
    private let console: Console
    private let state: Mutex<State>
    private let time: any TimeSource
    private let start: ContinuousClock.Instant

    init(
        _ mode: Mode, console: Console, style: Style, taskbar: TaskbarProgress = TaskbarProgress(),
        time: any TimeSource = SystemTime()
    ) {
        self.time = time
        start = time.now
        self.mode = mode
        self.style = style
        self.console = console
        state = Mutex(State(taskbar: taskbar, renderer: ProgressRenderer(size: (80, 24), style: style)))
    }

    /// - Parameter tick: called once a second.
    func run(_ follower: Follower, tick: @Sendable () -> Void = {}) async {
        guard mode != .none else { return }
        var count = 0
        while !Task.isCancelled {
            let frame = await frame(follower)
            switch mode {
            case .bar: draw(frame)
            case .json: tell(frame)
            case .plain: if count > 0, count % Self.looksPerPlainLine == 0 { tell(frame) }
            case .none: return
            }
            count += 1
            if count.isMultiple(of: Int(1 / mode.pause)) { tick() }
            // Only cancellation ends the sleep early, and cancellation also ends the loop.
            try? await time.sleep(for: .seconds(mode.pause))
        }
    }

    /// Makes the column of names wide enough for these names, before the lines of the downloads are drawn.
    func expect(_ names: [String]) {
        guard mode == .bar else { return }
        let labels = names + (names.count > 1 ? ["\(names.count) downloads"] : [])
        let widest = labels.map { DisplayWidth.of(Escaping.line($0)) }.max() ?? 0
        state.withLock { $0.renderer.widest = max($0.renderer.widest, widest) }
    }

    /// Records the progress of a download that this process does not run.
    func update(_ progress: DownloadProgress) { state.withLock { $0.model.update(progress) } }

    func forget(_ id: DownloadID) {
        state.withLock { state in
            state.model.forget(id)
            guard mode == .bar, let index = state.frame.rows.firstIndex(where: { $0.id == id }) else { return }
            state.frame.rows.remove(at: index)
            console.outdateBlock(by: block(&state))
        }
    }

    func fail(_ snapshot: DownloadSnapshot) {
        if mode == .bar { state.withLock { $0.model.fail(snapshot) } }
    }

    /// Shows the last line of a download; on a terminal, the line of a complete download above the progress block.
    func settle(_ ended: EndedDownload) {
        switch mode {
        case .bar:
            guard let row = ProgressFrame.Row(settled: ended) else { return }
            let line = state.withLock { state in
                state.renderer.size = console.size
                return state.renderer.line(row)
            }
            console.note(line)
        case .json: console.note(state.withLock { $0.json.last(ended.snapshot) })
        case .plain, .none: return
        }
    }

    /// Ends the drawing of frames. The last frame stays on the terminal.
    func freeze() { console.keepBlock(control: ended()) }

    /// Ends the drawing of frames, and removes the last frame from the terminal.
    func end() { console.clearBlock(control: ended()) }

    private func ended() -> String {
        state.withLock { state in
            state.isFrozen = true
            return state.taskbar.end()
        }
    }

    private func draw(_ frame: ProgressFrame) {
        state.withLock { state in
            guard !state.isFrozen, console.isInForeground else { return }
            let now = seconds
            if now - state.drawn > Self.longestPause { console.keepBlock() }
            state.drawn = now
            state.frame = frame
            console.draw(block(&state), control: state.taskbar.text(frame))
        }
    }

    /// The downloads of the last frame, in the order of their rows.
    var ids: [DownloadID] { state.withLock { $0.frame.rows.map(\.id) } }

    /// Replaces the lines below the progress, and draws them.
    func show(_ below: @escaping Below) {
        state.withLock { state in
            state.below = below
            guard !state.isFrozen, console.isInForeground, !state.frame.rows.isEmpty else { return }
            console.draw(block(&state))
        }
    }

    /// Returns all lines. They never fill the terminal, because its first line would then scroll away.
    private func block(_ state: inout State) -> [String] {
        state.renderer.size = console.size
        let lines = state.renderer.lines(state.frame)
        return lines + state.below((console.size.columns, console.size.rows - lines.count - 1), style)
    }

    private func tell(_ frame: ProgressFrame) {
        state.withLock { state in
            guard !state.isFrozen else { return }
            if mode == .json {
                for line in state.json.lines(frame) { console.note(line) }
            } else {
                for line in PlainProgress.lines(frame) { console.report(line) }
            }
        }
    }

    private var seconds: Double { (time.now - start) / .seconds(1) }

    private func frame(_ follower: Follower) async -> ProgressFrame {
        let progress = await follower.service.progress()
        let (now, seconds) = (time.date, seconds)
        return state.withLock { state in
            follower.ledger.withLock { state.model.frame(progress, &$0, time: seconds, now: now) }
        }
    }
}
