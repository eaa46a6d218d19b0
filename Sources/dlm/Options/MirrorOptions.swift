import ArgumentParser
import DownloadKit

/// The options for other sources of a file.
struct MirrorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the same file is, too; repeatable. Asked when the URL fails, in this order. What is here is continued "
                + "only where it is proved to be the same file. Passwords and header fields go to the URL's server alone.",
            valueName: "url"))
    var mirror: [String] = []

    @Option(
        help: ArgumentHelp(
            "Of the sources in a Metalink document, ask those of this country first: de, us.", valueName: "cc"))
    var metalinkLocation: String?

    @Flag(exclusivity: .chooseLast) var followMetalink: FollowMetalinkFlag?

    @Flag(
        help: """
            Check the file that is here, finished or not, by the digests of its pieces, and fetch only those that do not \
            match. They come with its Metalink document (-M), or are known of a download that had one.
            """)
    var repair = false

    func validate() throws {
        if let metalinkLocation, metalinkLocation.utf8.count != 2 || !metalinkLocation.allSatisfy(\.isLetter) {
            throw ValidationError("--metalink-location \(metalinkLocation): give a country by its two letters")
        }
        for text in mirror { _ = try Self.address(text, "--mirror") }
    }

    /// Applies the options that were given, and changes nothing else.
    func apply(to request: inout DownloadRequest) throws {
        if repair { request.repairs = true }
        if let followMetalink { request.followsMetalink = followMetalink == .followMetalink }
        if let metalinkLocation { request.location = metalinkLocation.lowercased() }
        if !mirror.isEmpty { request.mirrors = try mirror.map { try Self.address($0, "--mirror") } }
    }

    /// Reads the URL of a mirror.
    /// - Parameter place: the option or the line that has the URL, for messages.
    static func address(_ text: String, _ place: String) throws -> SourceURL {
        switch RequestMaker.address(text) {
        case .success((let url, nil)): return url
        case .success((let url, _?)):
            throw ValidationError("\(place) \(url): a password cannot go along; put it into a file for --netrc-file")
        case .failure(let error): throw ValidationError("\(place) \(error)")
        }
    }

    /// Throws if a request with mirrors asks for something that only a single server can do.
    static func check(_ request: DownloadRequest) throws {
        if request.mirrors.isEmpty { return }
        if let other = ([request.url] + request.mirrors).first(where: { !$0.isHTTP }) {
            throw ValidationError("--mirror: \(other): only http and https URLs can be sources of the same file")
        }
        if request.http.method ?? "GET" != "GET" || request.http.body != nil {
            throw ValidationError(
                "--mirror: what is sent with a request goes to one server; leave out --method and --data")
        }
        if request.http.acceptsCompressed == true {
            throw ValidationError(
                "--mirror: compressed answers of two servers cannot be joined; leave out --compressed")
        }
        if let only = request.onlyScheme, let other = request.mirrors.first(where: { $0.scheme != only }) {
            throw DownloadError.requestInvalid(.schemeNotAllowed(other.string, only: only))
        }
    }
}

extension MirrorOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        mirror = words.texts("mirror")
        metalinkLocation = words.text("metalink-location")
        followMetalink = words.last(["follow-metalink": .followMetalink, "no-follow-metalink": .noFollowMetalink])
        repair = words.flag("repair")
    }
}

extension MirrorOptions: TellingOptions {
    static func given(in request: DownloadRequest) -> GivenOptions.List {
        [
            ("repair", GivenOptions.flag(request.repairs)), ("metalink-location", request.location),
            ("no-follow-metalink", GivenOptions.flag(!request.followsMetalink)),
        ]
    }
}
