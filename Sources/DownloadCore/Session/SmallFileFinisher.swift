import Foundation
import Synchronization

/// Brings whole small files from memory to their names, as many together as have come: each is written without a name;
/// then sync, `finishing` in the store (durably), the names, sync of the folders, `completed` in the store, which
/// shares its transaction with the `finishing` of the next ones. What cannot go this way goes on in the ordinary one.
final class SmallFileFinisher: Sendable {
    struct Calls: Sendable {
        /// The task of the runner goes on with what it has.
        let goOn: @Sendable (sending DownloadRunner) -> Void
        /// Another attempt, with a runner of its own: what had come is given up.
        let begin: @Sendable ([DownloadRecord]) async -> Void
        /// They have come, and need no slot any more.
        let transfersEnded: @Sendable ([DownloadID]) async -> Void
        /// They have their names, and the store did not take them as completed.
        let unrecorded: @Sendable ([DownloadRecord], DownloadError) async -> Void
        /// Completed, or owned by another session now. Each with what it was while it ran.
        let ended: @Sendable ([(started: DownloadRecord, ended: DownloadRecord)]) async -> Void
    }

    /// On its way to its name.
    private struct Written: Sendable {
        /// As it was queued.
        let queued: DownloadRecord
        var record: DownloadRecord
        let name: String
        let file: UnnamedFile
        let attempt: AttemptRecord
    }

    /// Has its name.
    private struct Linked: Sendable {
        let started: DownloadRecord
        var ended: DownloadRecord
    }

    private let store: any DownloadStore
    private let session: String
    private let calls: Calls
    private let writing = DispatchQueue(label: "dlm.small", qos: .userInitiated)
    /// Files get their names while the next ones are written: that takes half as long, and the folder's lock.
    private let naming = DispatchQueue(label: "dlm.small.names", qos: .userInitiated)
    private let arrived = Backlog<WholeSmallFile>()
    /// Whose slots are free, and nobody knows it yet.
    private let ended = Backlog<DownloadID>()
    private let written = Backlog<Written>()
    /// False once the file system turned out to have no files without names.
    private let isPossible = Atomic(true)

    /// Files that have come and have no names yet; each holds a buffer, and then a descriptor.
    private let pending = Atomic(0)
    private static let pendingAtMost = 512

    init(store: any DownloadStore, session: String, calls: Calls) {
        self.store = store
        self.session = session
        self.calls = calls
    }

    func goOn(_ runner: sending DownloadRunner) { calls.goOn(runner) }

    var isUsable: Bool { isPossible.load(ordering: .relaxed) }

    /// Those that come now would only wait.
    var isFull: Bool { pending.load(ordering: .relaxed) >= Self.pendingAtMost }

    /// Called on an engine's thread.
    func add(_ file: WholeSmallFile) {
        pending.add(1, ordering: .relaxed)
        // At once, not when they are written: the engines would wait for the disk.
        if ended.add([file.runner.record.id]) { Task { await tell() } }
        if arrived.add([file]) { writing.async { self.write() } }
    }

    private func tell() async {
        while true {
            let ids = ended.take()
            if ids.isEmpty { return }
            await calls.transfersEnded(ids)
        }
    }

    // MARK: Writing

    private func write() {
        var folders: [String: UnnamedFile.Folder] = [:]
        while true {
            let files = arrived.take()
            if files.isEmpty { return }
            let written = files.compactMap { write($0, &folders) }
            pending.subtract(files.count - written.count, ordering: .relaxed)
            if !written.isEmpty, self.written.add(written) { Task { await commit() } }
        }
    }

    /// Nil: it went on in the ordinary way.
    private func write(_ whole: WholeSmallFile, _ folders: inout [String: UnnamedFile.Folder]) -> Written? {
        let runner = whole.runner
        let control = runner.control
        if isUsable, let written = written(whole, &folders) {
            runner.opener = nil
            control.attend(nil)
            control.close()
            return written
        }
        control.attend(nil)
        control.send(.segmentFinished(whole.scout, whole.result))
        calls.goOn(whole.runner)
        return nil
    }

    private func written(_ whole: WholeSmallFile, _ folders: inout [String: UnnamedFile.Folder]) -> Written? {
        // What is to be verified goes the ordinary way; that is looked up here, and not on the engine's thread.
        guard let head = whole.scout.head, ServerDigest.checksum(of: head) == nil else { return nil }
        do throws(DownloadError) {
            let folder = try folder(of: whole.runner.record.request.destination, &folders)
            guard let name = whole.runner.nameOfWhole(head, in: folder) else { return nil }
            let file = try whole.scout.withWhole { bytes in
                Result { () throws(DownloadError) in try UnnamedFile(in: folder, bytes) }
            }.get()
            var record = whole.runner.recordOfWhole(whole.scout, head)
            record.fileName = name
            record.resume.file = file.status.identity
            record.isFinishing = true
            return Written(
                queued: whole.runner.record, record: record, name: name, file: file,
                attempt: whole.runner.attemptOfWhole(whole.scout, whole.result))
        } catch {
            if case .fileFailed(.system, _) = error { isPossible.store(false, ordering: .relaxed) }
            return nil
        }
    }

    private func folder(of destination: Destination, _ folders: inout [String: UnnamedFile.Folder])
        throws(DownloadError) -> UnnamedFile.Folder
    {
        // Whether its path still leads there is asked when the files have their names.
        if let folder = folders[destination.folder] { return folder }
        if destination.createsFolders { try FileStatus.makeFolder(destination.folder) }
        let folder = try UnnamedFile.Folder(destination.folder)
        folders[destination.folder] = folder
        return folder
    }

    // MARK: Committing

    private func commit() async {
        var completed: [Linked] = []
        while true {
            let taken = written.take(goesOn: !completed.isEmpty)
            if taken.isEmpty, completed.isEmpty { return }
            var batch = await sync(taken)
            FaultPoint.reached("beforeFilesMarked")
            let outcome = await save(completed.map(\.ended) + batch.map(\.record), durably: !batch.isEmpty)
            FaultPoint.reached("afterFilesMarked")
            if !completed.isEmpty {
                for index in completed.indices where outcome.lost.contains(completed[index].ended.id) {
                    let id = completed[index].ended.id
                    completed[index].ended.state = .failed(
                        .sessionUnavailable(.ownedElsewhere(id, session: "another")))
                }
                // In the store they are still what they were before: whole, and about to get their names.
                if let failure = outcome.failure { await calls.unrecorded(completed.map(\.ended), failure) }
                await calls.ended(completed.map { ($0.started, $0.ended) })
            }
            let lost = batch.filter { !outcome.has($0.record) }
            if !lost.isEmpty {
                await calls.begin(lost.map(\.queued))
                batch.removeAll { written in lost.contains { $0.queued.id == written.queued.id } }
            }
            completed = await link(batch)
            pending.subtract(taken.count, ordering: .relaxed)
        }
    }

    /// Those that are durable now.
    private func sync(_ batch: [Written]) async -> [Written] {
        if batch.isEmpty { return [] }
        let synced = await onNaming { () -> [Written] in
            if batch.count < Finisher.sharedSyncFrom {
                return batch.filter { written in Self.succeeds { () throws(DownloadError) in try written.file.sync() } }
            }
            var folders: [String: Bool] = [:]
            return batch.filter { written in
                let folder = written.file.folder
                if let known = folders[folder.path] { return known }
                let isSynced = Self.succeeds { () throws(DownloadError) in try folder.syncFileSystem() }
                folders[folder.path] = isSynced
                return isSynced
            }
        }
        if synced.count < batch.count {
            let kept = Set(synced.map(\.queued.id))
            await calls.begin(batch.filter { !kept.contains($0.queued.id) }.map(\.queued))
        }
        return synced
    }

    private struct Saved {
        let lost: Set<DownloadID>
        let failure: DownloadError?

        /// Whether the store has it.
        func has(_ record: DownloadRecord) -> Bool { failure == nil && !lost.contains(record.id) }
    }

    private func save(_ records: [DownloadRecord], durably: Bool) async -> Saved {
        do {
            return Saved(
                lost: try await store.save(records, session: session, durably: durably), failure: nil)
        } catch {
            return Saved(lost: [], failure: error as? DownloadError ?? .unexpected("\(error)"))
        }
    }

    /// Gives them their names. Those whose names are taken by now, or whose folder is not where it was, begin anew.
    private func link(_ batch: [Written]) async -> [Linked] {
        if batch.isEmpty { return [] }
        let (completed, failed) = await onNaming { [self] in
            var linked: [Written] = []
            var failed: [DownloadRecord] = []
            var folders: [ObjectIdentifier: (folder: UnnamedFile.Folder, isSound: Bool)] = [:]
            for written in batch {
                do throws(DownloadError) {
                    FaultPoint.reached("beforeLink")
                    try written.file.link(as: written.name)
                    FaultPoint.reached("afterLink")
                    folders[ObjectIdentifier(written.file.folder)] = (written.file.folder, false)
                    linked.append(written)
                } catch {
                    if case .fileFailed(.exists, _) = error {} else { isPossible.store(false, ordering: .relaxed) }
                    failed.append(written.queued)
                }
            }
            for (key, value) in folders {
                folders[key]?.isSound =
                    Self.succeeds { () throws(DownloadError) in try value.folder.sync() } && value.folder.isInPlace
            }
            // The others are found under their names, or not, when they are begun again.
            let (sound, unsound) = linked.partitioned { folders[ObjectIdentifier($0.file.folder)]?.isSound == true }
            let ends = sound.map { Linked(started: $0.record, ended: Self.completed($0)) }
            return (ends, failed + unsound.map(\.record))
        }
        if !failed.isEmpty { await calls.begin(failed) }
        return completed
    }

    private static func completed(_ written: Written) -> DownloadRecord {
        var record = written.record
        let status = written.file.status
        record.complete()
        record.completed = CompletedFile(
            path: FileNaming.path(written.file.folder.path, written.name), bytes: status.size,
            identity: status.identity, modified: status.modified, validators: record.resume.validators)
        record.resume = record.resume.afterCompletion
        record.attempts.append(written.attempt)
        record.attempts.removeFirst(max(0, record.attempts.count - DownloadRecord.attemptsKept))
        return record
    }

    private func onNaming<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in naming.async { continuation.resume(returning: body()) } }
    }

    private static func succeeds(_ body: () throws(DownloadError) -> Void) -> Bool {
        do throws(DownloadError) {
            try body()
            return true
        } catch {
            return false
        }
    }
}

extension Array {
    fileprivate func partitioned(_ isFirst: (Element) -> Bool) -> (first: [Element], rest: [Element]) {
        (filter(isFirst), filter { !isFirst($0) })
    }
}
