import Foundation
import Synchronization

/// The short way of a new file that comes whole in one buffer: no task of its own, no partial file, and the disk and the
/// store are asked for many at once. At anything else it becomes an ordinary attempt, with what it has so far.
///
/// What is not locked belongs to one after the other: to whoever begins it, to the finisher once all of it has come.
final class SmallFileAttempt: RunnerAttendant, @unchecked Sendable {
    private enum Stage {
        /// Its turn has not come.
        case ready
        case transferring(SegmentWriter)
        /// There is nothing to stop or change any more.
        case whole(SegmentWriter)
        case left
    }

    /// As it was when it was begun.
    let started: DownloadRecord
    let control: RunnerControl
    let origin: String
    private let prefersMultiplexing: Bool
    let lane: SmallFileLane
    private let stage = Mutex(Stage.ready)
    private var begun: Date
    private var result: TransferResult?
    /// Cookies that servers set.
    private var memory: CookieMemory?
    /// At last as the committer left it.
    private(set) var record: DownloadRecord
    /// About to get its name.
    private(set) var whole: DownloadRecord?

    init(_ record: DownloadRecord, origin: String, prefersMultiplexing: Bool, _ lane: SmallFileLane) {
        started = record
        self.record = record
        control = RunnerControl(record: record)
        self.origin = origin
        self.prefersMultiplexing = prefersMultiplexing
        self.lane = lane
        begun = lane.context.time.date
        control.attend(self)
    }

    var id: DownloadID { started.id }

    // MARK: The transfer

    /// - Returns: false when it went on in the ordinary way before its turn came.
    @discardableResult
    func begin() -> Bool {
        let end = started.request.connections > 1 ? Probe.firstLease : nil
        var judge = ResponseJudge(start: 0, end: end, asksRange: true)
        judge.validation = started.request.validation
        let scout = SegmentWriter(
            connection: 0, judge: judge, file: nil, countedFrom: 0, disk: lane.context.disk, control: control)
        let begins = stage.withLock { stage in
            guard case .ready = stage else { return false }
            stage = .transferring(scout)
            return true
        }
        guard begins else { return false }
        begun = lane.context.time.date
        memory = lane.context.memory(of: record)
        var request = lane.context.request(
            route, of: record.request, LoadedSecrets(memory: memory), for: control,
            prefersMultiplexing: prefersMultiplexing)
        request.range = "0-\(end.map { "\($0 - 1)" } ?? "")"
        if let turned = request.network.turned(min(started.attempts.count, DownloadRecord.attemptsKept - 1)) {
            request.network = turned
        }
        scout.begin(lane.context.transport, request)
        return true
    }

    private var route: RequestRoute {
        RequestRoute(started.request.url, of: started.request, upgradedBy: lane.context.strictHosts)
    }

    func takes(_ message: RunnerControl.Message) -> Bool {
        if case .segmentFinished(let scout, let result) = message, scout.ended(result).outcome == .complete,
            scout.wholeFile != nil, isWhole(scout)
        {
            self.result = result
            if let known = result.cookies { memory?.learn(known) }
            lane.add(self)
            return true
        }
        let isWhole = stage.withLock { if case .whole = $0 { true } else { false } }
        if isWhole, case .change(_, let answer) = message { answer.resume(returning: nil) }
        if !isWhole { leave() }
        return isWhole
    }

    private func isWhole(_ scout: SegmentWriter) -> Bool {
        stage.withLock { stage in
            guard case .transferring = stage else { return false }
            stage = .whole(scout)
            return true
        }
    }

    /// It goes on in the ordinary way, with what it has.
    func leave() {
        let last = stage.withLock { stage in
            defer { stage = .left }
            return stage
        }
        let scout: SegmentWriter?
        switch last {
        case .ready: scout = nil
        case .transferring(let writer), .whole(let writer): scout = writer
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

    /// Puts the bytes into a file without a name, and says so in the record.
    /// - Returns: nil when it must go the ordinary way.
    func write(in folder: UnnamedFile.Folder) throws(DownloadError) -> Committer.Job? {
        guard case .whole(let scout) = stage.withLock({ $0 }), let (head, size) = scout.wholeFile,
            // What is to be verified goes the ordinary way; that is looked up here, and not on the engine's thread.
            ServerDigest.checksum(of: head) == nil, !Metalink.isDocument(head), !MirrorLinks.mayDescribe(head)
        else { return nil }
        lane.context.strictHosts?.learn(head, route.url, of: started.request)
        let name = started.request.destination.name(of: head, from: started.request.url)
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
        let url = started.request.url
        var resume = ResumeData()
        resume.total = size
        resume.validators = Validators(head: head, now: lane.context.time.date)
        resume.contentType = ResponseJudge.mediaType(head)
        resume.finalURL = RequestSecrets(started.request, LoadedSecrets()).occur(in: url) ? nil : url
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

    /// Takes over what became of it.
    func settle(_ job: Committer.Job) {
        record = job.record
        if let failure = job.failure { record.state = .failed(failure) }
    }

    /// The record for another attempt: where the file has its name, that attempt finds it there.
    func anew(_ job: Committer.Job) -> DownloadRecord {
        guard job.isNamed, var marked = whole else { return started }
        marked.isFinishing = true
        return marked
    }
}

extension DownloadRecord {
    /// It was complete, and its file is not here any more: it is as new. A partial file by its name is somebody else's.
    mutating func forgetLostFile() {
        guard let completed, !completed.isStream, !isFinishing, resume == resume.afterCompletion, resume.sources == nil,
            !request.repairs, fileName.map({ $0 == FileNaming.lastComponent(completed.path) }) ?? true,
            completed.fate(.of(completed.path)) == .gone
        else { return }
        fileName = nil
        self.completed = nil
        resume = ResumeData()
    }

    /// Nothing of it is here, and nothing is asked for that the short way does not know: what is not named here must be
    /// as by default.
    var mayBeSmall: Bool {
        guard fileName == nil, completed == nil, resume == ResumeData(), request.url.isHTTP else { return false }
        let request = request
        let (place, http) = (request.destination, request.http)
        var plain = DownloadRequest(
            url: request.url,
            destination: Destination(
                folder: place.folder, fileName: place.fileName, ifExists: place.ifExists,
                createsFolders: place.createsFolders))
        plain.destination.takesServerName = place.takesServerName
        plain.headers = request.headers
        if http.method == nil, http.body == nil, http.acceptsCompressed == nil { plain.boxedHTTP = request.boxedHTTP }
        plain.credential = request.credential
        plain.connections = request.connections
        plain.priority = request.priority
        plain.rateLimit = request.rateLimit
        plain.retry = request.retry
        plain.redirect = request.redirect
        plain.boxedTrust = request.boxedTrust
        plain.boxedNetwork = request.boxedNetwork
        plain.validation.types = request.validation.types
        plain.validation.maximumSize = request.validation.maximumSize
        plain.timeouts = DownloadRequest.Timeouts(connect: request.timeouts.connect, stall: request.timeouts.stall)
        plain.acceptsUnverified = request.acceptsUnverified
        plain.keepsCompleted = request.keepsCompleted
        guard request == plain, [.fail, .rename, .skip].contains(place.ifExists), request.missingSecrets.isEmpty,
            // The URL may have become another one since it was asked for.
            (try? request.requireAllowed()) != nil
        else { return false }
        // A name that was asked for and is taken is better known before it is fetched.
        return place.fileName.map { FileStatus.of(FileNaming.path(place.folder, $0)) == nil } ?? true
    }
}
