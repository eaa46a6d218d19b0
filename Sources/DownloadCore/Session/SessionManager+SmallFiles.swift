import Foundation

/// What the small files of a session ask of it (``SmallFileFinisher``), and which of them are next (``ReadyFiles``).
extension SessionManager {
    var callsOfSmallFiles: SmallFileFinisher.Calls {
        SmallFileFinisher.Calls(
            goOn: { runner in self.run(runner) },
            begin: { records in for record in records { await self.beginAgain(record) } },
            slotsMoved: { await self.fill() },
            unrecorded: { records, error in await self.keepUnrecorded(records, error) },
            ended: { attempts in await self.ended(attempts) })
    }

    /// In the ordinary way, with all that was asked of the first attempt.
    private func beginAgain(_ queued: DownloadRecord) {
        guard let context, let entry = entries[queued.id] else { return }
        let control = RunnerControl(record: queued)
        entries[queued.id]?.control = control
        if entry.wish != nil || stopReason != nil { control.stop() }
        run(DownloadRunner(record: queued, context: context, control: control, prefersMultiplexing: false))
    }

    /// Small files that have ended.
    private func ended(_ attempts: [SmallFileAttempt]) async {
        learnSlots()
        var events: [DownloadEvent] = []
        events.reserveCapacity(2 * attempts.count)
        for attempt in attempts {
            leave(attempt.record)
            events.append(.didStart(DownloadSnapshot(record: attempt.whole ?? attempt.started), atOffset: 0))
            events.append(endEvent(of: attempt.record))
        }
        broadcaster.send(events)
        await fill()
    }

    // MARK: The next ones

    /// Learns which slots were passed on: what follows goes by them.
    func learnSlots() {
        for news in smallFiles?.ready.takeNews() ?? [] {
            switch news {
            case .passed(let id, let next):
                scheduler.pass(from: id, to: next)
                entries[next]?.record.move(to: .running)
            case .freed(let id): scheduler.ended(id)
            }
        }
    }

    /// Gives free slots to those that are next, unless others come first by now.
    func startReady() {
        guard let smallFiles, let first = smallFiles.ready.first else { return }
        if scheduler.hasOneBefore(first.id, priority: first.started.request.priority) { return recallReady() }
        while stopReason == nil, !isFinishing, finishing < Self.finishingLimit, !smallFiles.isFull,
            scheduler.hasFreeSlot(for: first.origin), let attempt = smallFiles.ready.takeFirst()
        {
            scheduler.begin(attempt.id, of: attempt.origin)
            entries[attempt.id]?.record.move(to: .running)
            attempt.begin()
        }
    }

    /// Has the next small files follow those that run.
    func makeReady() {
        guard let smallFiles, smallFiles.isUsable, stopReason == nil, !isFinishing else { return }
        let ready = smallFiles.ready
        let room = ReadyFiles.most - ready.count
        let ids = scheduler.next(room, of: ready.first?.origin) { id in
            candidates[id]?.forgetLostFile()
            return retries[id] == nil && candidates[id]?.mayBeSmall == true
        }
        let files = ids.compactMap { id in
            candidates.removeValue(forKey: id).map {
                attempt($0, smallFiles, prefersMultiplexing: $0.request.url.scheme == "https")
            }
        }
        ready.add(files, areAll: ids.count < room)
    }

    func attempt(
        _ record: DownloadRecord, _ smallFiles: SmallFileFinisher, prefersMultiplexing: Bool
    ) -> SmallFileAttempt {
        var running = record
        running.move(to: .running)
        let attempt = SmallFileAttempt(
            running, origin: record.request.url.origin, prefersMultiplexing: prefersMultiplexing, smallFiles)
        unsaved[record.id] = nil
        entries[record.id] = Entry(record: record, control: attempt.control)
        return attempt
    }

    func prefersMultiplexing(_ record: DownloadRecord) -> Bool {
        record.request.url.scheme == "https" && scheduler.hasWaiting(for: record.request.url.origin)
    }

    /// Those that have not begun wait like all others: they are to be changed, or others may come first now.
    func recallReady() {
        guard let attempts = smallFiles?.ready.takeBack(), !attempts.isEmpty else { return learnSlots() }
        learnSlots()
        for attempt in attempts {
            guard let record = entries.removeValue(forKey: attempt.id)?.record else { continue }
            enlist(record)
        }
    }
}
