import ArgumentParser
import DownloadKit

/// The options of `get` for one of many workers that share a list of URLs. They select the worker's part of the list,
/// and they record the results for the workflow engine.
struct WorkerOptions: OptionTable {
    var shard: ShardArgument?
    var shardBy: ShardRule?
    var manifest: String?
    var manifestDigest = false
    var retryFailed = false
    var maxFailures: WorkerOutcome.FailureLimit?
    var nameBy: FileNameRule?
    var perHostRate: Double?
    var spread = false
    var state: String?
    var store: QueueArgument?

    func validate() throws {
        _ = try store?.location
        if manifest == "" { throw ValidationError("--manifest: no file given") }
        if manifest == nil {
            if manifestDigest {
                throw ValidationError("--manifest-digest needs a manifest; give --manifest, too")
            }
            if retryFailed { throw ValidationError("--retry-failed needs a manifest; give --manifest, too") }
        }
        if let perHostRate, !(0.0001...10_000).contains(perHostRate) {
            throw ValidationError("--per-host-rate \(perHostRate): give 0.0001 to 10000 downloads a second")
        }
        if spread, nameBy == nil, store == nil { throw ValidationError("--spread needs --name-by url, hash or number") }
        if state == "" { throw ValidationError("--state: no folder given") }
        if shardBy != nil, shard == nil { throw ValidationError("--shard-by needs --shard I/N") }
    }

    /// Returns the rule for file names; nil if neither `--name-by` nor `--store` is given. With `--store` alone, it is
    /// `url`.
    /// - Parameter ifExists: what the command line says about existing files.
    func namer(_ ifExists: Destination.IfExists?) -> FileNamer? {
        (nameBy ?? (store == nil ? nil : .url)).map {
            FileNamer(rule: $0, spreads: spread, trustsFiles: store != nil && ifExists == nil)
        }
    }

    /// Returns the seconds between the starts of two downloads from one host, or nil if their rate is not limited.
    func pacing(of filter: ShardFilter?) -> Double? {
        let workers = filter.map { $0.rule == .host ? 1 : $0.shard.count } ?? 1
        return perHostRate.map { Double(workers) / $0 }
    }

    /// Returns the filter for the worker's part of the list, or nil if the whole list is for this command.
    func filter(in environment: [String: String]) throws -> ShardFilter? {
        try shard.map { ShardFilter(try $0.shard(in: environment), by: shardBy ?? .host) }
    }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &shard, "shard", .value("i/n"),
            "Download only part I of N of the list: I/N with I from 0. auto takes both numbers from Slurm or "
                + "Kubernetes; auto/N takes only I from them, or from GNU parallel.")
        row(
            &shardBy, "shard-by", .word("what"),
            "Divide the list by host (all URLs of a host in one part), by line or by url. Default: host.")
        row(
            &manifest, "manifest", .path("file"),
            "Append a line of JSON to this file for each URL that ends. Skip URLs that the file records as done, if "
                + "their files still exist. The exit status is 75 if another run may get more, 65 if the rest has "
                + "failed for good.")
        row(
            &manifestDigest, "manifest-digest", .flag,
            "Record the SHA-256 digest of each file in the manifest, also of files without a checksum.")
        row(
            &retryFailed, "retry-failed", .flag,
            "Also retry URLs that the manifest records as failed for good, such as with status 404.")
        row(
            &maxFailures, "max-failures", .value("n or p%"),
            "Stop with status 69 after more than N failed downloads, or if more than P% of at least 100 downloads "
                + "failed.")
        row(
            &nameBy, "name-by", .word("what"),
            "Name files after the URL (url, in a folder for each host), after its hash (hash), or after their number "
                + "in the list (number). No two URLs get the same name.")
        row(
            &perHostRate, "per-host-rate", .word("n"),
            "Start at most this many downloads per second from one host, such as 10 or 0.5. If the list is not "
                + "divided by host, all workers share this rate.")
        row(&spread, "spread", .flag, "Spread the files over two levels of folders; needs --name-by.")
        row(
            &state, "state", .path("dir", .directory),
            "Keep the state of this worker in this folder instead of $XDG_STATE_HOME. Use a folder on a local disk.")
        row(
            &store, "store", .value("url"),
            "With -b: add the URLs to the shared queue in this PostgreSQL database, and return. dlm work downloads "
                + "them on any number of machines.")
    }
}

extension WorkerOutcome.FailureLimit: ParsedArgument {
    init(argument: String) throws {
        let failure = ValidationError("give a number such as 10, or a percentage such as 5%")
        if argument.last == "%" {
            guard let percent = Double(argument.dropLast()), (0...100).contains(percent) else { throw failure }
            self = .percent(percent)
        } else {
            guard let number = Int(argument), number >= 0 else { throw failure }
            self = .number(number)
        }
    }
}
