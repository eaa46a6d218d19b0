import DownloadCore
import Foundation
import Synchronization

/// The attempt at a new file that comes whole in one buffer. It has no task and no partial file, and the disk and the
/// store handle many such files at once. If anything else happens, it becomes an ordinary attempt, which continues with
/// the bytes that have come.
///
/// The properties without a lock are used by one thread after another: the code that begins the attempt, the thread
/// that has the last bytes or a message for the attempt, and then ``SmallFileLane``.
final class SmallFileAttempt: AttemptAttendant, @unchecked Sendable {
    private enum Stage {
        /// The transfer has not begun.
        case ready
        /// - Parameter ticks: The number of ticks since the transfer began.
        case transferring(SegmentWriter, ticks: Int)
        /// All bytes have come, so there is nothing to stop or change.
        case whole(SegmentWriter)
        case left
    }

    /// The record at the beginning of the attempt.
    let started: DownloadRecord
    /// The request of the record, which would be copied each time it is read from the record.
    let request: DownloadRequest
    let control: AttemptControl
    let origin: String
    private let prefersMultiplexing: Bool
    let lane: SmallFileLane
    private let stage = Mutex(Stage.ready)
    private var begun: Date
    /// The route of the request; nil before the transfer begins.
    private var route: RequestRoute?
    private var result: TransferResult?
    /// The cookies that servers set.
    private var memory: CookieMemory?
    /// The current record. At the end it is the committer's record.
    private(set) var record: DownloadRecord
    /// The record when the file was about to get its name.
    private(set) var whole: DownloadRecord?

    init(_ record: DownloadRecord, origin: String, prefersMultiplexing: Bool, _ lane: SmallFileLane) {
        started = record
        request = record.request
        self.record = record
        control = AttemptControl(record: record)
        self.origin = origin
        self.prefersMultiplexing = prefersMultiplexing
        self.lane = lane
        begun = lane.context.time.date
        control.attend(self)
    }

    var id: DownloadID { started.id }

    // MARK: The transfer

    /// Begins the transfer.
    /// - Returns: False if the file has become an ordinary attempt before its turn.
    @discardableResult
    func begin() -> Bool {
        let context = lane.context
        let end = request.connections > 1 ? Probe.firstLease : nil
        var judge = ResponseJudge(start: 0, end: end, asksRange: true)
        judge.validation = request.validation
        let scout = SegmentWriter(
            connection: 0, judge: judge, file: nil, countedFrom: 0, disk: context.disk, control: control)
        let begins = stage.withLock { stage in
            guard case .ready = stage else { return false }
            stage = .transferring(scout, ticks: 0)
            return true
        }
        guard begins else { return false }
        begun = context.time.date
        let route = RequestRoute(request.url, of: request, upgradedBy: context.strictHosts)
        self.route = route
        memory = context.memory(of: id, request)
        var transfer = context.request(
            route, of: request, LoadedSecrets(memory: memory), for: control, prefersMultiplexing: prefersMultiplexing)
        transfer.range = "0-\(end.map { "\($0 - 1)" } ?? "")"
        if let turned = transfer.network.turned(min(started.attempts.count, DownloadRecord.attemptsKept - 1)) {
            transfer.network = turned
        }
        scout.begin(context.transport, transfer)
        return true
    }

    func handles(_ message: AttemptControl.Message) -> Bool {
        if case .segmentFinished(let scout, let result) = message, scout.ended(result).outcome == .complete,
            scout.wholeFile != nil, isWhole(scout)
        {
            self.result = result
            if let known = result.cookies { memory?.learn(known) }
            lane.add(self)
            return true
        }
        if case .tick = message, isFirstTick { return true }
        let isWhole = stage.withLock { if case .whole = $0 { true } else { false } }
        if isWhole, case .change(_, let answer) = message { answer.resume(returning: nil) }
        if !isWhole { becomeOrdinary() }
        return isWhole
    }

    /// Whether this is the first tick since the transfer began. The first tick may come right after the beginning, so
    /// the transfer may be younger than half a second. Reading this property counts the tick.
    private var isFirstTick: Bool {
        stage.withLock { stage in
            guard case .transferring(let scout, ticks: 0) = stage else { return false }
            stage = .transferring(scout, ticks: 1)
            return true
        }
    }

    private func isWhole(_ scout: SegmentWriter) -> Bool {
        stage.withLock { stage in
            guard case .transferring = stage else { return false }
            stage = .whole(scout)
            return true
        }
    }

    /// Changes this attempt into an ordinary one, which continues with the bytes that have come.
    func becomeOrdinary() {
        let last = stage.withLock { stage in
            defer { stage = .left }
            return stage
        }
        let scout: SegmentWriter?
        switch last {
        case .ready: scout = nil
        case .transferring(let writer, _), .whole(let writer): scout = writer
        case .left: return
        }
        control.attend(nil)
        if let scout, let result { control.send(.segmentFinished(scout, result)) }
        lane.goOn(
            AttemptTask(
                record: started, context: lane.context, control: control, prefersMultiplexing: prefersMultiplexing,
                probe: scout, started: begun))
    }

    // MARK: The file

    /// Writes the bytes to a file without a name, and enters that file into the record.
    /// - Returns: Nil if the file must become an ordinary attempt.
    func write(in folder: UnnamedFile.Folder) throws(DownloadError) -> Committer.Job? {
        guard case .whole(let scout) = stage.withLock({ $0 }), let (head, size) = scout.wholeFile, let route,
            // Files with digests or mirrors need an ordinary attempt. This is checked here to keep the check off the
            // engine's thread.
            ServerDigest.checksum(of: head) == nil, !Metalink.isDocument(head), !MirrorLinks.mayDescribe(head)
        else { return nil }
        lane.context.strictHosts?.learn(head, route.url, of: request)
        let name = request.destination.name(of: head, from: request.url)
        guard FileNaming.path(folder.path, name).utf8.count < PATH_MAX else { return nil }
        let file = try scout.withWhole { bytes in
            Result { () throws(DownloadError) in try UnnamedFile(in: folder, bytes) }
        }.get()
        scout.discard()
        control.attend(nil)
        control.close()
        record.fileName = name
        note(head, size, file.identity)
        return Committer.Job(record: record, file: file, rule: NameRule(name: name), client: .lane(self))
    }

    private func note(_ head: ResponseHead, _ size: Int64, _ file: FileIdentity) {
        var resume = ResumeData()
        resume.total = size
        resume.validators = Validators(head: head, now: lane.context.time.date)
        resume.contentType = ResponseJudge.mediaType(head)
        resume.finalURL = RequestSecrets(request, LoadedSecrets()).occur(in: request.url) ? nil : request.url
        resume.acceptsRanges = head.status == 206
        resume.file = file
        record.resume = resume
        record.updated = lane.context.time.date
        whole = record
        var attempt = AttemptRecord(started: begun)
        attempt.ended = record.updated
        attempt.received = size
        attempt.metrics = result?.metrics
        attempt.outcome = "completed"
        record.attempts.append(attempt)
        record.attempts.removeFirst(max(0, record.attempts.count - DownloadRecord.attemptsKept))
    }

    /// Adopts the committer's result.
    func settle(_ job: Committer.Job) {
        record = job.record
        if let failure = job.failure { record.state = .failed(failure) }
    }

    /// Returns the record for another attempt. If the file has its name already, that attempt finds the file under this
    /// name.
    func anew(_ job: Committer.Job) -> DownloadRecord {
        guard job.isNamed, var marked = whole else { return started }
        marked.isFinishing = true
        return marked
    }
}
