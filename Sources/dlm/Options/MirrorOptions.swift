import ArgumentParser
import DownloadKit

/// The options for further sources of a file, and for Metalink documents.
struct MirrorOptions: OptionTable {
    var mirror: [String] = []
    var metalinkLocation: String?
    var followMetalink: FollowMetalinkFlag?
    var repair = false

    func validate() throws {
        if let metalinkLocation, metalinkLocation.utf8.count != 2 || !metalinkLocation.allSatisfy(\.isLetter) {
            throw ValidationError(
                "--metalink-location \(metalinkLocation): give a country code of two letters, such as de")
        }
        for text in mirror { _ = try Self.address(text, "--mirror") }
    }

    mutating func rows(_ row: inout OptionRows) {
        row.show("repair") { GivenOptions.flag($0.repairs) }
        row(
            &mirror, "mirror", in: .file, .texts("url"),
            "Add another source of the same file; repeatable. Large files come from all sources together if "
                + "possible. Otherwise the sources are tried in order when the URL fails. Passwords and header "
                + "fields are sent only to the server of the URL.",
            .sets { $0.mirrors = try $1.map { try Self.address($0, "--mirror") } })
        row(
            &metalinkLocation, "metalink-location", .word("cc"),
            "Prefer the sources in this country, such as de or us, if a Metalink document names several sources.",
            .sets({ $0.location = $1.lowercased() }, shows: \.location))
        row.pair(&followMetalink, "follow-metalink", usual: "true", .sets { $0.followsMetalink = $1.isOn })
        row.show("no-follow-metalink") { GivenOptions.flag(!$0.followsMetalink) }
        row(
            &repair, "repair", in: .file, .flag,
            "Check the existing file, finished or not, by the digests of its pieces, and fetch only pieces that do "
                + "not match. The digests come from a Metalink document, which is given with -M or was used for the "
                + "download before.", .sets { $0.repairs = $1 })
    }

    /// Reads the URL of a mirror.
    /// - Parameter place: The option or the line that contains the URL, for messages.
    static func address(_ text: String, _ place: String) throws -> SourceURL {
        switch RequestMaker.address(text) {
        case .success((let url, nil)): return url
        case .success((let url, _?)):
            throw ValidationError(
                "\(place) \(url): the URL of a mirror cannot have a password; put it into a file for --netrc-file")
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
                "--mirror: a method or data can go to one server only; leave out --method and --data")
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

enum FollowMetalinkFlag: FlagPair {
    case followMetalink, noFollowMetalink

    static let texts = (
        on: """
        If the server sends a Metalink document, download the file that it describes. Also use a document that \
        the server names (Link: rel=describedby). Default: on.
        """,
        off: "Download a Metalink document as a file, and ignore a document that the server names."
    )
}
