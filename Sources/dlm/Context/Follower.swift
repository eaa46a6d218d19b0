import DownloadKit
import Foundation
import Synchronization

/// Asks for downloads and follows them until each has ended, in this process or another.
final class Follower: Sendable {
    /// What happened, in the order in which it is dealt with.
    enum Message: Sendable {
        case added([AddedDownload])
        case claimed([ClaimedDownload])
        case hasAll
        case cannotAsk(any Error)
        case event(DownloadEvent)
        case looked([DownloadSnapshot])
        case lost([DownloadID], any Error)
        case serviceEnded
    }

    /// Looks at downloads that other processes run, in a second.
    static let looks = 4.0
    /// Downloads in one question to the service.
    static let chunk = 500

    let service: any DownloadService
    let ledger = Mutex(Ledger())
    private let narrator: Narrator
    private let display: ProgressDisplay
    /// Given again when a download of another process is taken over.
    private let overrides: RequestOverrides
    private let inbox: AsyncStream<Message>.Continuation
    private let messages: AsyncStream<Message>

    init(_ service: any DownloadService, narrator: Narrator, display: ProgressDisplay, overrides: RequestOverrides) {
        self.service = service
        self.narrator = narrator
        self.display = display
        self.overrides = overrides
        (messages, inbox) = AsyncStream.makeStream()
    }

    func add(_ requests: [DownloadRequest]) async throws {
        if !requests.isEmpty { inbox.yield(.added(try await service.add(requests))) }
    }

    func resume(_ ids: [DownloadID]) async throws {
        for start in stride(from: 0, to: ids.count, by: Self.chunk) {
            let some = Array(ids[start..<min(start + Self.chunk, ids.count)])
            inbox.yield(.claimed(try await service.resume(some, overrides: overrides)))
        }
    }

    /// Something that never became a download.
    func reject(_ document: RejectedDocument) {
        narrator.reject(document)
        ledger.withLock { $0.reject(status: document.exitStatus) }
    }

    /// - Parameter ask: asks for the downloads through `add` and `resume`.
    /// - Returns: the exit status.
    func follow(_ ask: @escaping @Sendable (Follower) async throws -> Void) async throws -> Int32 {
        let events = await service.events()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [inbox] in
                for await event in events { inbox.yield(.event(event)) }
                inbox.yield(.serviceEnded)
            }
            group.addTask { [self] in
                do {
                    try await ask(self)
                    inbox.yield(.hasAll)
                } catch {
                    inbox.yield(.cannotAsk(error))
                }
            }
            group.addTask { [self] in await look() }
            group.addTask { [self] in await display.run(self) }
            try await listen()
            group.cancelAll()
        }
        display.end()
        narrator.summarize(ledger.withLock { $0 })
        return ledger.withLock(\.exitStatus)
    }

    /// The first signal: everything stops with its resume data on disk, and its owner learns how to go on.
    func interrupt(_ reason: DownloadState.PauseReason) async {
        ledger.withLock { $0.isInterrupted = true }
        // A terminal that takes nothing (Ctrl-S) must not keep the downloads from being saved.
        async let pausing: Void = service.pauseAll(reason)
        display.freeze()
        await pausing
        let (ids, elsewhere, isPartOfList) = ledger.withLock { ($0.here.sorted(), $0.elsewhere.count, !$0.hasAll) }
        // Without them the ids alone are told.
        let snapshots = try? await service.snapshots(.ids(Array(ids.prefix(Narrator.pausedLines + 1))))
        narrator.paused(ids: ids, snapshots: snapshots ?? [], elsewhere: elsewhere, isPartOfList: isPartOfList)
    }

    private func listen() async throws {
        for await message in messages {
            try await handle(message)
            if ledger.withLock(\.isDone) { return }
        }
    }

    private func handle(_ message: Message) async throws {
        switch message {
        case .added(let downloads):
            display.expect(downloads.map(\.record.displayName))
            ledger.withLock { ledger in
                for download in downloads {
                    ledger.expect(download.record.id, download.kind == .joined ? .elsewhere : .here)
                }
            }
        case .claimed(let downloads):
            display.expect(downloads.map(\.record.displayName))
            downloads.forEach(claimed)
        case .hasAll: ledger.withLock { $0.hasAll = true }
        case .cannotAsk(let error): try cannotAsk(error)
        case .event(let event): handle(event)
        case .looked(let snapshots): for snapshot in snapshots { await looked(snapshot) }
        case .lost(let ids, let error): for id in ids { end(id, error) }
        case .serviceEnded: throw DownloadError.sessionUnavailable(.shuttingDown)
        }
    }

    private func claimed(_ download: ClaimedDownload) {
        let record = download.record
        switch download {
        case .claimed: ledger.withLock { $0.expect(record.id, .here) }
        case .running: ledger.withLock { $0.expect(record.id, .elsewhere) }
        case .completed: end(DownloadSnapshot(record: record))
        }
    }

    /// Nothing was begun: the command fails. Otherwise what was begun is followed to its end.
    private func cannotAsk(_ error: any Error) throws {
        if ledger.withLock(\.isInterrupted) { return }
        guard ledger.withLock({ $0.count > 0 }), let known = error as? DownloadError else { throw error }
        reject(RejectedDocument(known))
        ledger.withLock { $0.hasAll = true }
    }

    private func handle(_ event: DownloadEvent) {
        switch event {
        case .didComplete(let snapshot), .didFail(let snapshot, _), .didCancel(let snapshot),
            .didRemove(let snapshot):
            end(snapshot)
        case .didStart(let snapshot, let offset):
            ledger.withLock { $0.start(snapshot.id, offset: offset) }
            narrator.tell(event)
        case .didPause where ledger.withLock(\.isInterrupted): break
        case .didAdd, .didRestart, .willRetry, .didPause, .didResume, .didChange: narrator.tell(event)
        }
    }

    private func end(_ snapshot: DownloadSnapshot) {
        display.forget(snapshot.id)
        if ledger.withLock({ $0.end(snapshot) }) { narrator.end(snapshot, display: display) }
    }

    private func end(_ id: DownloadID, _ error: any Error) {
        let error = error as? DownloadError ?? .unexpected("\(error)")
        display.forget(id)
        if ledger.withLock({ $0.end(id, error) }) { narrator.reject(RejectedDocument(error)) }
    }

    /// Asks again and again about the downloads of other processes.
    private func look() async {
        while !Task.isCancelled {
            let ids = ledger.withLock { $0.elsewhere.sorted() }
            for start in stride(from: 0, to: ids.count, by: Self.chunk) {
                await look(at: Array(ids[start..<min(start + Self.chunk, ids.count)]))
            }
            // Only cancellation ends the pause early, and the loop with it.
            try? await Task.sleep(for: .seconds(1 / Self.looks))
        }
    }

    private func look(at ids: [DownloadID]) async {
        do {
            let snapshots = try await service.snapshots(.ids(ids))
            inbox.yield(.looked(snapshots))
            let found = Set(snapshots.map(\.id))
            for id in ids where !found.contains(id) { inbox.yield(.lost([id], DownloadError.noSuchDownload(id))) }
        } catch DownloadError.noSuchDownload(let id) {
            inbox.yield(.lost([id], DownloadError.noSuchDownload(id)))
        } catch {
            inbox.yield(.lost(ids, error))
        }
    }

    private func looked(_ snapshot: DownloadSnapshot) async {
        guard ledger.withLock({ $0.elsewhere.contains(snapshot.id) && !$0.isInterrupted }) else { return }
        let record = snapshot.record
        switch record.state {
        case .completed, .failed, .cancelled: end(snapshot)
        case .paused(.user): display.update(snapshot.progress)
        case .paused, .queued, .running, .waiting:
            display.update(snapshot.progress)
            if record.session == nil { await takeOver(record.id) }
        }
    }

    /// Its process is gone: the download goes on here.
    private func takeOver(_ id: DownloadID) async {
        do {
            for download in try await service.resume([id], overrides: overrides) { claimed(download) }
        } catch {
            if !ledger.withLock(\.isInterrupted) { end(id, error) }
        }
    }
}
