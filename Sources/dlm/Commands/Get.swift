import ArgumentParser
import DownloadKit
import Foundation

/// `dlm get URL...`: downloads here and now.
struct Get: ContextCommand, ItemGroups {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Download files here and now, and print their paths.",
        discussion: """
            Ends when all are finished. A URL that is being downloaded to the same place already is joined; one that \
            was interrupted is continued. With -b the background session does the work, and what is printed are the \
            numbers of the downloads. A URL without a scheme, such as example.org/x, is asked for over https, and over \
            http where the server has no https or another port than 443 is named; what was taken is said on stderr. \
            Passwords, tokens and the like are not sent over http on such a guess.
            """)

    @Argument(help: ArgumentHelp("What to download: http, https, ftp, ftps, sftp, scp or file.", valueName: "url"))
    var urls: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Also download the URLs in this file, one a line, # for comments; indented lines below a URL are options "
                + "for it, such as output=NAME; - is standard input.",
            valueName: "file"),
        completion: .file())
    var inputFile: String?

    @Option(
        name: [.customShort("M"), .long],
        help: ArgumentHelp(
            "Also download the files of this Metalink document (RFC 5854), from all the sources that it names, verified by "
                + "its digests; - is standard input.",
            valueName: "file or url"),
        completion: .file())
    var metalinkFile: String?

    @Flag(name: .shortAndLong, help: "Hand the downloads to the background session, print their numbers and return.")
    var background = false

    @Flag(
        help: """
            Record nothing: no other command sees these downloads, and a file that is not complete at the end is deleted.
            """)
    var ephemeral = false

    @Flag(help: "Show all options, in groups.")
    var helpAll = false

    @OptionGroup(title: "How") var session: SessionOptions
    @OptionGroup(title: "Where") var place: DestinationOptions
    @OptionGroup(title: "How") var transfer: TransferOptions
    @OptionGroup(title: "How") var attempts: AttemptOptions
    @OptionGroup(title: "Trust") var checksums: ChecksumOptions
    @OptionGroup(title: "Trust") var validation: ValidationOptions
    @OptionGroup(title: "Request") var http: HTTPRequestOptions
    @OptionGroup(title: "How") var count: ConnectionOptions
    @OptionGroup(title: "Request") var fields: HeaderOptions
    @OptionGroup(title: "Request") var body: BodyOptions
    @OptionGroup(title: "Credentials") var credentials: CredentialOptions
    @OptionGroup(title: "Credentials") var cookies: CookieOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Mirrors") var mirrors: MirrorOptions
    @OptionGroup(title: "Hooks") var hooks: HookOptions
    @OptionGroup(title: "Output") var progress: ProgressOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    /// Other commands can see the downloads and go on with them.
    var isRecorded: Bool { !ephemeral && !streams }

    func validate() throws {
        if helpAll { throw CleanExit.helpRequest(self) }
        if urls.isEmpty, inputFile == nil, metalinkFile == nil {
            throw ValidationError("give a URL, a list with -i, or a Metalink document with -M")
        }
        try validateMetalink()
        if place.output != nil, urls.count > 1 || inputFile != nil {
            throw ValidationError("-o names one file; give several URLs a folder with -d")
        }
        if checksums.checksum != nil, urls.count > 1 || inputFile != nil {
            throw ValidationError("--checksum belongs to one URL; for several there is --checksum-file")
        }
        if !mirrors.mirror.isEmpty, urls.count > 1 || inputFile != nil {
            throw ValidationError(
                "--mirror belongs to one URL; in a list write it below its URL, or behind it and a tab")
        }
        if mirrors.repair, place.continues || place.ifExists != nil {
            throw ValidationError("--repair goes on with the file that is there; leave out -c and --if-exists")
        }
        let readers = [
            inputFile == "-", metalinkFile == "-", checksums.checksumFile == "-", body.readsInput,
        ].count { $0 }
        if readers > 1 { throw ValidationError("-i, -M, --checksum-file and --data cannot all be standard input") }
        if background, ephemeral {
            throw ValidationError("--ephemeral records nothing that the background session could go by; leave out -b")
        }
        if attempts.paused, !isRecorded { throw RequestMaker.pausedUnrecorded }
        try validateStream()
        if background, let option = session.given {
            throw ValidationError("\(option) belongs to the session; with -b run: dlm daemon start \(option)")
        }
    }

    func run(in context: Context) async throws -> Int32 {
        let settings = try context.settings()
        var command = self
        try command.prepare(in: context)
        var maker = try RequestMaker(command, settings: settings, workingFolder: context.workingFolder)
        let urls = try await AddressChoice(maker: maker, context: context, isQuiet: output.quiet).urls(urls)
        maker.list = try await checksums.list(in: context, like: maker.companion(of: urls))
        let given = try urls.map { [maker] in try maker.request($0).get() }
        let (described, rejected) = try await describedFiles(maker, in: context)
        let requests = given + described
        let list = try inputFile.map { try InputList(path: $0) }
        return try await context.withService(
            kind: try kind(context.console),
            { session.apply(to: &$0, settings, limitsEach: transfer.limitRate != nil) }
        ) { [maker] service in
            if background { return try await handOver(requests, rejected, list, maker, service, context) }
            // A terminal is the file's.
            let choice = streams && context.console.outputIsTerminal ? ProgressChoice.none : progress.progress
            let following = Following(context, output, choice, keepsUnfinished: isRecorded)
            return try await following.follow(service, for: .get(maker.overrides)) { follower in
                for document in rejected { follower.reject(document) }
                try await follower.add(requests)
                while let lines = try await list?.next(Follower.chunk) {
                    try await follower.add(lines.compactMap { maker.request($0, reject: follower.reject) })
                }
            }
        }
    }

    private func handOver(
        _ requests: [DownloadRequest], _ rejected: [RejectedDocument], _ list: InputList?, _ maker: RequestMaker,
        _ service: any SessionRouting,
        _ context: Context
    ) async throws -> Int32 {
        var handover = try BackgroundHandover(
            service, console: context.console, options: output, environment: context.environment)
        for document in rejected { handover.reject(document) }
        try await handover.add(requests)
        guard let list else { return handover.exitStatus }
        // The next lines are read while the session records the last ones.
        var coming = Task { try await maker.part(of: list, BackgroundHandover.chunk) }
        while let part = try await coming.value {
            coming = Task { try await maker.part(of: list, BackgroundHandover.chunk) }
            for document in part.rejected { handover.reject(document) }
            try await handover.add(part.requests)
        }
        return handover.exitStatus
    }
}
