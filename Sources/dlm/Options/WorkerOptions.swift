import ArgumentParser
import DownloadKit

/// The options of `get` as one worker of many: its part of a list, and its reports to the workflow engine.
struct WorkerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Download only one of N parts of the list: I/N with I from 0, or auto for what Slurm or Kubernetes say in the "
                + "environment; auto/N where only I is said there, as by GNU parallel.", valueName: "i/n"),
        transform: ShardArgument.init(argument:))
    var shard: ShardArgument?

    @Option(
        help: ArgumentHelp(
            "What decides to which part a URL belongs: host (all URLs of a host are in one part), line or url. "
                + "Default: host.", valueName: "what"))
    var shardBy: ShardRule?

    @Option(
        help: ArgumentHelp(
            "Append a line of JSON for each URL that ends to this file, and leave out what it says is done and is still "
                + "there. The exit status then tells what to do next: 75 to run again, 65 if some URLs will never work.",
            valueName: "file"),
        completion: .file())
    var manifest: String?

    @Flag(help: "Write the SHA-256 digest of each file to the manifest, also where nothing asks for a checksum.")
    var manifestDigest = false

    @Flag(help: "Also try again what failed for good by the manifest, such as with status 404.")
    var retryFailed = false

    @Option(
        help: ArgumentHelp(
            "Stop with status 69 when more than N downloads have failed, or more than P% of at least 100.",
            valueName: "n or p%"),
        transform: FailureLimitArgument.init(argument:))
    var maxFailures: FailureLimitArgument?

    @Option(
        help: ArgumentHelp(
            "Name files by their URL (in a folder of the host), by the hash of the URL, or by their number in the list: no "
                + "two URLs get the same name.", valueName: "what"))
    var nameBy: FileNameRule?

    @Option(
        help: ArgumentHelp(
            "Begin at most so many downloads from one host in a second, such as 10 or 0.5. Of a list that is not divided by "
                + "host, each of the N workers begins an N-th of them.", valueName: "n"))
    var perHostRate: Double?

    @Flag(help: "Spread the files that --name-by names over two levels of folders.")
    var spread = false

    @Option(
        help: ArgumentHelp(
            "Keep the state of this worker in this folder, which should be on a local disk, in place of $XDG_STATE_HOME.",
            valueName: "dir"),
        completion: .directory)
    var state: String?

    /// The option about failures, if it is given.
    var limitOption: String? { maxFailures == nil ? nil : "--max-failures" }

    func validate() throws {
        if manifest == "" { throw ValidationError("--manifest: no file given") }
        if manifest == nil {
            if manifestDigest {
                throw ValidationError("--manifest-digest writes to the manifest; give it with --manifest")
            }
            if retryFailed { throw ValidationError("--retry-failed goes by the manifest; give it with --manifest") }
        }
        if let perHostRate, !(0.0001...10_000).contains(perHostRate) {
            throw ValidationError("--per-host-rate \(perHostRate): give 0.0001 to 10000 downloads a second")
        }
        if spread, nameBy == nil { throw ValidationError("--spread needs --name-by url, hash or number") }
        if state == "" { throw ValidationError("--state: no folder given") }
        if shardBy != nil, shard == nil { throw ValidationError("--shard-by needs --shard I/N, which it is about") }
    }

    /// The rule for file names; nil if the names may come from servers.
    var namer: FileNamer? { nameBy.map { FileNamer(rule: $0, spreads: spread) } }

    /// Returns the seconds between the starts of two downloads from one host, or nil if their rate is not limited.
    func pacing(of filter: ShardFilter?) -> Double? {
        let workers = filter.map { $0.rule == .host ? 1 : $0.shard.count } ?? 1
        return perHostRate.map { Double(workers) / $0 }
    }

    /// Returns the filter for the worker's part of the list, or nil if the whole list is for this command.
    func filter(in environment: [String: String]) throws -> ShardFilter? {
        try shard.map { ShardFilter(try $0.shard(in: environment), by: shardBy ?? .host) }
    }
}

extension WorkerOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        shard = words.value("shard", as: ShardArgument.init(argument:))
        shardBy = words.value("shard-by")
        manifest = words.path("manifest")
        manifestDigest = words.flag("manifest-digest")
        retryFailed = words.flag("retry-failed")
        maxFailures = words.value("max-failures", as: FailureLimitArgument.init(argument:))
        nameBy = words.value("name-by")
        perHostRate = words.value("per-host-rate")
        spread = words.flag("spread")
        state = words.path("state")
    }
}

/// The value of `--max-failures`.
struct FailureLimitArgument: Equatable, Sendable {
    let limit: WorkerOutcome.FailureLimit

    init(argument: String) throws {
        let failure = ValidationError("give a number such as 10, or a percentage such as 5%")
        if argument.last == "%" {
            guard let percent = Double(argument.dropLast()), (0...100).contains(percent) else { throw failure }
            limit = .percent(percent)
        } else {
            guard let number = Int(argument), number >= 0 else { throw failure }
            limit = .number(number)
        }
    }
}
