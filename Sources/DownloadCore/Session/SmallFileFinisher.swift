import Foundation
import Synchronization

/// Brings whole small files from memory to their names, as many together as have come: each is written without a name;
/// then sync, `finishing` in the store (durably), the names, sync of the folders, `completed` in the store, which
/// shares its transaction with the `finishing` of the next ones. What cannot go this way goes on in the ordinary one.
final class SmallFileFinisher: Sendable {
    struct Calls: Sendable {
        /// A runner goes on with what has come.
        let goOn: @Sendable (sending DownloadRunner) -> Void
        /// Another attempt, with a runner of its own: what had come is given up.
        let begin: @Sendable ([DownloadRecord]) async -> Void
        /// Slots were passed on, or are free (see ``ReadyFiles``).
        let slotsMoved: @Sendable () async -> Void
        /// They have their names, and the store did not take them as completed.
        let unrecorded: @Sendable ([DownloadRecord], DownloadError) async -> Void
        /// Completed, or owned by another session now.
        let ended: @Sendable ([SmallFileAttempt]) async -> Void
    }

    let context: RunnerContext
    let ready = ReadyFiles()
    private let calls: Calls
    private let writing = DispatchQueue(label: "dlm.small", qos: .userInitiated)
    /// Files get their names while the next ones are written: that takes as long.
    private let naming = DispatchQueue(label: "dlm.small.names", qos: .userInitiated)
    private let arrived = Backlog<SmallFileAttempt>()
    private let written = Backlog<SmallFileAttempt>()
    /// False once the file system turned out to have no files without names, and where bytes go to no file.
    private let isPossible: Atomic<Bool>

    /// Files that have come and have no names yet; each holds a buffer, and then a descriptor.
    private let pending = Atomic(0)
    private static let pendingAtMost = 512

    init(context: RunnerContext, calls: Calls) {
        self.context = context
        isPossible = Atomic(context.stream == nil)
        self.calls = calls
    }

    func goOn(_ runner: sending DownloadRunner) { calls.goOn(runner) }

    var isUsable: Bool { isPossible.load(ordering: .relaxed) }

    /// Those that come now would only wait.
    var isFull: Bool { pending.load(ordering: .relaxed) >= Self.pendingAtMost }

    /// All of it has come. Called on an engine's thread.
    func add(_ attempt: SmallFileAttempt) {
        pending.add(1, ordering: .relaxed)
        if ready.passOn(the: attempt, isFull: isFull) { Task { await calls.slotsMoved() } }
        if arrived.add([attempt]) { writing.async { self.write() } }
    }

    // MARK: Writing

    private func write() {
        var folders: [String: UnnamedFile.Folder] = [:]
        while true {
            let arrived = arrived.take()
            if arrived.isEmpty { return }
            let batch = arrived.filter { write($0, &folders) }
            pending.subtract(arrived.count - batch.count, ordering: .relaxed)
            if !batch.isEmpty, written.add(batch) { Task { await commit() } }
        }
    }

    /// False: it went on in the ordinary way.
    private func write(_ attempt: SmallFileAttempt, _ folders: inout [String: UnnamedFile.Folder]) -> Bool {
        do throws(DownloadError) {
            if isUsable, try attempt.write(in: folder(of: attempt.started.request.destination, &folders)) {
                return true
            }
        } catch {
            if case .fileFailed(.system, _) = error { isPossible.store(false, ordering: .relaxed) }
        }
        attempt.leave()
        return false
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
        var completed: [SmallFileAttempt] = []
        while true {
            let taken = written.take(goesOn: !completed.isEmpty)
            if taken.isEmpty, completed.isEmpty { return }
            var batch = await sync(taken)
            FaultPoint.reached("beforeFilesMarked")
            let outcome = await save(completed + batch, durably: !batch.isEmpty)
            FaultPoint.reached("afterFilesMarked")
            if !completed.isEmpty {
                for attempt in completed where outcome.lost.contains(attempt.id) {
                    attempt.record.state = .failed(.sessionUnavailable(.ownedElsewhere(attempt.id, session: "another")))
                }
                // In the store they are still what they were before: whole, and about to get their names.
                if let failure = outcome.failure { await calls.unrecorded(completed.map(\.record), failure) }
                await calls.ended(completed)
            }
            let lost = batch.filter { outcome.failure != nil || outcome.lost.contains($0.id) }
            if !lost.isEmpty {
                await calls.begin(lost.map(\.started))
                batch.removeAll { attempt in lost.contains { $0 === attempt } }
            }
            completed = await link(batch)
            pending.subtract(taken.count, ordering: .relaxed)
        }
    }

    /// Those that are durable now.
    private func sync(_ batch: [SmallFileAttempt]) async -> [SmallFileAttempt] {
        if batch.isEmpty { return [] }
        let (synced, failed) = await onNaming {
            if batch.count < Finisher.sharedSyncFrom {
                return batch.partitioned { attempt in
                    Self.succeeds { () throws(DownloadError) in try attempt.file?.sync() }
                }
            }
            var folders: [String: Bool] = [:]
            return batch.partitioned { attempt in
                guard let folder = attempt.file?.folder else { return false }
                if let known = folders[folder.path] { return known }
                let isSynced = Self.succeeds { () throws(DownloadError) in try folder.syncFileSystem() }
                folders[folder.path] = isSynced
                return isSynced
            }
        }
        if !failed.isEmpty { await calls.begin(failed.map(\.started)) }
        return synced
    }

    private func save(
        _ attempts: [SmallFileAttempt], durably: Bool
    ) async -> (lost: Set<DownloadID>, failure: DownloadError?) {
        do {
            let lost = try await context.store.save(
                attempts.map(\.record), session: context.session, durably: durably)
            return (lost, nil)
        } catch {
            return ([], error as? DownloadError ?? .unexpected("\(error)"))
        }
    }

    /// Gives them their names. Those whose names are taken by now, or whose folder is not where it was, begin anew.
    private func link(_ batch: [SmallFileAttempt]) async -> [SmallFileAttempt] {
        if batch.isEmpty { return [] }
        let (completed, failed) = await onNaming { [self] in
            var folders: [ObjectIdentifier: (folder: UnnamedFile.Folder, isSound: Bool)] = [:]
            let (linked, unlinked) = batch.partitioned { attempt in
                do throws(DownloadError) {
                    FaultPoint.reached("beforeLink")
                    try attempt.file?.link(as: attempt.name)
                    FaultPoint.reached("afterLink")
                    if let folder = attempt.file?.folder { folders[ObjectIdentifier(folder)] = (folder, false) }
                    return true
                } catch {
                    if case .fileFailed(.exists, _) = error {} else { isPossible.store(false, ordering: .relaxed) }
                    return false
                }
            }
            for (key, value) in folders {
                folders[key]?.isSound =
                    Self.succeeds { () throws(DownloadError) in try value.folder.sync() } && value.folder.isInPlace
            }
            // The others are found under their names, or not, when they are begun again.
            let (sound, unsound) = linked.partitioned { attempt in
                attempt.file.map { folders[ObjectIdentifier($0.folder)]?.isSound == true } ?? false
            }
            for attempt in sound { attempt.complete() }
            return (sound, unlinked.map(\.started) + unsound.map(\.record))
        }
        if !failed.isEmpty { await calls.begin(failed) }
        return completed
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
    /// One pass: what is asked may have effects.
    fileprivate func partitioned(_ isFirst: (Element) -> Bool) -> (first: [Element], rest: [Element]) {
        var (first, rest): ([Element], [Element]) = ([], [])
        for element in self {
            if isFirst(element) { first.append(element) } else { rest.append(element) }
        }
        return (first, rest)
    }
}
