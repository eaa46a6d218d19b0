import CSystem
import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The keys of a foreground command: reads them from the terminal on which the progress is shown, and performs them.
final class ForegroundKeys: Sendable {
    private enum Input: Sendable {
        case keys([Key])
        case tick
    }

    private struct State {
        var keys = ProgressKeys()
        var isOpen = true
        var wasEntered = false
        /// Whether a tick waits to be handled.
        var isTicking = false
    }

    private let context: Context
    private let display: ProgressDisplay
    private let state = Mutex(State())
    private let inputs: AsyncStream<Input>
    private let inbox: AsyncStream<Input>.Continuation

    /// Returns nil if stdin is not the terminal that shows the progress.
    init?(_ context: Context, _ display: ProgressDisplay) {
        guard display.mode == .bar, context.console.errorsAreInput else { return nil }
        self.context = context
        self.display = display
        (inputs, inbox) = AsyncStream.makeStream()
    }

    func run(_ follower: Follower) async {
        TerminalScreen.readKeys(while: { [weak self] in self?.holdTerminal() ?? false }) { [inbox] keys in
            if let keys { inbox.yield(.keys(keys)) } else { inbox.finish() }
        }
        defer { close() }
        for await input in inputs {
            switch input {
            case .keys(let keys):
                for action in state.withLock({ $0.keys.press(keys, display.ids) }) { await perform(action, follower) }
            case .tick:
                state.withLock { $0.isTicking = false }
                if let id = state.withLock(\.keys.shown) { await perform(.show(id), follower) }
            }
            draw()
        }
    }

    /// Asks for details to be read again. No second reading begins before the end of the first one.
    func tick() {
        let isDue = state.withLock { state in
            if state.keys.shown == nil || state.isTicking { return false }
            state.isTicking = true
            return true
        }
        if isDue { inbox.yield(.tick) }
    }

    /// Restores the terminal. What is typed from now on is for the shell.
    func close() {
        let mustLeave = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen && state.wasEntered
        }
        // The terminal may take no output, and others wait for the lock.
        if mustLeave { dlm_screen_leave() }
        display.show { _, _ in [] }
    }

    /// Makes the terminal give keys one by one, if that was not done since the start or the last stop of the process.
    /// Returns false if keys are not read any more.
    private func holdTerminal() -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            guard TerminalScreen.isInForeground else { return true }
            if state.wasEntered, dlm_screen_was_continued() == 0 { return true }
            // Lines that were typed or pasted before are for the shell, so they stay where they are.
            let isFirst = !state.wasEntered
            state.isOpen = !(isFirst && Self.hasInput) && dlm_screen_enter(1) == 0
            if state.isOpen, isFirst, Self.hasInput {
                dlm_screen_leave()
                state.isOpen = false
            }
            state.wasEntered = true
            return state.isOpen
        }
    }

    private static var hasInput: Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return poll(&input, 1, 0) > 0
    }

    private func draw() {
        let keys = state.withLock(\.keys)
        display.show { size, style in keys.lines(columns: size.columns, height: size.rows, style) }
    }

    private func perform(_ action: ProgressKeys.Action, _ follower: Follower) async {
        do {
            let (ids, isPaused) = follower.ledger.withLock { ledger in
                let ids = ledger.here.union(ledger.elsewhere)
                return (ids.sorted(), ids.isSubset(of: ledger.standing))
            }
            switch action {
            case .pause where isPaused:
                _ = try await follower.service.resume(ids, overrides: RequestOverrides())
            case .pause: _ = try await follower.service.change(ids, .pause)
            case .limit(let limit): _ = try await follower.service.change(ids, .rateLimit(limit))
            case .background:
                let proxies = try CarriedProxies(context.environment)
                if let refusal = try await follower.moveToBackground(proxies) { say(refusal) }
            case .show(let id):
                let snapshot = try await follower.service.snapshot(id, isDetailed: true)
                let document = DownloadDocument(snapshot, now: context.time.date)
                let lines = ShowText(document: document, style: Style(isUnicode: display.style.isUnicode)).lines
                _ = state.withLock { $0.keys.show(lines, of: id) }
            }
        } catch {
            say((error as? DownloadError).map(Redaction.describe) ?? "\(error)")
        }
    }

    private func say(_ text: String) { state.withLock { $0.keys.say(text) } }
}
