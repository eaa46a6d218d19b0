import Foundation

package struct QueueItem: Equatable, Sendable {
    /// The URL in the form in which dlm writes URLs.
    package let url: String
    package let host: String
    /// The options of the request as JSON. Most items of a list have the same document.
    package let document: String
    /// The folder of the file, relative to the folder of the document, or absolute.
    package let folder: String
    /// The name of the file; nil if the server names it.
    package let name: String?

    package init(url: String, host: String, document: String, folder: String, name: String?) {
        (self.url, self.host, self.document, self.folder, self.name) = (url, host, document, folder, name)
    }
}

/// A URL that a worker has leased.
package struct LeasedItem: Equatable, Sendable {
    package let id: Int64
    package let url: String
    package let request: Int
    package let folder: String
    package let name: String?
    /// The number of leases of this URL, including this one.
    package let attempts: Int
    /// The time of the first lease, in seconds since 1970 by the clock of the database.
    package let firstLeased: Double

    /// - Parameter row: the columns of a row of `dlm.lease`.
    package init?(_ row: [String?]) {
        guard row.count == 7, let id = row[0].flatMap(Int64.init), let url = row[1],
            let request = row[2].flatMap(Int.init), let folder = row[3], let attempts = row[5].flatMap(Int.init),
            let firstLeased = row[6].flatMap(Double.init)
        else { return nil }
        self.firstLeased = firstLeased
        (self.id, self.url, self.request, self.folder, self.attempts) = (id, url, request, folder, attempts)
        name = row[4]
    }
}

/// The end of a leased URL.
package struct QueueResult: Equatable, Sendable {
    /// How a URL ended, with the number in the table.
    package enum State: Int, Sendable {
        case done = 2
        case failed = 3
        case failedForGood = 4
    }

    package let id: Int64
    package let state: State
    package let bytes: Int64
    /// The kind and the reason of the error, such as `server/status404`; nil for a success.
    package let error: String?
    /// The line of the manifest.
    package let line: String

    package init(id: Int64, state: State, bytes: Int64, error: String?, line: String) {
        (self.id, self.state, self.bytes, self.error, self.line) = (id, state, bytes, error, line)
    }
}

/// The numbers of a queue.
package struct QueueCounts: Equatable, Sendable {
    package struct Host: Encodable, Equatable, Sendable {
        package let name: String
        package let queued: Int
        package let leased: Int
        package let workers: Int
        package let isPaused: Bool
    }

    package struct Worker: Encodable, Equatable, Sendable {
        package let id: Int64
        package let name: String
        package let leased: Int
        /// The time until the lease is over, in seconds with one decimal; negative if the lease is over.
        package let secondsLeft: Double
    }

    package init() {}

    package internal(set) var isPaused = false
    package internal(set) var queued = 0
    package internal(set) var leased = 0
    package internal(set) var done = 0
    /// Items that failed and are worth another run.
    package internal(set) var failed = 0
    package internal(set) var failedForGood = 0
    package internal(set) var bytes: Int64 = 0
    /// The hosts that have unfinished items or are paused. Paused hosts come first, then the hosts with the most
    /// items. If there are too many, the last hosts are left out.
    package internal(set) var hosts: [Host] = []
    package internal(set) var workers: [Worker] = []
}

/// An item with all that the queue records about it.
package struct RecordedItem: Equatable, Sendable {
    /// A state, as users read it.
    package enum State: Int, Sendable, CaseIterable {
        case queued, leased, done, failed, failedForGood
    }

    package let id: Int64
    package let url: String
    package let state: State
    package let attempts: Int
    /// The worker that has leased or ended the item; nil for none.
    package let worker: String?
    package let error: String?
    /// The line of the manifest; nil before the end.
    package let line: String?
}

extension RecordedItem {
    init?(_ row: [String?]) {
        guard row.count == 7, let id = row[0].flatMap(Int64.init), let url = row[1],
            let state = row[2].flatMap(Int.init).flatMap(State.init), let attempts = row[3].flatMap(Int.init)
        else { return nil }
        (self.id, self.url, self.state, self.attempts) = (id, url, state, attempts)
        (worker, error, line) = (row[4], row[5], row[6])
    }
}
