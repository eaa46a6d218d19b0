import Foundation

/// What the small files of a session ask of it (``SmallFileFinisher``).
extension SessionManager {
    var callsOfSmallFiles: SmallFileFinisher.Calls {
        SmallFileFinisher.Calls(
            goOn: { runner in self.run(runner) },
            begin: { records in for record in records { await self.beginAgain(record) } },
            transfersEnded: { ids in await self.transfersEnded(ids) },
            unrecorded: { records, error in await self.keepUnrecorded(records, error) },
            ended: { files in await self.ended(files) })
    }

    /// In the ordinary way, with all that was asked of the first attempt.
    private func beginAgain(_ queued: DownloadRecord) {
        guard let context, let entry = entries[queued.id] else { return }
        let control = RunnerControl(record: queued)
        entries[queued.id]?.control = control
        if entry.wish != nil || stopReason != nil { control.stop() }
        run(DownloadRunner(record: queued, context: context, control: control, prefersMultiplexing: false))
    }

    /// Small files that are written.
    private func transfersEnded(_ ids: [DownloadID]) async {
        for id in ids { scheduler.ended(id) }
        await fill()
    }

    /// Small files that have ended.
    private func ended(_ files: [(started: DownloadRecord, ended: DownloadRecord)]) async {
        var events: [DownloadEvent] = []
        events.reserveCapacity(2 * files.count)
        for (started, record) in files {
            leave(record)
            events.append(.didStart(DownloadSnapshot(record: started), atOffset: 0))
            events.append(endEvent(of: record))
        }
        broadcaster.send(events)
        await fill()
    }
}
