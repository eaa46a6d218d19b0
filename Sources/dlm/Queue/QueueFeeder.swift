import DownloadKit
import DownloadStoragePostgres

/// The loop of a worker: leases URLs, and adds their requests as downloads of this process.
struct QueueFeeder {
    let worker: QueueWorker
    /// The folder of the worker; nil to use the folders of the requests.
    let folder: String?
    let running: Int
    /// The greatest number of workers that download from one host at the same time.
    let workersPerHost: Int
    /// The length of a lease, in seconds.
    let lease: Double
    /// Whether the worker stays when the queue is empty.
    let stays: Bool
    let time: any TimeSource

    private static let longestPause = 2.0

    func run(_ follower: Follower) async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await beat()
                // After each step, the follower checks whether it must stop. This empty step makes it check at once.
                follower.perform { _ in }
            }
            do throws(DownloadError) {
                try await feed(follower)
            } catch {
                worker.fail(error)
                follower.perform { _ in }
            }
            group.cancelAll()
        }
    }

    /// Renews the lease again and again until the task is cancelled, the lease is over, or the queue fails.
    private func beat() async {
        while true {
            do { try await time.sleep(for: .seconds(lease / 4)) } catch { return }
            do throws(DownloadError) {
                if try await !worker.queue.heartbeat(worker.id) { return worker.lose() }
            } catch {
                if !Task.isCancelled { worker.fail(error) }
                return
            }
        }
    }

    private func feed(_ follower: Follower) async throws(DownloadError) {
        var size = LeaseSize(running: running)
        var documents = QueueDocuments(worker.queue)
        var (last, endedBefore) = (time.now, 0)
        var pause = 0.05
        while !Task.isCancelled, !worker.isStopped {
            let again = worker.takeAgain()
            if !again.isEmpty { try await begin(again, &documents, follower) }
            let wanted = size.wanted(held: worker.held)
            if wanted == 0 {
                await worker.rest(Self.longestPause, until: size.lowest)
                continue
            }
            let worker = worker
            let leased = try await worker.queue.lease(
                worker.id, most: wanted, hosts: running, workers: workersPerHost, held: { worker.heldItems })
            guard let leased else { return worker.lose() }
            worker.leased(leased)
            if leased.isEmpty {
                if worker.held == 0, !stays, try await !worker.queue.hasWork() { return }
                await worker.rest(pause, until: nil)
                pause = min(Self.longestPause, pause * 2)
                continue
            }
            pause = 0.05
            try await begin(leased, &documents, follower)
            let (now, ended) = (time.now, worker.ended)
            size.adapt(ended: ended - endedBefore, seconds: (now - last) / .seconds(1))
            (last, endedBefore) = (now, ended)
        }
    }

    private func begin(
        _ items: [LeasedItem], _ documents: inout QueueDocuments, _ follower: Follower
    ) async throws(DownloadError) {
        try await documents.load(items)
        var requests: [DownloadRequest] = []
        for item in items {
            do throws(DownloadError) {
                requests.append(
                    try QueuedRequest.request(item, try documents.request(item.request, of: item.url), folder: folder))
            } catch {
                follower.reject(RejectedDocument(error, url: item.url))
            }
        }
        for part in requests.parts(of: Follower.chunk) {
            do { try await follower.add(RequestList(part)) } catch {
                throw error as? DownloadError ?? .unexpected("\(error)")
            }
        }
    }
}

/// The documents of requests that a worker has already read.
struct QueueDocuments {
    private static let most = 1000

    private let queue: URLQueue
    private var known: [Int: Result<DownloadRequest, DownloadError>] = [:]

    init(_ queue: URLQueue) { self.queue = queue }

    mutating func load(_ items: [LeasedItem]) async throws(DownloadError) {
        let missing = Set(items.map(\.request)).filter { known[$0] == nil }
        if missing.isEmpty { return }
        if known.count + missing.count > Self.most {
            let needed = Set(items.map(\.request))
            known = known.filter { needed.contains($0.key) }
        }
        for (id, text) in try await queue.documents(missing.sorted()) {
            known[id] = Result { try RequestDocument(text: text).request }
                .mapError { _ in .unexpected("the options of the request cannot be read; is this dlm too old?") }
        }
    }

    func request(_ id: Int, of url: String) throws(DownloadError) -> DownloadRequest {
        guard let found = known[id] else { throw .unexpected("\(url): the queue has no options for it") }
        return try found.get()
    }
}

/// The rule for how many URLs a worker leases. After a lease, a worker holds about as many URLs as it finishes in four
/// seconds, but at least two for each running download and at most ``largest``. The next lease is due when half of them
/// have ended. So leases are rare if files are small, and a slow worker leaves most URLs to other workers.
struct LeaseSize: Equatable, Sendable {
    /// The time for which the leased URLs should last, in seconds.
    static let stock = 4.0
    static let largest = 2000

    let running: Int
    /// The number of URLs that the worker holds after a lease.
    private(set) var target: Int

    init(running: Int) {
        self.running = running
        target = 2 * running
    }

    /// Returns how many URLs to lease now; 0 if enough of the leased URLs have not ended.
    func wanted(held: Int) -> Int { held <= lowest ? target - held : 0 }

    /// The number of held URLs at which the next lease is due.
    var lowest: Int { target / 2 }

    /// Adapts ``target`` to how fast URLs ended since the last lease. ``target`` at most doubles.
    mutating func adapt(ended: Int, seconds: Double) {
        guard seconds > 0 else { return }
        let fitting = Double(ended) / seconds * Self.stock
        let most = min(2 * target, Self.largest)
        target = max(2 * running, Int(min(fitting, Double(most))))
    }
}
