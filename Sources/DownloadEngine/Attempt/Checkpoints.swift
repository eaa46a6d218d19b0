import DownloadCore
import DownloadSystem

/// The checkpoints of an attempt: when the store gets the ranges on disk, and when the file is synced. One save runs at
/// a time. The transfers do not wait for a save, so a slow store does not delay them.
struct Checkpoints {
    private(set) var saving: Task<Void, Never>?
    /// The number of saves so far. The end of a save may be reported when the next save has begun.
    private var number = 0
    private var lastSync: ContinuousClock.Instant
    /// The durable ranges of the file in the last save.
    private var savedDurable: ByteRanges
    private var speedMark: (at: ContinuousClock.Instant, received: Int64)
    /// The number of bytes on disk that this attempt did not bring.
    private var receivedBefore: Int64

    init(_ record: DownloadRecord, now: ContinuousClock.Instant) {
        lastSync = now
        savedDurable = record.resume.durable
        speedMark = (now, record.received)
        receivedBefore = record.received
    }

    func enterReceived(into record: inout DownloadRecord) {
        record.lastAttempt.received = max(0, record.received - receivedBefore)
    }

    /// Notes that the bytes on disk are from an attempt which the record does not know.
    mutating func inherit(_ record: DownloadRecord) { receivedBefore = record.received }

    /// Whether the store does not know yet that the download runs.
    var isFirst: Bool { number == 0 }

    /// - Parameter file: The partial file, which also gets the durable ranges, as its description.
    mutating func save(
        _ record: DownloadRecord, _ file: PartialFile?, in context: AttemptContext, for control: AttemptControl
    ) {
        // Durable ranges are of use after a loss of power only if the record survives the loss of power, too.
        let isDurable = record.resume.durable != savedDurable
        savedDurable = record.resume.durable
        number += 1
        let version = file?.version ?? 0
        saving = Task { [number] in
            FaultPoint.reached("beforeCheckpoint")
            if isDurable { file?.describe(PartialDescription(record, in: context.store.path), version: version) }
            // If this save fails, the next checkpoint saves again. If the store still fails at the end of the attempt,
            // the failure is reported then.
            let lost = (try? await context.store.save([record], session: context.session, durably: isDurable)) ?? []
            FaultPoint.reached("afterCheckpoint")
            // If another session owns the download now, this attempt ends, because two sessions must not write one
            // file.
            if lost.contains(record.id) { control.send(.disowned) }
            control.send(.checkpointSaved(number))
        }
    }

    mutating func didSave(_ number: Int) { if number == self.number { saving = nil } }

    /// Returns the smoothed speed in bytes per second, or nil if too little time has passed.
    mutating func speed(of record: DownloadRecord, now: ContinuousClock.Instant) -> Double? {
        let seconds = (now - speedMark.at) / .seconds(1)
        guard seconds > 0.2 else { return nil }
        let speed = Double(max(0, record.received - speedMark.received)) / seconds
        speedMark = (now, record.received)
        return record.speed.map { 0.7 * $0 + 0.3 * speed } ?? speed
    }

    /// Returns whether to sync the file: every 5 seconds if at least 64 MiB are unsynced, otherwise twice a minute.
    mutating func isSyncDue(unsynced: Int64, now: ContinuousClock.Instant) -> Bool {
        let bytes = FaultPoint.limit("DLM_FAULT_SYNC_BYTES", 64 << 20 as Int64)
        let seconds = FaultPoint.limit("DLM_FAULT_SYNC_SECONDS", 5.0)
        guard unsynced > 0, now - lastSync > .seconds(unsynced >= bytes ? seconds : 6 * seconds) else { return false }
        lastSync = now
        return true
    }
}
