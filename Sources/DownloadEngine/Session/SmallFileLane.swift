import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// The short way of complete small files from memory to the committer. The files that have come are taken together, and
/// each of them is written to a file without a name. If this fails for a file, the file continues as an ordinary
/// attempt.
final class SmallFileLane: Sendable {
    let context: AttemptContext
    let files: SmallFileQueue
    /// The session, which has this lane until it closes.
    private let session: SessionManager
    /// The list of the last file that may begin.
    private let list = Mutex<SmallFileList?>(nil)
    private let writing = DispatchQueue(label: "dlm.small", qos: .userInitiated)
    private let arrived = Backlog<SmallFileAttempt>()
    private let leaving = Backlog<SmallFileAttempt>()
    /// Whether the short way is possible. False if the bytes go to a stream or the session has an adapter, and after
    /// the file system has refused a file without a name.
    private let isPossible: Atomic<Bool>

    /// The number of files that have come and have no names yet. Each of them uses a buffer, and later a descriptor.
    private let pending = Atomic(0)
    private let pendingAtMost: Int

    /// - Parameter mostByFiles: The number of downloads that the limit of open files allows.
    init(context: AttemptContext, files: SmallFileQueue, mostByFiles: Int, for session: SessionManager) {
        pendingAtMost = min(512, mostByFiles)
        self.context = context
        self.files = files
        // Only ordinary attempts ask an adapter.
        isPossible = Atomic(context.stream == nil && context.adapter == nil)
        self.session = session
    }

    /// Reports a file that runs on as an ordinary attempt. A thousand slow files may leave in one moment, so one task
    /// reports them together.
    func becameOrdinary(_ attempt: SmallFileAttempt) {
        guard leaving.add([attempt]) else { return }
        Task {
            while true {
                let attempts = leaving.take()
                if attempts.isEmpty { return }
                await session.becameOrdinary(attempts)
            }
        }
    }

    var isUsable: Bool { isPossible.load(ordering: .relaxed) }

    /// Whether so many files wait for their names that another file should not begin.
    var isFull: Bool { pending.load(ordering: .relaxed) >= pendingAtMost }

    /// Returns the attempt at a small file. Returns nil if the download must begin as an ordinary attempt.
    func attempt(at entry: DownloadEntry, prefersMultiplexing: Bool) -> SmallFileAttempt? {
        var entry = entry
        if entry.common.completed != nil {
            var record = entry.record
            record.forgetLostFile()
            entry = DownloadEntry(record)
        }
        let list = list.withLock { known -> SmallFileList? in
            if let known, known.has(entry) { return known }
            known = SmallFileList(entry, context.requests)
            return known
        }
        return list.map { SmallFileAttempt(entry, of: $0, self, prefersMultiplexing: prefersMultiplexing) }
    }

    /// Adds a file whose bytes have all come. Called on an engine's thread.
    func add(_ attempt: SmallFileAttempt) {
        pending.add(1, ordering: .relaxed)
        if files.passOn(the: attempt, isFull: isFull) { Task { await session.fill() } }
        if arrived.add([attempt]) { writing.async { self.write() } }
    }

    // MARK: Writing

    private func write() {
        var folders: [String: UnnamedFile.Folder] = [:]
        while true {
            let arrived = arrived.take()
            if arrived.isEmpty { return }
            let jobs = arrived.compactMap { job(of: $0, &folders) }
            pending.subtract(arrived.count - jobs.count, ordering: .relaxed)
            if !jobs.isEmpty { context.committer.add(jobs) }
        }
    }

    /// Writes a file without a name, and returns the job for the committer. Returns nil if the file continues as an
    /// ordinary attempt.
    private func job(of attempt: SmallFileAttempt, _ folders: inout [String: UnnamedFile.Folder]) -> Committer.Job? {
        do throws(DownloadError) {
            if isUsable, let job = try attempt.write(in: folder(of: attempt.destination, &folders)) {
                return job
            }
        } catch {
            if case .fileFailed(.system, _) = error { isPossible.store(false, ordering: .relaxed) }
        }
        attempt.becomeOrdinary()
        return nil
    }

    private func folder(of destination: Destination, _ folders: inout [String: UnnamedFile.Folder])
        throws(DownloadError) -> UnnamedFile.Folder
    {
        // The check that the path still leads to this folder is made later, when the files have their names.
        let followsLinks = destination.followsLinks
        if let folder = folders[destination.folder], folder.followsLinks == followsLinks { return folder }
        if destination.createsFolders {
            try FileStatus.makeFolder(destination.folder, followsLinks: followsLinks)
        }
        let folder = try UnnamedFile.Folder(destination.folder, followsLinks: followsLinks)
        folders[destination.folder] = folder
        return folder
    }

    // MARK: Ends

    /// Handles the jobs that the committer has ended. Files that got no name, or whose name is not durable, begin
    /// again, unless their downloads belong to another session by now.
    func settled(_ jobs: [(file: SmallFile, job: Committer.Job)]) async {
        pending.subtract(jobs.count, ordering: .relaxed)
        var begun: [DownloadRecord] = []
        var ended: [SmallFileEnd] = []
        for (file, job) in jobs {
            switch job.failure {
            case nil, .sessionUnavailable(.ownedElsewhere)?: ended.append(SmallFileEnd(file, failure: job.failure))
            case .some(let failure):
                begun.append(Self.anew(file, job))
                // The file was recorded as finishing and got no name, although the name was free.
                guard case .fileFailed(let why, _) = failure, why != .exists, job.isMarked, !job.isNamed else { break }
                isPossible.store(false, ordering: .relaxed)
            }
        }
        for record in begun { await session.beginAgain(record) }
        if !ended.isEmpty { await session.ended(ended) }
    }

    /// Returns the record for another attempt. If the file has its name already, that attempt finds the file under this
    /// name.
    private static func anew(_ file: SmallFile, _ job: Committer.Job) -> DownloadRecord {
        if !job.isNamed { return file.entry.started }
        var record = file.whole
        record.isFinishing = true
        return record
    }
}
