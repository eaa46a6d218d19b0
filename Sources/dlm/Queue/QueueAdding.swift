import DownloadKit
import DownloadStoragePostgres

/// The numbers of URLs that were added to a shared queue (`dlm get -b --store --json`).
struct AddedToQueueDocument: Document, Equatable {
    var version = 1
    var event = "queued"
    var added = 0
    var known = 0
    var rejected = 0
}

/// The adding of requests to a shared queue (`get -b --store`).
struct QueueAdding: Handover {
    private let queue: URLQueue
    private let base: String
    let console: Console
    private let options: OutputOptions
    private var documents = QueuedRequest.Documents()
    private var total = AddedToQueueDocument()
    private(set) var statuses: Set<Int32> = []

    init(_ store: QueueArgument, base: String, _ context: Context, _ options: OutputOptions) async throws {
        queue = try await URLQueue.open(store.location, creates: true, time: context.time)
        (self.base, console, self.options) = (base, context.console, options)
    }

    private mutating func add(_ requests: RequestList) async throws {
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

    mutating func add(
        _ first: RequestMaker.Part, next: @escaping @Sendable () async throws -> RequestMaker.Part?
    ) async throws {
        // The next lines are read while the queue takes the previous ones.
        var coming = Task<RequestMaker.Part?, any Error> { first }
        while let part = try await coming.value {
            coming = Task { try await next() }
            for document in part.rejected { reject(document) }
            try await add(part.requests)
        }
        summarize()
    }

    private mutating func reject(_ document: RejectedDocument) {
        total.rejected += 1
        document.tell(console, options)
        statuses.insert(document.exitStatus)
    }

    private func summarize() {
        if options.json { return console.print(total.json) }
        if options.quiet || total.added + total.known == 0 { return }
        let known = total.known == 0 ? "" : ", \(total.known) were there already"
        console.print("\(total.added) added\(known)")
    }
}
