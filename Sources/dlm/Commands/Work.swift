import ArgumentParser
import DownloadKit
import DownloadStoragePostgres
import Foundation
import Glibc

struct Work: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "work",
        abstract: "Download the URLs of a queue that many machines share.",
        discussion: """
            dlm get -b --store adds the URLs. Any number of workers on any number of machines take them, so that each \
            URL is downloaded once. If a worker dies, others get its URLs when its lease is over. Ends when nothing is \
            queued and no worker downloads any more. The exit status is that of dlm get --manifest. After SIGTERM, the \
            worker gives its URLs back to the queue. dlm list --store shows the queue.
            """)

    @Option(
        help: ArgumentHelp(
            "The queue: a PostgreSQL database. The password comes from PGPASSWORD, ~/.pgpass or a service file.",
            valueName: "url"),
        transform: QueueArgument.init(argument:))
    var store: QueueArgument

    @Flag(help: "Stay when the queue is empty, and wait for more URLs.")
    var wait = false

    @Option("Let at most N workers, on all machines together, download from the same host. Default: 1.", value: "n")
    var workersPerHost: Int?

    @Option(
        "Give the URLs of this worker to others if the database has not heard from it for this time. Default: 60s.",
        value: "time")
    var leaseTime: Seconds?

    @Option(
        "Put the files below this folder instead of the folder of the dlm get that added them.", value: "dir",
        name: .shortAndLong, completion: .directory)
    var directory: String?

    @Option(
        "Append a line of JSON to this file for each URL that ends, before the queue records the end.", value: "file",
        completion: .file())
    var manifest: String?

    @Flag(help: "Record the SHA-256 digest of each file in the manifest, also of files without a checksum.")
    var manifestDigest = false

    @Flag(help: "Put URLs that failed for good back into the queue first. Others that failed are always put back.")
    var retryFailed = false

    @Option(
        "Stop with status 69 after more than N failed downloads, or more than P% of at least 100.", value: "n or p%")
    var maxFailures: WorkerOutcome.FailureLimit?

    @Option(
        "Keep the state of this worker in this folder instead of $XDG_STATE_HOME; it should be on a local disk.",
        value: "dir", completion: .directory)
    var state: String?

    @OptionGroup(title: "How") var session: SessionOptions
    @OptionGroup(title: "Output") var progress: ProgressOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    /// The permitted lease times, in seconds. If a lease were shorter than a call to a slow database, two workers would
    /// get the same URLs again and again.
    private static let leaseTimes = 1.0...86_400.0

    func validate() throws {
        _ = try store.location
        if let workersPerHost, !(1...1000).contains(workersPerHost) {
            throw ValidationError("--workers-per-host \(workersPerHost): give 1 to 1000 workers")
        }
        if let leaseTime, !Self.leaseTimes.contains(leaseTime.value) {
            throw ValidationError("--lease-time \(leaseTime): give 1s to 24h")
        }
        if manifest == "" { throw ValidationError("--manifest: no file given") }
        if directory == "" { throw ValidationError("-d: no folder given") }
        if state == "" { throw ValidationError("--state: no folder given") }
        if manifestDigest, manifest == nil {
            throw ValidationError("--manifest-digest needs a manifest; give --manifest, too")
        }
    }

    func run(in given: Context) async throws -> Int32 {
        let context = try given.with(state: state)
        let settings = try context.settings()
        let folder = try directory.map { try given.path(of: $0, "-d") }
        let lease = leaseTime?.value ?? 60
        let queue = try await URLQueue.open(store.location, time: context.time)
        let overrides = RequestOverrides()
        var running = 0
        return try await context.withService(
            kind: .foreground,
            { configuration in
                session.apply(to: &configuration, settings, limitsEach: false)
                running = configuration.maxConcurrent
            }
        ) { service in
            let id = try await queue.startWorker(Self.name, lease: lease)
            let worker = QueueWorker(queue, id: id, time: context.time)
            let run: WorkerRun
            do {
                // The queue decides which failed URLs are tried again.
                run = try WorkerRun(
                    manifest: manifest, hashes: manifestDigest, ManifestRule(retriesFailed: true),
                    limit: maxFailures, receiver: worker, time: context.time)
                _ = try await queue.retry(forGood: retryFailed)
            } catch {
                await worker.finish(isHurried: false)
                throw error
            }
            let feeder = QueueFeeder(
                worker: worker, folder: folder, running: running, workersPerHost: workersPerHost ?? 1, lease: lease,
                stays: wait, time: context.time)
            let status = try await Following(context, output, progress.progress).follow(
                service, for: .get(overrides), run: run
            ) { follower in try await feeder.run(follower) }
            if let notice = worker.notice { context.console.report(notice) }
            return status
        }
    }

    /// The name of this worker for people: machine and process.
    private static var name: String {
        var name = utsname()
        uname(&name)
        let host = withUnsafeBytes(of: name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return "\(host):\(getpid())"
    }
}
