import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// The first transfer of a new plain download (``SmallFileRule``), begun in the hope that the file fits in one buffer.
/// If it does not, the attempt becomes an ordinary one (docs/internals/small-files.md).
///
/// The properties without a lock are used by one thread after another: the code that begins the attempt, the thread
/// that has the last bytes or a message for the attempt, and then ``SmallFileLane``.
final class SmallFileAttempt: @unchecked Sendable {
    private enum Stage {
        case ready
        /// - Parameter ticks: The number of ticks since the transfer began.
        case transferring(SegmentWriter, ticks: Int)
        /// All bytes have come, so there is nothing to stop or change.
        case whole(SegmentWriter)
        /// An ordinary attempt continues with the transfer; nil if no transfer has begun.
        case left(SegmentWriter?)
    }

    let entry: DownloadEntry
    private let list: SmallFileList
    private let lane: SmallFileLane
    private let prefersMultiplexing: Bool
    let control: AttemptControl
    private let stage = Mutex(Stage.ready)
    private var begun: Date
    /// The route of the request; nil before the transfer begins.
    private var route: RequestRoute?
    private var result: TransferResult?
    private var memory: CookieMemory?

    init(_ entry: DownloadEntry, of list: SmallFileList, _ lane: SmallFileLane, prefersMultiplexing: Bool) {
        (self.entry, self.list, self.lane, self.prefersMultiplexing) = (entry, list, lane, prefersMultiplexing)
        control = AttemptControl(entry: entry)
        begun = lane.context.time.date
    }

    var id: DownloadID { entry.id }
    var destination: Destination { list.request.destination }

    /// Handles the messages for the file from now on.
    func attend() { control.attend(self) }

    /// Returns the record at the beginning of the attempt. The book, the control and an ordinary attempt share it.
    func makeRecord() -> DownloadRecord {
        let record = control.record
        control.show(record)
        return record
    }

    // MARK: The transfer

    /// Begins the transfer, unless the file has become an ordinary attempt before its turn.
    func begin() {
        let probe = SegmentWriter(
            connection: 0, judge: list.judge, file: nil, countedFrom: 0, disk: lane.context.disk, control: control)
        let begins = stage.withLock { stage in
            guard case .ready = stage else { return false }
            stage = .transferring(probe, ticks: 0)
            return true
        }
        guard begins else { return }
        begun = lane.context.time.date
        let route = list.route(to: entry.url, upgradedBy: lane.context.strictHosts)
        self.route = route
        memory = list.memory ?? lane.context.requests.memory(of: id, list.request)
        var transfer = list.transfer
        transfer.url = route.url
        transfer.cookies = LoadedSecrets(memory: memory).cookieLines(for: route.url.host)
        transfer.rateLimits = lane.context.requests.limits(for: control)
        transfer.prefersMultiplexing = list.request.multiplexes(byDefault: prefersMultiplexing)
        probe.begin(lane.context.transport, transfer)
    }

    /// Handles a message. Called on the sender's thread. Returns false if the attempt's task must handle the message.
    /// From then on, the task receives all messages.
    func handles(_ message: AttemptControl.Message) -> Bool {
        if case .segmentFinished(let probe, let result) = message, probe.ended(result).outcome == .complete,
            probe.wholeFile != nil, isWhole(probe)
        {
            self.result = result
            if let known = result.cookies { memory?.learn(known) }
            lane.add(self)
            return true
        }
        if case .tick = message, countTick() { return true }
        let isWhole = stage.withLock { if case .whole = $0 { true } else { false } }
        if isWhole, case .change(_, let answer) = message { answer.resume(returning: nil) }
        if !isWhole { becomeOrdinary() }
        return isWhole
    }

    /// Counts a tick, and returns whether the attempt may stay as it is. The first tick may come right before or after
    /// the beginning of the transfer, so the transfer may then be younger than half a second.
    private func countTick() -> Bool {
        stage.withLock { stage in
            switch stage {
            case .ready: return true
            case .transferring(let probe, ticks: 0):
                stage = .transferring(probe, ticks: 1)
                return true
            case .transferring, .whole, .left: return false
            }
        }
    }

    private func isWhole(_ probe: SegmentWriter) -> Bool {
        stage.withLock { stage in
            guard case .transferring = stage else { return false }
            stage = .whole(probe)
            return true
        }
    }

    // MARK: The ordinary attempt

    /// Changes this attempt into an ordinary one, which continues with the bytes that have come.
    func becomeOrdinary() {
        let (isNew, probe) = stage.withLock { stage -> (Bool, SegmentWriter?) in
            switch stage {
            case .left: return (false, nil)
            case .ready:
                stage = .left(nil)
                return (true, nil)
            case .transferring(let probe, _), .whole(let probe):
                stage = .left(probe)
                return (true, probe)
            }
        }
        if !isNew { return }
        control.attend(nil)
        if let probe, let result { control.send(.segmentFinished(probe, result)) }
        lane.becameOrdinary(self)
    }

    /// Makes the ordinary attempt. Called once, after ``becomeOrdinary()``.
    func makeTask() -> AttemptTask {
        let probe = stage.withLock { stage -> SegmentWriter? in if case .left(let probe) = stage { probe } else { nil }
        }
        return AttemptTask(
            record: control.record, context: lane.context, control: control,
            prefersMultiplexing: prefersMultiplexing, probe: probe, started: begun)
    }

    // MARK: The file

    /// Writes the bytes to a file without a name.
    /// - Returns: Nil if the file must become an ordinary attempt.
    func write(in folder: UnnamedFile.Folder) throws(DownloadError) -> Committer.Job? {
        guard case .whole(let probe) = stage.withLock({ $0 }), let (head, size) = probe.wholeFile, let route,
            // Files with trailers or mirrors need an ordinary attempt. This is checked here to keep the check off the
            // engine's thread.
            result?.trailers == nil, !Metalink.isDocument(head), !MirrorLinks.mayDescribe(head)
        else { return nil }
        let digest = ServerDigest.checksum(of: head)
        // The ordinary attempt of a file with a wrong digest fails, and says why.
        if let digest, try !hasWhole(probe, digest) { return nil }
        lane.context.strictHosts?.learn(head, route.url, of: list.request)
        let name = list.request.destination.name(of: head, from: entry.url)
        guard folder.path.utf8.count + 1 + name.utf8.count < PATH_MAX else { return nil }
        let unnamed = try probe.withWhole { bytes throws(DownloadError) in try UnnamedFile(in: folder, bytes) }
        probe.discard()
        control.attend(nil)
        control.close()
        let now = lane.context.time.date
        let answer = SmallFile.Answer(
            validators: Validators(head: head, now: now), contentType: ResponseJudge.mediaType(head),
            acceptsRanges: head.status == 206, digest: digest)
        let small = SmallFile(
            entry, name: name, size: size, answer: answer, showsURL: !list.secrets.occur(in: entry.url),
            identity: unnamed.identity, metrics: result?.metrics, began: begun, written: now)
        return Committer.Job(.small(small, lane), file: unnamed, rule: NameRule(name: name))
    }

    /// Returns whether the whole file in the buffer has the digest. Hashing 256 KiB takes 0.4 ms at most.
    private func hasWhole(_ probe: SegmentWriter, _ digest: Checksum) throws(DownloadError) -> Bool {
        let running = try RunningDigest(digest.algorithm)
        try probe.withWhole { bytes throws(DownloadError) in try running.add(bytes) }
        return try running.checksum() == digest
    }
}
