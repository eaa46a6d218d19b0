import ArgumentParser
import DownloadKit
import Foundation
import Glibc

struct Get: ContextCommand, OptionTable {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Download files and print their paths.",
        discussion: """
            Ends when all downloads are finished. If the same URL is already being downloaded to the same place, dlm \
            joins this download. An interrupted download is continued. With -b the background session downloads, and \
            dlm prints the numbers of the downloads. For a URL without a scheme, such as example.org/x, dlm tries \
            https, and then http if the server has no https; a port other than 443 means http. dlm reports the chosen \
            scheme on stderr, and sends no passwords or tokens over http unless the URL says http. On a terminal, keys \
            pause the downloads (p), limit them (l), hand them to the background session (b) and show details (i); \
            press ? for all keys.
            """)

    var urls: [String] = []
    var inputFile: String?
    var metalinkFile: String?
    var background = false
    var ephemeral = false
    var spool: ByteSize?
    var unpack: String?
    /// Whether brackets and braces in URLs have no special meaning.
    var literal = false
    var helpAll = false
    var session = SessionOptions()
    var worker = WorkerOptions()
    var item = ItemOptions()
    var progress = ProgressOptions()
    var output = OutputOptions()

    static var catalog: OptionCatalog { .get }

    mutating func rows(_ row: inout OptionRows) {
        row.operands(&urls, "url", "URLs to download: http, https, ftp, ftps, sftp, scp or file.")
        row(
            &inputFile, "input-file", letter: "i", .path("file or url"),
            "Also download the URLs in this file, one in each line; # begins a comment, - is standard input. "
                + "Indented lines below a URL are options for the URL, such as output=NAME. A line may also be a JSON "
                + "object with url and options.")
        row(
            &metalinkFile, "metalink-file", letter: "M", .path("file or url"),
            "Also download the files of this Metalink document (RFC 5854); - is standard input. All sources in the "
                + "document are used, and its digests are verified.")
        row(
            &background, "background", letter: "b", .flag,
            "Hand the downloads to the background session, print their numbers and return.")
        row(
            &ephemeral, "ephemeral", .flag,
            "Record nothing: other commands do not see these downloads, and files that are incomplete when the "
                + "command ends are deleted.")
        row(
            &spool, "spool", .value("size"),
            "Store at most this much of the file in $TMPDIR or /var/tmp, between the connections of -o - -x N and a "
                + "slower reader. Up to 64M are in memory. Default: 256M.")
        row(
            &unpack, "unpack", .path("dir", .directory),
            "Unpack the archive (zip, or tar alone or with gz, zst, xz or bz2) into this new folder with tar or unzip, "
                + "when it is whole and verified, and delete the archive. An interrupted download is continued.")
        row(
            &literal, "no-glob", .flag,
            "Read [ ] and { } in URLs as ordinary characters. Without this option, the patterns [001-100], [a-z], "
                + "[0-9:3] and {a,b} expand to several URLs, and #1 in -o is the value of the first pattern.")
        row(&helpAll, "help-all", .flag, "Show all options, in groups.")
        row.group(&session, "How")
        row.group(&worker, "Workers")
        row.group(&item)
        row.group(&progress, "Output")
        row.group(&output, "Output")
    }

    /// Whether the downloads are recorded, so that other commands can show and resume them.
    var isRecorded: Bool { !ephemeral && !streams }

    func validate() throws {
        if helpAll { throw CleanExit.helpRequest(self) }
        if urls.isEmpty, inputFile == nil, metalinkFile == nil {
            throw ValidationError("give a URL, a list with -i, or a Metalink document with -M")
        }
        try validateMetalink()
        let count = try patterns.count(in: urls)
        try validateName(count)
        if item.checksums.checksum != nil, count > 1 || inputFile != nil {
            throw ValidationError("--checksum is for a single URL; for several give --checksum-file")
        }
        if !item.mirrors.mirror.isEmpty, count > 1 || inputFile != nil {
            throw ValidationError(
                "--mirror is for a single URL; in a list write mirror=URL below the URL, or the mirror after the URL "
                    + "and a tab")
        }
        if item.mirrors.repair, item.place.continues || item.place.ifExists != nil {
            throw ValidationError("--repair works on the existing file; leave out -c and --if-exists")
        }
        if inputReaders > 1 { throw ValidationError("-i, -M, --checksum-file and --data cannot all be standard input") }
        if background, ephemeral {
            throw ValidationError(
                "--ephemeral records nothing, and the background session needs a record; leave out -b")
        }
        if item.attempts.paused, !isRecorded { throw RequestMaker.pausedUnrecorded }
        try validateStream()
        try validateUnpack(count)
        try validateWorker()
        if background, let option = session.given {
            throw ValidationError("\(option) belongs to the session; with -b run: dlm daemon start \(option)")
        }
    }

    /// The number of options that read standard input.
    private var inputReaders: Int {
        [inputFile == "-", metalinkFile == "-", item.checksums.checksumFile == "-", item.renewable.body.readsInput]
            .count { $0 }
    }

    private var patterns: URLPatterns { URLPatterns(isLiteral: literal) }

    /// - Parameter count: the number of files on the command line.
    private func validateName(_ count: Int) throws {
        guard let name = item.place.output, count > 1 || inputFile != nil else { return }
        let folder = name.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        if inputFile == nil, urls.count == 1, URLPatterns.hasPlace(name), !URLPatterns.hasPlace(folder) { return }
        let hint = count > urls.count ? ", or write #1 into the name for the value of the brackets" : ""
        throw ValidationError("-o names one file; give several URLs a folder with -d\(hint)")
    }

    func run(in outer: Context) async throws -> Int32 {
        let context = try outer.with(state: worker.state)
        let settings = try context.settings()
        let unpacking = try unpack.map { try Unpacking($0, of: urls[0], in: context) }
        var command = self
        try command.item.renewable.prepare(in: context)
        var maker = try RequestMaker(command, settings: settings, workingFolder: context.workingFolder)
        let expanded = try patterns.expanded(urls)
        let addressChoice = AddressChoice(maker: maker, context: context, isQuiet: output.quiet)
        let addresses = try await addressChoice.urls(expanded.map(\.url))
        maker.list = try await item.checksums.list(in: context, like: maker.companion(of: addresses))
        let filter = try worker.filter(in: context.environment)
        maker.pacing = worker.pacing(of: filter)
        let given = try zip(addresses, expanded).map { [maker] in
            try maker.request($0, values: $1.values, of: addresses.count)
        }
        let (described, rejected) = try await describedFiles(maker, in: context)
        let requests = unpacking.map { given.map($0.place) } ?? given + described
        let reader = try list(filter, maker, in: context)
        if let store = worker.store {
            let queue = try await QueueAdding(store, base: maker.folder, context, output)
            return try await handOver((RequestList(requests), rejected), reader, maker, to: queue)
        }
        let recorder = try workerRun(filter, in: context)
        let begin = context.time.now
        let status = try await context.withService(
            kind: try kind(context.console),
            { session.apply(to: &$0, settings, limitsEach: item.transfer.limitRate != nil) }
        ) { [maker] service in
            if background {
                let session = try BackgroundHandover(service, context, output)
                return try await handOver((RequestList(requests), rejected), reader, maker, to: session)
            }
            // If the file itself is written to the terminal, no progress is shown.
            let choice = streams && context.console.outputIsTerminal ? ProgressChoice.none : progress.progress
            let following = Following(
                context, output, choice, keepsUnfinished: isRecorded,
                notifies: (item.hooks.notify ?? settings.general?.item.hooks.notify) == .notify,
                takesKeys: !streams && unpack == nil && recorder == nil && inputReaders == 0,
                unpacks: unpack != nil)
            let status = try await following.follow(service, for: .get(maker.overrides), run: recorder) { follower in
                for document in rejected { follower.reject(document) }
                let added = try await follower.add(RequestList(requests))
                unpacking?.began(added)
                while let lines = try await reader?.next() {
                    try await follower.add(maker.requests(lines, reject: follower.reject))
                }
                if let notice = reader?.notice, !output.quiet { context.console.report(notice) }
            }
            return try await unpacking?.finish(status, service, isQuiet: output.quiet) ?? status
        }
        let seconds = (context.time.now - begin) / .seconds(1)
        if isRecorded {
            context.tell(Tip.due(afterSeconds: seconds, inBackground: background, status: status), output)
        }
        return status
    }

    private func handOver(
        _ given: RequestMaker.Part, _ list: ListReader?, _ maker: RequestMaker, to receiver: some Handover
    ) async throws -> Int32 {
        var handover = receiver
        try await handover.add(given) {
            if let list { try await maker.part(of: list) } else { nil }
        }
        if let notice = list?.notice, !output.quiet { handover.console.report(notice) }
        return handover.statuses.exitStatus
    }
}

/// `-o -`: writes the body, and nothing else, to standard output. The download is not recorded.
extension Get {
    var streams: Bool { item.place.output == DestinationOptions.stream }

    func validateStream() throws {
        if let spool {
            guard streams else { throw ValidationError("--spool is for -o -, which writes to standard output") }
            if spool.bytes < StreamOutput.leastSpool { throw ValidationError("--spool: give at least 8M") }
        }
        guard streams else { return }
        func refuse(_ what: String) -> ValidationError { ValidationError("-o -: \(what)") }
        if background { throw refuse("the background session has no standard output; leave out -b") }
        if output.json { throw refuse("standard output is for the file; leave out --json") }
        if item.place.directory != nil { throw refuse("standard output is in no folder; leave out -d") }
        if item.place.continues { throw refuse("there is nothing to continue; leave out -c") }
        if item.mirrors.repair { throw refuse("there is nothing to repair; leave out --repair") }
        if !item.mirrors.mirror.isEmpty { throw refuse("only one source can be used; leave out --mirror") }
    }

    /// Returns the kind of session that this command needs.
    /// - Throws: ``DownloadError/fileFailed(_:path:)`` if the file should go to standard output, which is closed.
    func kind(_ console: Console) throws -> SessionConfiguration.Kind {
        guard streams else { return ephemeral ? .ephemeral : .foreground }
        if console.outputIsMissing {
            throw DownloadError.fileFailed(.system(operation: "write", errno: EBADF), path: StreamOutput.description)
        }
        return .stream(descriptor: STDOUT_FILENO, spool: spool?.bytes)
    }
}

/// `--unpack`: the command waits for one archive, which gets a place and a name of its own.
extension Get {
    func validateUnpack(_ count: Int) throws {
        guard unpack != nil else { return }
        if count != 1 || inputFile != nil || metalinkFile != nil {
            throw ValidationError("--unpack is for a single URL on the command line")
        }
        let others = [
            ("-b", background), ("--ephemeral", ephemeral), ("--json", output.json), ("-o", item.place.output != nil),
            ("-d", item.place.directory != nil), ("-c", item.place.continues),
            ("--if-exists", item.place.ifExists != nil), ("--repair", item.mirrors.repair),
            ("--paused", item.attempts.paused), ("--name-by", worker.nameBy != nil),
            ("--manifest", worker.manifest != nil), ("--on-complete", item.hooks.onComplete != nil),
            ("--on-complete-url", item.hooks.onCompleteUrl != nil),
        ]
        if let other = others.first(where: \.1) {
            throw ValidationError("--unpack and \(other.0) exclude each other; give one")
        }
    }
}
