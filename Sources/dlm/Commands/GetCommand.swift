import ArgumentParser

/// ``Get`` for the argument parser.
struct GetCommand: ContextCommand, ItemGroups {
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
                + "for it, such as output=NAME. A line may also be a JSON object with url and such options. "
                + "- is standard input.",
            valueName: "file or url"),
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

    @Flag(
        help: """
            Take [ ] and { } in URLs as they are. Otherwise [001-100], [a-z], [0-9:3] and {a,b} stand for several URLs, and \
            #1 in -o for what the first of them stands for.
            """)
    var noGlob = false

    @Flag(help: "Show all options, in groups.")
    var helpAll = false

    @OptionGroup(title: "How") var session: SessionOptions
    @OptionGroup(title: "Workers") var worker: WorkerOptions
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

    func validate() throws {
        if helpAll { throw CleanExit.helpRequest(self) }
        try Get(self).validate()
    }

    func run(in context: Context) async throws -> Int32 { try await Get(self).run(in: context) }
}
