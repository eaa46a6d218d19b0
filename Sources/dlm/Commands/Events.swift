import ArgumentParser
import DownloadKit

struct Events: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Print every change of every download, as lines of JSON.",
        discussion: """
            Each line has a cursor. dlm events --since CURSOR prints the events after this cursor, each once and in \
            order. Then it prints a line with the event didFinishEvents, and then new events as they happen. An event \
            didLoseEvents means that the events up to its cursor were too old and have been deleted. With --store, \
            prints each URL of a shared queue when it has ended; with --since, some URLs may be printed again.
            """)

    @Option(
        "Start with the events after this cursor; 0 means all stored events.", value: "cursor", parsing: .unconditional)
    var since: EventCursor?

    @Flag(help: "End after the events that have already happened.")
    var once = false

    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if let since, since < 0 { throw ValidationError("--since \(since): give a cursor, or 0 for all events") }
    }

    func run(on queue: QueueCommands) async throws -> Int32 { try await queue.events(since: since, once: once) }

    func run(here context: Context) async throws -> Int32 {
        try await context.withService { service in
            try await context.console.whileRead(context.time) { try await tell(service, context) }
            return 0
        }
    }

    /// Prints the entries of the log. Past entries are collected and printed in parts, so that the files of completed
    /// downloads are looked up together for each part.
    private func tell(_ service: any DownloadService, _ context: Context) async throws {
        var replayed: [LogEntry] = []
        var isReplay = true
        for try await entry in try await service.log(since: since) {
            guard isReplay else {
                context.console.print(EventDocument(entry).json)
                continue
            }
            replayed.append(entry)
            if case .didFinishEvents = entry { isReplay = false }
            if isReplay, replayed.count < Follower.chunk { continue }
            let fates = try await fates(of: replayed, service, context)
            for entry in replayed { context.console.print(EventDocument(entry, fate: entry.fate(in: fates)).json) }
            replayed = []
            if !isReplay, once { return }
        }
    }

    /// Returns what became of the files of downloads that completed in these entries. Downloads that are no longer
    /// completed are left out.
    private func fates(
        of entries: [LogEntry], _ service: any DownloadService, _ context: Context
    ) async throws -> [DownloadID: CompletedFileFate] {
        let completed = Set(entries.compactMap(\.completedID)).sorted()
        guard let first = completed.first, let last = completed.last else { return [:] }
        var fates: [DownloadID: CompletedFileFate] = [:]
        // Ids that are close together are read as one range. The selection is by state, because a selection by id fails
        // if one of the downloads was removed in the meantime.
        let parts = first.distance(to: last) < 4 * Follower.chunk ? [first...last] : completed.map { $0...$0 }
        for part in parts {
            var after = part.lowerBound.advanced(by: -1)
            while after < part.upperBound {
                let page = try await service.snapshots(
                    DownloadSelection(
                        .states([.completed]), limit: min(Follower.chunk, part.count), after: after))
                for snapshot in page where part.contains(snapshot.id) {
                    fates[snapshot.id] = context.fate(snapshot.record)
                }
                guard let newest = page.last?.id else { break }
                after = newest
            }
        }
        return fates
    }
}

extension LogEntry {
    /// The id of the download whose completion this entry records; nil for every other entry.
    fileprivate var completedID: DownloadID? {
        guard case .event(let event) = self, event.kind == .completed else { return nil }
        return event.id
    }

    fileprivate func fate(in fates: [DownloadID: CompletedFileFate]) -> CompletedFileFate? {
        completedID.flatMap { fates[$0] }
    }
}
