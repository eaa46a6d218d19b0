import ArgumentParser

/// ``Get`` for the argument parser.
struct GetCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Download files and print their paths.",
        discussion: """
            Ends when all downloads are finished. If the same URL is already being downloaded to the same place, dlm \
            joins this download. An interrupted download is continued. With -b the background session downloads, and \
            dlm prints the numbers of the downloads. For a URL without a scheme, such as example.org/x, dlm tries \
            https, and then http if the server has no https; a port other than 443 means http. dlm reports the chosen \
            scheme on stderr, and sends no passwords or tokens over http unless the URL says http.
            """)

    @Argument(help: ArgumentHelp("URLs to download: http, https, ftp, ftps, sftp, scp or file.", valueName: "url"))
    var urls: [String] = []

    @Option(
        "Also download the URLs in this file, one in each line; # begins a comment, - is standard input. Indented "
            + "lines below a URL are options for the URL, such as output=NAME. A line may also be a JSON object with "
            + "url and options.", value: "file or url", name: .shortAndLong, completion: .file())
    var inputFile: String?

    @Option(
        "Also download the files of this Metalink document (RFC 5854); - is standard input. All sources in the "
            + "document are used, and its digests are verified.", value: "file or url",
        name: [.customShort("M"), .long], completion: .file())
    var metalinkFile: String?

    @Flag(name: .shortAndLong, help: "Hand the downloads to the background session, print their numbers and return.")
    var background = false

    @Flag(
        help: """
            Record nothing: other commands do not see these downloads, and files that are incomplete when the command \
            ends are deleted.
            """)
    var ephemeral = false

    @Flag(
        help: """
            Read [ ] and { } in URLs as ordinary characters. Without this option, the patterns [001-100], [a-z], \
            [0-9:3] and {a,b} expand to several URLs, and #1 in -o is the value of the first pattern.
            """)
    var noGlob = false

    @Flag(help: "Show all options, in groups.")
    var helpAll = false

    @OptionGroup(title: "How") var session: SessionOptions
    @OptionGroup(title: "Workers") var worker: WorkerOptions
    @OptionGroup var item: ItemArguments
    @OptionGroup(title: "Output") var progress: ProgressOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if helpAll { throw CleanExit.helpRequest(self) }
        try Get(self).validate()
    }

    func run(in context: Context) async throws -> Int32 { try await Get(self).run(in: context) }
}
