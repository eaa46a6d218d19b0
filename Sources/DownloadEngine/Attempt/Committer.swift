import DownloadCore
import DownloadSystem
import Foundation

/// The component that gives whole files their final names, in batches of all files that are ready. The order of the
/// steps makes a crash between any two of them harmless (docs/internals/attempt.md, "Commit").
package final class Committer: Sendable {
    /// A whole file on its way to its name. A job is used by only one step at a time, so it needs no lock. It is a
    /// class, because the copies of a struct cost too much (docs/internals/small-files.md).
    package final class Job: @unchecked Sendable {
        fileprivate(set) var subject: Subject
        let file: any WholeFile
        let rule: NameRule
        fileprivate(set) var failure: DownloadError?
        /// Whether the file has got its final name, even if a later step failed.
        fileprivate(set) var isNamed = false
        /// Whether the store may have recorded that the file is about to get its name.
        fileprivate(set) var isMarked = false

        init(_ subject: Subject, file: any WholeFile, rule: NameRule) {
            self.subject = subject
            self.file = file
            self.rule = rule
        }
    }

    /// The download whose file gets its name, and the client that receives the finished job. The steps change and save
    /// the download.
    enum Subject: Sendable {
        case download(DownloadRecord, CheckedContinuation<Job, Never>)
        case small(SmallFile, SmallFileLane)
    }

    private let store: any DownloadStore
    private let session: String
    private let time: any TimeSource
    /// Handles downloads whose files have their names, but which the store failed to save as completed.
    private let unrecorded: @Sendable ([DownloadRecord], DownloadError) async -> Void
    private let queue = DispatchQueue(label: "dlm.commit", qos: .userInitiated)
    private let arrived = Backlog<Job>()

    /// The smallest number of files for which one sync of the file system is cheaper than one sync for each file.
    static let sharedSyncFrom = 8

    package init(
        store: any DownloadStore, session: String, time: any TimeSource = SystemTime(),
        unrecorded: @escaping @Sendable ([DownloadRecord], DownloadError) async -> Void
    ) {
        self.store = store
        self.session = session
        self.time = time
        self.unrecorded = unrecorded
    }

    /// Gives the file its final name.
    /// - Returns: The record of the completed download.
    package func commit(_ record: DownloadRecord, _ file: any WholeFile, _ rule: NameRule) async throws(DownloadError)
        -> DownloadRecord
    {
        let job = await withCheckedContinuation { continuation in
            add([Job(.download(record, continuation), file: file, rule: rule)])
        }
        if let failure = job.failure { throw failure }
        return job.record
    }

    /// Adds jobs. Each job's client receives the job when it ends.
    func add(_ jobs: [Job]) {
        if arrived.add(jobs) { Task { await work() } }
    }

    private func work() async {
        var named: [Job] = []
        while true {
            let taken = arrived.take(goesOn: !named.isEmpty)
            if taken.isEmpty, named.isEmpty { return }
            if !taken.isEmpty { await queue.run { Self.sync(taken) } }
            let synced = await settle(taken)
            await save(completed: named, finishing: synced)
            let marked = await settle(synced)
            if !marked.isEmpty { await queue.run { [time] in Self.name(marked, at: time) } }
            named = await settle(marked)
        }
    }

    // MARK: Steps

    private static func sync(_ jobs: [Job]) {
        if jobs.count < sharedSyncFrom {
            for job in jobs { job.failure = failure { () throws(DownloadError) in try job.file.sync() } }
            return
        }
        for group in Dictionary(grouping: jobs, by: { $0.file.device }).values {
            let failure = failure { () throws(DownloadError) in try group[0].file.syncFileSystem() }
            for job in group {
                job.failure = failure
                if let failure { job.file.forgetUnsynced(failure) }
            }
        }
    }

    /// Saves the `completed` jobs as completed, marks the `finishing` jobs as about to get their names, and answers the
    /// clients of the completed jobs. A `finishing` job that could not be saved has the failure afterwards.
    private func save(completed: [Job], finishing: [Job]) async {
        for job in finishing { job.mark() }
        if !completed.isEmpty { FaultPoint.reached("beforeCompleted") }
        if !finishing.isEmpty { FaultPoint.reached("beforeFinishingMark") }
        do {
            // If a loss of power undoes `completed`, the next start finds the file under its final name and completes
            // it again.
            let lost = try await save(completed, finishing)
            for job in completed + finishing where lost.contains(job.id) {
                job.failure = .sessionUnavailable(.ownedElsewhere(job.id, session: "another"))
            }
        } catch {
            let failure = error as? DownloadError ?? .unexpected("\(error)")
            if !completed.isEmpty { await unrecorded(completed.map(\.record), failure) }
            for job in finishing { job.failure = failure }
        }
        if !completed.isEmpty { FaultPoint.reached("afterCompleted") }
        if !finishing.isEmpty { FaultPoint.reached("afterFinishingMark") }
        await tell(completed)
    }

    private func save(_ completed: [Job], _ finishing: [Job]) async throws -> Set<DownloadID> {
        let records = (completed + finishing).compactMap(\.download)
        let files = SmallFiles(completed: completed.compactMap(\.small), finishing: finishing.compactMap(\.small))
        let durably = !finishing.isEmpty
        if files.isEmpty { return try await store.save(records, session: session, durably: durably) }
        return try await store.save(files, records, session: session, durably: durably)
    }

    private static func name(_ jobs: [Job], at time: any TimeSource) {
        for job in jobs { job.failure = failure { () throws(DownloadError) in try job.name() } }
        for group in Dictionary(grouping: jobs.filter { $0.failure == nil }, by: { $0.file.folderKey }).values {
            let failure = failure { () throws(DownloadError) in try group[0].file.syncFolder() }
            for job in group {
                job.failure = failure
                if failure == nil { job.complete(at: time.date) }
            }
        }
    }

    // MARK: Ends

    /// Answers the clients of the jobs that failed.
    /// - Returns: The jobs that did not fail.
    private func settle(_ jobs: [Job]) async -> [Job] {
        guard jobs.contains(where: { $0.failure != nil }) else { return jobs }
        await tell(jobs.filter { $0.failure != nil })
        return jobs.filter { $0.failure == nil }
    }

    /// Answers the clients of the jobs. Small files are reported to their lane together, because each report costs the
    /// session a turn.
    private func tell(_ jobs: [Job]) async {
        var lane: SmallFileLane?
        var files: [(SmallFile, Job)] = []
        for job in jobs {
            switch job.subject {
            case .download(_, let client): client.resume(returning: job)
            case .small(let file, let its):
                lane = its
                files.append((file, job))
            }
        }
        await lane?.settled(files)
    }

    private static func failure(_ body: () throws(DownloadError) -> Void) -> DownloadError? {
        do throws(DownloadError) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}

extension Committer.Job {
    var id: DownloadID {
        switch subject {
        case .download(let record, _): record.id
        case .small(let file, _): file.id
        }
    }

    /// The download's record as the last step left it.
    package var record: DownloadRecord {
        switch subject {
        case .download(let record, _): record
        case .small(let file, _): file.record
        }
    }

    fileprivate var download: DownloadRecord? {
        if case .download(let record, _) = subject { record } else { nil }
    }

    fileprivate var small: SmallFile? {
        if case .small(let file, _) = subject { file } else { nil }
    }

    fileprivate func mark() {
        isMarked = true
        guard case .download(var record, let client) = subject else { return }
        record.beginFinishing()
        subject = .download(record, client)
    }

    /// Gives the file its final name and describes the completed file.
    fileprivate func name() throws(DownloadError) {
        FaultPoint.reached("beforeName")
        let name = try file.takeName(rule)
        isNamed = true
        FaultPoint.reached("afterName")
        let status = try file.status()
        let path = FileNaming.path(file.folderKey.path, name)
        switch subject {
        case .download(var record, let client):
            let resume = record.resume
            let verified = resume.verified
            record.fileName = name
            record.completed = CompletedFile(
                path: path, bytes: status.size, identity: status.identity, modified: status.modified,
                validators: resume.validators, checksum: verified?.checksum, verifiedBy: verified?.source)
            record.resume = resume.afterCompletion
            subject = .download(record, client)
        case .small(let file, _):
            file.take(path: path, bytes: status.size, identity: status.identity, modified: status.modified)
        }
    }

    fileprivate func complete(at time: Date) {
        switch subject {
        case .download(var record, let client):
            record.complete(at: time)
            subject = .download(record, client)
        case .small(let file, _): file.end(at: time)
        }
    }
}
