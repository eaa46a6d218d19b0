import DownloadKit
import Foundation
import Synchronization

/// The common part of the commands that follow downloads: a ``Follower`` with its output and its signals.
struct Following {
    private let context: Context
    private let narrator: Narrator
    private let display: ProgressDisplay
    private let keys: ForegroundKeys?
    private let isQuiet: Bool

    /// - Parameters:
    ///   - auto: The form of the progress if there is no terminal.
    ///   - takesKeys: Whether keys change the downloads. Nothing else may read stdin then.
    init(
        _ context: Context, _ options: OutputOptions, _ choice: ProgressChoice?, auto: ProgressDisplay.Mode = .none,
        tellsStanding: Bool? = nil, keepsUnfinished: Bool = true, notifies: Bool = false, takesKeys: Bool = false,
        unpacks: Bool = false
    ) {
        let console = context.console
        self.context = context
        isQuiet = options.quiet
        let settings = context.knownSettings
        let choice = choice ?? settings.progress
        let style = Style.chosen(
            options.color ?? settings.color, isTerminal: console.errorsAreTerminal, environment: context.environment)
        let isTerminal = console.errorsAreTerminal && context.environment["TERM"] != "dumb"
        let mode = Self.mode(options.quiet ? .none : choice, isTerminal: isTerminal, auto: auto)
        narrator = Narrator(
            console: console, options: options, style: style, showsStanding: tellsStanding ?? (mode != .bar),
            showsRetries: console.errorsAreTerminal && mode == .none, keepsUnfinished: keepsUnfinished,
            unpacks: unpacks,
            notice: notifies && console.errorsAreTerminal ? TerminalNotice(environment: context.environment) : nil,
            time: context.time)
        display = ProgressDisplay(
            mode, console: console, style: style, taskbar: TaskbarProgress(environment: context.environment),
            time: context.time)
        // The programs that dlm replaces read no keys.
        keys = takesKeys && context.failures == nil ? ForegroundKeys(context, display) : nil
    }

    func follow(
        _ service: any SessionRouting, for purpose: Follower.Purpose, limit: Seconds? = nil, run: WorkerRun? = nil,
        _ ask: @escaping @Sendable (Follower) async throws -> Void
    ) async throws -> Int32 {
        let follower = Follower(
            service, narrator: narrator, display: display, purpose: purpose, fate: context.fate, run: run)
        context.signals.onInterrupt { [keys] signal in
            // A terminal may take no output, and what has come is saved nevertheless.
            async let paused: Void = follower.interrupt(Self.reason(signal))
            keys?.close()
            await paused
            await run?.finish(isHurried: true)
        }
        let status: Int32
        do {
            status = try await follower.follow(limit: limit, keys: keys, ask)
        } catch {
            await run?.finish()
            throw error
        }
        await run?.finish()
        context.failures?.record(follower.ledger.withLock(\.failures.last))
        // Writing the last lines of the manifest may fail after all downloads have ended.
        if let reason = run?.stopReason, !follower.ledger.withLock(\.isOver) { context.console.report(reason) }
        if let notice = run?.notice, !isQuiet { context.console.report(notice) }
        return run?.exitStatus(status) ?? status
    }

    private static func mode(
        _ choice: ProgressChoice, isTerminal: Bool, auto: ProgressDisplay.Mode
    ) -> ProgressDisplay.Mode {
        switch choice {
        case .auto: isTerminal ? .bar : auto
        case .bar: isTerminal ? .bar : .plain
        case .plain: .plain
        case .json: .json
        case .none: .none
        }
    }

    private static func reason(_ signal: Int32) -> DownloadState.PauseReason {
        switch signal {
        case SIGHUP: .hangup
        case SIGTERM: .terminate
        default: .interrupt
        }
    }
}
