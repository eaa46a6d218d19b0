import Foundation
import Synchronization

/// Brings whole small files from memory to the committer, as many together as have come: each is written without a name.
/// A file that cannot go this way goes on in the ordinary one.
final class SmallFileLane: Sendable {
    struct Calls: Sendable {
        /// A runner goes on with what has come.
        let goOn: @Sendable (sending AttemptTask) -> Void
        /// Another attempt, with a runner of its own: what had come is given up.
        let begin: @Sendable ([DownloadRecord]) async -> Void
        /// Slots were passed on, or are free (see ``ReadyFiles``).
        let slotsMoved: @Sendable () async -> Void
        /// Completed, or owned by another session now.
        let ended: @Sendable ([SmallFileAttempt]) async -> Void
    }

    let context: RunnerContext
    let ready = ReadyFiles()
    private let calls: Calls
    private let writing = DispatchQueue(label: "dlm.small", qos: .userInitiated)
    private let arrived = Backlog<SmallFileAttempt>()
    /// False once the file system turned out to have no files without names, and where bytes go to no file.
    private let isPossible: Atomic<Bool>

    /// Files that have come and have no names yet; each holds a buffer, and then a descriptor.
    private let pending = Atomic(0)
    private let pendingAtMost: Int

    /// - Parameter mostByFiles: how many downloads the limit of open files allows.
    init(context: RunnerContext, mostByFiles: Int, calls: Calls) {
        pendingAtMost = min(512, mostByFiles)
        self.context = context
        // An adapter is asked by the runner.
        isPossible = Atomic(context.stream == nil && context.adapter == nil)
        self.calls = calls
    }

    func goOn(_ runner: sending AttemptTask) { calls.goOn(runner) }

    var isUsable: Bool { isPossible.load(ordering: .relaxed) }

    /// Those that come now would only wait.
    var isFull: Bool { pending.load(ordering: .relaxed) >= pendingAtMost }

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
            let jobs = arrived.compactMap { job(of: $0, &folders) }
            pending.subtract(arrived.count - jobs.count, ordering: .relaxed)
            if !jobs.isEmpty { context.committer.add(jobs) }
        }
    }

    /// Nil: the file went on in the ordinary way.
    private func job(of attempt: SmallFileAttempt, _ folders: inout [String: UnnamedFile.Folder]) -> Committer.Job? {
        do throws(DownloadError) {
            if isUsable, let job = try attempt.write(in: folder(of: attempt.started.request.destination, &folders)) {
                return job
            }
        } catch {
            if case .fileFailed(.system, _) = error { isPossible.store(false, ordering: .relaxed) }
        }
        attempt.leave()
        return nil
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

    // MARK: Ends

    /// The committer is done with them: those that got no name, or none that lasts, begin anew.
    func settled(_ files: [(attempt: SmallFileAttempt, job: Committer.Job)]) async {
        pending.subtract(files.count, ordering: .relaxed)
        var begun: [DownloadRecord] = []
        var ended: [SmallFileAttempt] = []
        for (attempt, job) in files {
            switch job.failure {
            case nil: ended.append(attempt)
            case .sessionUnavailable? where job.isNamed: ended.append(attempt)
            case .fileFailed(.exists, _)?: begun.append(attempt.anew(job))
            case .fileFailed? where job.isRefusedName:
                isPossible.store(false, ordering: .relaxed)
                begun.append(attempt.anew(job))
            case .some: begun.append(attempt.anew(job))
            }
            attempt.settle(job)
        }
        if !begun.isEmpty { await calls.begin(begun) }
        if !ended.isEmpty { await calls.ended(ended) }
    }
}

extension Committer.Job {
    /// The file was whole and marked, and its file system refused the name.
    fileprivate var isRefusedName: Bool { record.isFinishing && !isNamed }
}
