import Foundation

/// Finishes whole files in batches: what is ready shares its syncs and its commits. The order makes every crash in
/// between harmless: sync, `finishing` in the store (durably), rename, sync of the folder, `completed` in the store.
package actor Finisher {
    package struct Job: Sendable {
        package var record: DownloadRecord
        package let file: PartialFile
        /// The final name may be taken by a file to be replaced.
        package let replaces: Bool
        /// A final name that was taken meanwhile gives way to an alternative.
        package let renames: Bool
    }

    private struct Entry {
        var job: Job
        var failure: DownloadError?
        let continuation: CheckedContinuation<Result<DownloadRecord, DownloadError>, Never>
    }

    private let store: any DownloadStore
    private let session: String
    private let disk: DiskWriter
    /// Takes those that have their names, and that the store did not take as completed.
    private let unrecorded: @Sendable ([DownloadRecord], DownloadError) async -> Void
    private var waiting: [Entry] = []
    private var isWorking = false

    /// From so many files on, one sync of the file system is cheaper than one for each.
    static let sharedSyncFrom = 8

    package init(
        store: any DownloadStore, session: String, disk: DiskWriter,
        unrecorded: @escaping @Sendable ([DownloadRecord], DownloadError) async -> Void
    ) {
        self.unrecorded = unrecorded
        self.store = store
        self.session = session
        self.disk = disk
    }

    /// Returns the record as completed.
    package func finish(_ job: Job) async throws(DownloadError) -> DownloadRecord {
        let result = await withCheckedContinuation { continuation in
            waiting.append(Entry(job: job, continuation: continuation))
            guard !isWorking else { return }
            isWorking = true
            Task { await work() }
        }
        return try result.get()
    }

    private func work() async {
        while !waiting.isEmpty {
            var batch = waiting
            waiting = []
            await finish(&batch)
            for entry in batch {
                entry.continuation.resume(returning: entry.failure.map { .failure($0) } ?? .success(entry.job.record))
            }
        }
        isWorking = false
    }

    private func finish(_ batch: inout [Entry]) async {
        await sync(&batch)
        for index in batch.indices {
            batch[index].job.record.isFinishing = true
            batch[index].job.record.resume.durable = batch[index].job.record.resume.written
        }
        FaultPoint.reached("beforeFinishingMark")
        await save(&batch, durably: true)
        FaultPoint.reached("afterFinishingMark")
        await rename(&batch)
        for index in batch.indices where batch[index].failure == nil {
            batch[index].job.record.complete(at: disk.time.date)
        }
        FaultPoint.reached("beforeCompleted")
        // Lost with the power, or not taken by the store, it is told again by the file under its final name.
        await save(&batch, durably: false, isEnd: true)
        FaultPoint.reached("afterCompleted")
    }

    // MARK: Steps; each skips what has failed

    private func sync(_ batch: inout [Entry]) async {
        let jobs = batch.map(\.job)
        let shares = jobs.count >= Self.sharedSyncFrom
        let now = disk.time.date
        let failures = await disk.sync { () -> [DownloadError?] in
            for job in jobs { if let time = job.record.remoteTime(now: now) { job.file.date(time) } }
            if !shares { return jobs.map { job in Self.failure { () throws(DownloadError) in try job.file.sync() } } }
            var synced: [String: DownloadError?] = [:]
            return jobs.map { job in
                if let known = synced[job.file.folder] { return known }
                let failure = Self.failure { () throws(DownloadError) in try job.file.syncFileSystem() }
                synced[job.file.folder] = .some(failure)
                return failure
            }
        }
        note(failures, &batch)
    }

    private func rename(_ batch: inout [Entry]) async {
        let work = batch.map { $0.failure == nil ? $0.job : nil }
        let results = await disk.sync { () -> [(DownloadRecord?, DownloadError?)] in
            var folders: [String: PartialFile] = [:]
            let renamed = work.map { job -> (DownloadRecord?, DownloadError?) in
                guard let job else { return (nil, nil) }
                do throws(DownloadError) {
                    let record = try Self.rename(job)
                    folders[job.file.folder] = job.file
                    return (record, nil)
                } catch {
                    return (nil, error)
                }
            }
            let failure = folders.values.lazy.compactMap { file in
                Self.failure { () throws(DownloadError) in try file.syncFolder() }
            }.first
            return renamed.map { ($0.0, $0.1 ?? ($0.0 == nil ? nil : failure)) }
        }
        for (index, result) in results.enumerated() {
            if let record = result.0 { batch[index].job.record = record }
        }
        note(results.map(\.1), &batch)
    }

    private static func rename(_ job: Job) throws(DownloadError) -> DownloadRecord {
        var record = job.record
        let name = job.file.name
        try job.file.requireInPlace()
        var finalName = name
        if job.replaces, FileNaming.isPartial(name) {
            // Another download may have begun to write under that name since it was found free.
            let path = FileNaming.path(job.file.folder, name)
            if PartialFile.isLocked(path) { throw .fileFailed(.locked, path: path) }
        }
        for count in 1...9999 {
            do throws(DownloadError) {
                FaultPoint.reached("beforeRename")
                try job.file.requireUnwritten()
                try job.file.rename(to: finalName, replacing: job.replaces)
                try job.file.requireFolderInPlace()
                FaultPoint.reached("afterRename")
                record.fileName = finalName
                record.completed = try job.file.completedFile(
                    named: finalName, validators: record.resume.validators, verified: record.resume.verified)
                record.resume = record.resume.afterCompletion
                return record
            } catch .fileFailed(.exists, let path) {
                guard job.renames else { throw .fileFailed(.exists, path: path) }
                finalName = FileNaming.alternative(name, count)
            }
        }
        throw .fileFailed(.exists, path: FileNaming.path(job.file.folder, name))
    }

    private func save(_ batch: inout [Entry], durably: Bool, isEnd: Bool = false) async {
        let records = batch.filter { $0.failure == nil }.map(\.job.record)
        guard !records.isEmpty else { return }
        do {
            let lost = try await store.save(records, session: session, durably: durably)
            for index in batch.indices where batch[index].failure == nil && lost.contains(batch[index].job.record.id) {
                batch[index].failure = .sessionUnavailable(
                    .ownedElsewhere(batch[index].job.record.id, session: "another"))
            }
        } catch {
            let failure = error as? DownloadError ?? .unexpected("\(error)")
            if isEnd { return await unrecorded(records, failure) }
            note(batch.map { _ in failure }, &batch)
        }
    }

    private func note(_ failures: [DownloadError?], _ batch: inout [Entry]) {
        for (index, failure) in failures.enumerated() where batch[index].failure == nil {
            batch[index].failure = failure
        }
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

extension DownloadRecord {
    /// What the finished file is to be dated, where that was asked for and the server tells it.
    fileprivate func remoteTime(now: Date) -> Date? {
        guard request.destination.keepsRemoteTime else { return nil }
        return resume.validators.lastModified.flatMap { HTTPDate.parse($0, now: now) }
    }

    /// It has its final name: nobody runs it any more.
    mutating func complete(at time: Date) {
        isFinishing = false
        state = .completed
        session = nil
        speed = nil
        updated = time
    }
}
