import ArgumentParser
import DownloadKit
import DownloadStoragePostgres

/// `get -b --store`: adds URLs to a shared queue.
extension Get {
    /// - Parameter given: the requests of the command line.
    func enqueue(
        _ given: [DownloadRequest], _ list: ListReader?, _ maker: RequestMaker, _ store: QueueArgument,
        in context: Context
    ) async throws -> Int32 {
        let queue = try await URLQueue.open(store.location, creates: true, time: context.time)
        var adding = QueueAdding(queue, base: maker.folder, console: context.console, options: output)
        try await adding.add(given)
        if let list {
            // The next lines are read while the queue takes the previous ones.
            var coming = Task { try await maker.part(of: list) }
            while let part = try await coming.value {
                coming = Task { try await maker.part(of: list) }
                for document in part.rejected { adding.reject(document) }
                try await adding.add(part.requests)
            }
            if let notice = list.notice, !output.quiet { context.console.report(notice) }
        }
        adding.summarize()
        return adding.exitStatus
    }
}

/// The numbers of URLs that were added to a shared queue (`dlm get -b --store --json`).
struct AddedToQueueDocument: Document, Equatable {
    var version = 1
    var event = "queued"
    var added = 0
    /// The number of URLs that the queue had already, or that were given twice.
    var known = 0
    /// The number of URLs that cannot be in the queue.
    var rejected = 0
}

/// The adding of requests to a shared queue, part by part.
struct QueueAdding {
    private let queue: URLQueue
    private let base: String
    private let console: Console
    private let options: OutputOptions
    private var documents = QueuedRequest.Documents()
    private var total = AddedToQueueDocument()
    private var statuses: Set<Int32> = []

    /// - Parameter base: the folder of the command.
    init(_ queue: URLQueue, base: String, console: Console, options: OutputOptions) {
        (self.queue, self.base, self.console, self.options) = (queue, base, console, options)
    }

    /// The exit status of the command: 0, the status of the only kind of failure, or 1 for several kinds.
    var exitStatus: Int32 { statuses.count > 1 ? 1 : statuses.first ?? 0 }

    mutating func add(_ requests: some Sequence<DownloadRequest>) async throws {
        var items: [QueueItem] = []
        for request in requests {
            if let reason = QueuedRequest.refusal(of: request) {
                let error = DownloadError.requestInvalid(.notForScheme(request.url.string, what: reason))
                reject(RejectedDocument(error, url: request.url.string))
            } else {
                items.append(try QueuedRequest.item(request, base: base, &documents))
            }
        }
        if items.isEmpty { return }
        let added = try await queue.add(items)
        total.added += added
        total.known += items.count - added
    }

    /// Reports an input that cannot be in the queue.
    mutating func reject(_ document: RejectedDocument) {
        total.rejected += 1
        console.report(document.text)
        if options.json { console.print(document.json) }
        statuses.insert(document.exitStatus)
    }

    func summarize() {
        if options.json { return console.print(total.json) }
        if options.quiet || total.added + total.known == 0 { return }
        let known = total.known == 0 ? "" : ", \(total.known) were there already"
        console.print("\(total.added) added\(known)")
    }
}
