import DownloadKit
import Foundation

/// The interactive `dlm watch`: gives keys and events to a ``WatchModel``, performs its actions, draws its screen.
struct LiveWatch {
    private enum Input: Sendable {
        case keys([Key])
        case tick
        /// - Parameter again: The downloads that could not be read, and must be read again.
        case polled([DownloadSnapshot], again: [DownloadID])
        case logged(LogEntry)
        /// The details were read again.
        case shown
        case update(@Sendable (inout WatchModel) -> Void)
        case ended((any Error)?)
    }

    private static let framesPerSecond = 8
    private static let framesPerPoll = 2
    /// The most running and waiting downloads that are read in one poll.
    private static let polled = 64
    /// The number of finished downloads that are shown: the newest ones.
    private static let finished = 500

    private let service: any SessionRouting
    private let context: Context
    private let screen: TerminalScreen
    private let style: Style
    private let inputs: AsyncStream<Input>
    private let inbox: AsyncStream<Input>.Continuation

    init(_ service: any SessionRouting, _ context: Context, _ screen: TerminalScreen, style: Style) {
        self.service = service
        self.context = context
        self.screen = screen
        self.style = style
        (inputs, inbox) = AsyncStream.makeStream()
    }

    func run() async throws -> Int32 {
        var model = WatchModel(style: style, size: screen.size)
        context.signals.onInterrupt { [screen] _ in screen.close() }
        guard screen.open() else {
            throw DownloadError.fileFailed(.system(operation: "tcsetattr", errno: errno), path: "/dev/tty")
        }
        TerminalScreen.readKeys { [inbox] keys in inbox.yield(keys.map(Input.keys) ?? .ended(nil)) }
        let failure: (any Error)? = await withDiscardingTaskGroup { group in
            group.addTask { await follow() }
            group.addTask { await tick() }
            defer {
                screen.close()
                group.cancelAll()
            }
            var (frame, isPolling, isShowing) = (0, false, false)
            for await input in inputs {
                switch input {
                case .ended(let error): return error
                case .keys(let keys):
                    for action in keys.flatMap({ model.press($0) }) {
                        if action == .leave { return nil }
                        // An action that has begun is not cancelled when the user leaves.
                        group.addTask { await Task { await perform(action) }.value }
                    }
                    draw(&model)
                case .tick:
                    if context.console.isOutputClosed { return nil }
                    frame += 1
                    if screen.stopIfAsked() { model.isOutdated = true }
                    model.size = screen.size
                    if frame.isMultiple(of: Self.framesPerSecond) {
                        model.isOutdated = true
                        if case .details(let id, _, _) = model.page, !isShowing {
                            isShowing = true
                            group.addTask {
                                await perform(.show(id))
                                inbox.yield(.shown)
                            }
                        }
                    }
                    if !isPolling, frame.isMultiple(of: Self.framesPerPoll),
                        case let ids = model.polled(Self.polled), !ids.isEmpty
                    {
                        isPolling = true
                        group.addTask { await poll(ids) }
                    }
                    if model.isOutdated { draw(&model) }
                case .polled(let snapshots, let again):
                    isPolling = false
                    model.update(snapshots)
                    model.readAgain(again)
                case .shown: isShowing = false
                case .logged(.event(let event)): model.apply(event)
                case .logged(.didLoseEvents): group.addTask { await load() }
                case .logged(.didFinishEvents): break
                case .update(let change): change(&model)
                }
            }
            return nil
        }
        if let failure { throw failure }
        if let farewell = model.farewell { context.console.report(farewell) }
        return 0
    }

    private func update(_ change: @escaping @Sendable (inout WatchModel) -> Void) { inbox.yield(.update(change)) }

    private func draw(_ model: inout WatchModel) {
        screen.draw(model.screen(now: context.time.date), size: model.size, title: model.windowTitle)
        model.isOutdated = false
    }

    private func tick() async {
        while !Task.isCancelled {
            inbox.yield(.tick)
            // Only cancellation ends the sleep early, and cancellation also ends the loop.
            try? await context.time.sleep(for: .seconds(1) / Self.framesPerSecond)
        }
    }

    /// Reads the log before the downloads, so that no change between the two is missed.
    private func follow() async {
        do {
            let log = try await service.log(since: nil)
            async let _ = load()
            for try await entry in log { inbox.yield(.logged(entry)) }
            inbox.yield(.ended(DownloadError.sessionUnavailable(.shuttingDown)))
        } catch {
            inbox.yield(.ended(error))
        }
    }

    private func load() async {
        do {
            var ids = Set<DownloadID>()
            func read(_ part: [DownloadSnapshot]) {
                ids.formUnion(part.map(\.id))
                update { $0.update(part) }
            }
            // The parts become larger, because the list is sorted after each of them.
            var part: [DownloadSnapshot] = []
            try await service.eachPart(of: .states(List.unfinished)) { snapshots in
                part += snapshots
                if part.count < ids.count { return }
                read(part)
                part = []
            }
            read(part)
            let finished = DownloadSelection(.states([.completed, .cancelled]), limit: Self.finished)
            read(try await service.snapshots(finished))
            update { [ids] in $0.loaded(ids) }
        } catch {
            inbox.yield(.ended(error))
        }
    }

    private func poll(_ ids: [DownloadID]) async {
        do {
            let (snapshots, gone) = try await service.found(ids)
            if !gone.isEmpty { update { $0.remove(gone) } }
            inbox.yield(.polled(snapshots, again: []))
        } catch {
            report(error)
            inbox.yield(.polled([], again: ids))
        }
    }

    private func perform(_ action: WatchModel.Action) async {
        do {
            switch action {
            case .change(let ids, let change):
                let changed = try await service.change(ids, change)
                update { $0.changed(Self.word(change), changed) }
                try await showOnly(ids)
            case .resume(let ids):
                // The downloads must go on when the display ends.
                var overrides = RequestOverrides()
                overrides.inBackground = true
                let claimed = try await service.resume(ids, overrides: overrides)
                update { $0.resumed(claimed) }
                try await showOnly(ids)
            case .remove(let ids):
                try await service.remove(ids, deletesFile: false)
                update {
                    $0.remove(ids)
                    $0.say("\(ids.count) removed")
                }
            case .show(let id): try await showOnly([id])
            case .copy(let text): screen.copy(text)
            case .add(let lines): try await add(lines)
            case .leave: break
            }
        } catch DownloadError.noSuchDownload(let id) {
            update { $0.remove([id]) }
            if let rest = action.without(id) { await perform(rest) }
        } catch {
            report(error)
        }
    }

    /// Reads the details of a download, which are shown if its page is open. Does nothing for several downloads.
    private func showOnly(_ ids: [DownloadID]) async throws {
        guard let id = ids.first, ids.count == 1 else { return }
        let snapshot = try await service.snapshot(id, isDetailed: true)
        let fate = context.fate(snapshot.record)
        update { $0.show(DownloadDocument(snapshot, fate: fate, now: context.time.date)) }
    }

    /// Adds URLs to the background session, with the settings and the working folder of this command.
    private func add(_ lines: [String]) async throws {
        let maker = try RequestMaker(Get(), settings: context.settings(), workingFolder: context.workingFolder)
        let urls = try await AddressChoice(maker: maker, context: context, isQuiet: true).urls(lines)
        var refused: [String] = []
        let requests = maker.requests(zip(1..., urls).map { InputList.Line(number: $0, text: $1) }) {
            refused.append($0.message)
        }
        let proxies = try CarriedProxies(context.environment)
        let added = try await Background(service).record(proxies.applied(to: requests), nil)?() ?? []
        update { [refused] in $0.added(added, refused: refused) }
    }

    private func report(_ error: any Error) {
        let text = (error as? DownloadError).map(Redaction.describe) ?? "\(error)"
        update { $0.say(text) }
    }

    private static func word(_ change: DownloadChange) -> String {
        switch change {
        case .pause: "paused"
        case .cancel: "cancelled"
        case .priority(let priority): "priority \(priority)"
        case .rateLimit(let limit): "limit \(ByteRate.text(limit))"
        case .url, .mirrors: "new URL"
        }
    }
}
