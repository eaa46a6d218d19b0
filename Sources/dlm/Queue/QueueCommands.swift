import ArgumentParser
import DownloadKit
import DownloadStoragePostgres

/// The commands that show or change a shared queue (`--store`).
struct QueueCommands {
    private let queue: URLQueue
    private let context: Context
    private let output: OutputOptions

    init(_ store: QueueArgument, _ context: Context, _ output: OutputOptions) async throws {
        queue = try await URLQueue.open(store.location, time: context.time)
        (self.context, self.output) = (context, output)
    }

    private static let page = 1000

    /// `dlm list`: the numbers, or the URLs in some states.
    func list(_ states: [DownloadState.Kind], all: Bool, limit: Int?) async throws -> Int32 {
        if states.isEmpty, !all {
            _ = try await tellCounts()
            return 0
        }
        let chosen = all ? Set(RecordedItem.State.allCases) : Set(try states.flatMap(Self.states))
        var (last, left) = (Int64(0), limit ?? .max)
        while left > 0, !context.console.isOutputClosed {
            let items = try await queue.items(in: chosen, after: last, limit: min(left, Self.page))
            guard let newest = items.last?.id else { break }
            for item in items {
                let document = QueueItemDocument(item)
                context.console.print(document, output) { [Escaping.line(document.line)] }
            }
            (last, left) = (newest, left - items.count)
        }
        return 0
    }

    private static func states(_ kind: DownloadState.Kind) throws -> [RecordedItem.State] {
        switch kind {
        case .queued: [.queued]
        case .running: [.leased]
        case .completed: [.done]
        case .failed: [.failed, .failedForGood]
        case .waiting, .paused, .cancelled:
            throw ValidationError("--state \(kind.rawValue): URLs of a queue are queued, running, completed or failed")
        }
    }

    func show(_ ids: [DownloadID]) async throws -> Int32 {
        let items = try await queue.items(ids.map(\.rawValue))
        for id in ids where !items.contains(where: { $0.id == id.rawValue }) { throw DownloadError.noSuchDownload(id) }
        for item in items {
            let document = QueueItemDocument(item)
            context.console.print(document, output) { document.lines.map(Escaping.line) }
        }
        return 0
    }

    /// `dlm pause` and `dlm resume`, for a host or for the queue.
    func pause(_ pauses: Bool, host: String?) async throws -> Int32 {
        guard try await queue.pause(pauses, host: host?.lowercased()) else {
            throw ValidationError("--host \(host ?? ""): the queue has no URLs of this host")
        }
        return report("\(host ?? "the queue"): \(pauses ? "paused; leased URLs continue" : "resumed")")
    }

    /// `dlm resume` for failed URLs, which go back into the queue.
    func retry(_ ids: [DownloadID]?) async throws -> Int32 {
        report("\(try await queue.retry(forGood: true, ids?.map(\.rawValue))) failed URLs are queued again")
    }

    private func report(_ text: String) -> Int32 {
        if !output.quiet, !output.json { context.console.report(text) }
        return 0
    }

    private static let pause = 1.0

    /// `dlm wait`: returns when nothing is queued or leased.
    func wait(_ limit: Seconds?) async throws -> Int32 {
        let end = limit.map { context.time.now + .seconds($0.value) }
        while try await queue.hasWork() {
            if let end, context.time.now >= end {
                context.console.report("timed out after \(limit?.description ?? "") s: the queue is not empty")
                return 1
            }
            try await context.time.sleep(for: .seconds(Self.pause))
        }
        let document = try await tellCounts()
        if document.failed > 0 { return WorkerOutcome.tryAgain }
        return document.failedForGood > 0 ? WorkerOutcome.someNeverWork : 0
    }

    /// `dlm events`: prints the URLs that ended after a cursor and, without `once`, those that end from now on.
    func events(since start: EventCursor?, once: Bool) async throws -> Int32 {
        try await context.console.whileRead(context.time) {
            let newest = try await queue.newestEnd()
            if let start, start > newest {
                // The cursor is from another cluster, or a restored one.
                context.console.print(EventDocument(.didLoseEvents(upTo: newest)).json)
            }
            var cursor = try await ends(after: min(start ?? newest, newest))
            context.console.print(EventDocument(.didFinishEvents(cursor)).json)
            while !once {
                try await context.time.sleep(for: .seconds(Self.pause))
                cursor = try await ends(after: cursor)
            }
        }
        return 0
    }

    /// Prints the ends after a cursor, and returns the cursor for the next call.
    private func ends(after start: Int64) async throws -> Int64 {
        var cursor = start
        while true {
            try Task.checkCancellation()
            let ends = try await queue.ends(after: cursor)
            guard let last = ends.last?.cursor else { return cursor }
            for (index, end) in ends.enumerated() {
                // The events of one report have the same cursor. A client that continues in the middle of a report gets
                // all its events again.
                let isLast = index + 1 == ends.count || ends[index + 1].cursor > end.cursor
                let document = QueueItemDocument(end.item, cursor: isLast ? end.cursor : end.cursor - 1)
                context.console.print(document.json)
            }
            cursor = last
        }
    }

    private func tellCounts() async throws -> QueueDocument {
        let document = QueueDocument(try await queue.counts())
        context.console.print(document, output) { document.lines.map(Escaping.line) }
        return document
    }
}
