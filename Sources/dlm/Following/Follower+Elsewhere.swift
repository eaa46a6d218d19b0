import DownloadKit
import Synchronization

/// Downloads that other processes run. The store's log reports their events; only downloads that are at work are read
/// from the store again and again.
extension Follower {
    /// The most downloads that are read from the store in one poll.
    private static let looks = 64

    /// The time between two polls, in seconds. A poll also notices that the process of a download has died.
    private var pause: Double {
        switch (display.mode, purpose.isWatch) {
        case (.bar, _): 0.25
        case (.json, _): 0.5
        case (_, false), (.plain, _): 1
        case (.none, true): 5
        }
    }

    func readLog() async {
        await logRequest.wait()
        guard !Task.isCancelled else { return }
        do {
            let log = try await service.log(since: nil)
            perform { try await $0.logOpened() }
            logOpening.send()
            async let _ = look()
            for try await entry in log { perform { try await $0.logged(entry) } }
            serviceEnded()
        } catch {
            perform { _ in throw error }
        }
    }

    func logOpened() async throws {
        isLogOpen.store(true, ordering: .relaxed)
        if case .watchAll = purpose {
            let selection = DownloadSelection(.states([.running, .waiting]), limit: Self.chunk)
            for snapshot in try await service.snapshots(selection) where snapshot.isAttended {
                ledger.withLock { $0.expect(snapshot.id, .elsewhere) }
            }
        }
        await look(at: ledger.withLock { $0.elsewhere.sorted() })
        try await rest()
    }

    func logged(_ entry: LogEntry) async throws {
        switch entry {
        case .didFinishEvents: return
        case .didLoseEvents: await look(at: ledger.withLock { $0.elsewhere.sorted() })
        case .event(let event):
            if case .watchAll = purpose, event.kind == .started {
                ledger.withLock { $0.expect(event.id, .elsewhere) }
            }
            let isFollowed = ledger.withLock { $0.elsewhere.contains(event.id) && !$0.isInterrupted }
            if isFollowed {
                await followed(event)
            } else if case .watch = purpose {
                ledger.withLock { $0.miss(event) }
            }
        }
        try await rest()
    }

    /// Begins to follow downloads as they were read from the store. Some of their events may have come already.
    func watched(_ snapshots: [DownloadSnapshot]) async {
        let missed = ledger.withLock { ledger in
            for snapshot in snapshots { ledger.expect(snapshot.id, .elsewhere) }
            return ledger.takeMissed()
        }
        await looked(snapshots.filter { missed[$0.id] == nil }, isFirst: true)
        for event in missed.values.joined().sorted(by: { $0.cursor < $1.cursor }) { await followed(event) }
        if !missed.isEmpty { await look(at: missed.keys.sorted()) }
    }

    private func followed(_ event: LoggedEvent) async {
        if event.kind == .removed { return removed(event.id, EventDocument(event)) }
        // The final report needs the whole record.
        if event.kind.isEnd { return await look(at: [event.id]) }
        narrator.tell(event)
        guard let progress = DownloadProgress(event) else { return }
        let state = progress.state
        ledger.withLock { $0.see(event.id, isAtWork: [.running, .waiting].contains(state.kind)) }
        if state.kind == .paused {
            // The event also names the session of a download that has just left that session.
            let isOfBackground = event.session.map { !SessionIdentifier.isForeground($0) } ?? false
            if !isOfBackground, state != .paused(.user), !purpose.isWatch { return await look(at: [event.id]) }
            stands(progress, isInterrupted: isOfBackground && state != .paused(.user))
        } else if state.kind.isActive {
            display.update(progress)
            goOn(event.id, event.name)
        }
    }

    /// Reads downloads that are at work in other processes from the store, again and again until the task is cancelled.
    private func look() async {
        while !Task.isCancelled {
            let ids = ledger.withLock { $0.looks(limit: Self.looks) }
            do {
                let (snapshots, gone) = try await service.found(ids)
                perform { follower in
                    for id in gone { follower.removed(id, nil) }
                    await follower.looked(snapshots)
                    try await follower.rest()
                }
            } catch {
                perform { follower in for id in ids { follower.lost(id, error) } }
            }
            // Only cancellation ends the sleep early, and cancellation also ends the loop.
            try? await narrator.time.sleep(for: .seconds(pause))
        }
    }

    func look(at ids: [DownloadID]) async {
        for part in ids.parts(of: Self.chunk) {
            do {
                let (snapshots, gone) = try await service.found(part)
                for id in gone { removed(id, nil) }
                await looked(snapshots)
            } catch {
                for id in part { lost(id, error) }
            }
        }
    }

    /// - Parameter isFirst: whether nothing was known of these downloads before.
    func looked(_ snapshots: [DownloadSnapshot], isFirst: Bool = false) async {
        var orphans: [DownloadID] = []
        for snapshot in snapshots {
            guard ledger.withLock({ $0.elsewhere.contains(snapshot.id) && !$0.isInterrupted }) else { continue }
            let isAtWork = snapshot.isAttended && [.running, .waiting].contains(snapshot.record.state.kind)
            ledger.withLock { $0.see(snapshot.id, isAtWork: isAtWork) }
            switch snapshot.record.state {
            case .completed where isFirst: wasComplete(snapshot)
            case .completed, .failed, .cancelled: end(snapshot)
            case .paused(.user): stands(snapshot.progress, isInterrupted: false)
            case .paused, .queued, .running, .waiting:
                if snapshot.record.session == nil, !purpose.isWatch {
                    display.update(snapshot.progress)
                    orphans.append(snapshot.id)
                } else if snapshot.isAttended, snapshot.record.state.kind.isActive {
                    display.update(snapshot.progress)
                    goOn(snapshot.id, snapshot.record.displayName)
                } else {
                    stands(snapshot.progress, isInterrupted: Idleness.isInterrupted(snapshot))
                }
            }
        }
        if !orphans.isEmpty { await takeOver(orphans) }
    }

    private func stands(_ progress: DownloadProgress, isInterrupted: Bool) {
        stand(progress.id, progress.name, isInterrupted: isInterrupted)
        if case .watchAll = purpose {
            display.forget(progress.id)
            ledger.withLock { $0.drop(progress.id) }
        } else {
            display.update(progress)
        }
    }

    /// Resumes, in this process, downloads whose own process is gone.
    private func takeOver(_ ids: [DownloadID]) async {
        guard case .get(let overrides) = purpose else { return }
        do {
            for download in try await service.resume(ids, overrides: overrides) {
                switch download {
                case .claimed(let record): ledger.withLock { $0.expect(record.id, .here) }
                case .running: continue
                case .completed(let record): end(DownloadSnapshot(record: record))
                }
            }
        } catch {
            if !ledger.withLock(\.isInterrupted) { for id in ids { lost(id, error) } }
        }
    }

    // MARK: Watching everything

    /// Ends the watching of all downloads when ``Idleness`` says that no download will start without a command.
    func rest() async throws {
        guard case .watchAll = purpose, isLogOpen.load(ordering: .relaxed) else { return }
        guard ledger.withLock(\.elsewhere.isEmpty) else { return idleness.withLock { $0.isBusy() } }
        let left = try await service.snapshots(DownloadSelection(.states(Idleness.states), limit: Self.chunk))
        guard idleness.withLock({ $0.isOver(left, now: narrator.time.now) }) else { return }
        if let snapshot = left.first(where: Idleness.isInterrupted) {
            stand(snapshot.id, snapshot.record.displayName, isInterrupted: true)
        }
        ledger.withLock { $0.hasAll = true }
    }
}
