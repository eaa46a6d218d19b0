import ArgumentParser
import DownloadKit
import Foundation

/// The options that change the HTTP requests of `get`.
struct HTTPRequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("A"), .long],
        help: ArgumentHelp("Send this as User-Agent; '' sends none. Default: dlm/VERSION.", valueName: "name"))
    var userAgent: String?

    @Option(
        name: [.customShort("e"), .long],
        help: ArgumentHelp("Send this as Referer: the page that links to the URL.", valueName: "url"))
    var referer: String?

    @Option(
        help: ArgumentHelp(
            "Percent-encode this parameter and add it to the query of each URL; repeatable.",
            valueName: "name=value"))
    var query: [String] = []

    @Flag(
        help: """
            Accept compressed content (gzip, br, zstd) and write it decompressed. A compressed file is fetched over a \
            single connection, and starts over after an interruption.
            """)
    var compressed = false

    @Option(
        name: [.customShort("X"), .long],
        help: ArgumentHelp(
            "Use this method instead of GET (or of POST with --data). The file is fetched over a single connection, "
                + "and starts over after an interruption. POST and PATCH are not retried if the server may have "
                + "received them.",
            valueName: "method"))
    var method: String?

    @Flag(exclusivity: .chooseLast) var hsts: HSTSFlag?

    func validate() throws {
        for (name, value) in [("-A", userAgent), ("-e", referer)] {
            guard let value, value.utf8.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7F }) else { continue }
            throw ValidationError("\(name): holds a line break or another control character; leave it out")
        }
        if let method { try Self.check(method) }
        // The value may be a secret and is not repeated.
        if let index = query.firstIndex(where: { !$0.contains("=") || $0.hasPrefix("=") }) {
            throw ValidationError("--query: parameter \(index + 1) is not of the form NAME=VALUE")
        }
    }

    private static func check(_ method: String) throws {
        let isToken =
            !method.isEmpty
            && method.utf8.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
            }
        guard isToken else { throw ValidationError("-X \(method): not a method of HTTP; give one such as PUT") }
        if ["HEAD", "CONNECT", "TRACE"].contains(method.uppercased()) {
            throw ValidationError("-X \(method): its answer is not a file; leave it out")
        }
    }

    /// The options for fetching a file that belongs to the downloads, such as a checksum list. `--query`,
    /// `--compressed` and `--method` are left out.
    var withoutContent: HTTPRequestOptions {
        var others = self
        (others.query, others.compressed, others.method) = ([], false, nil)
        return others
    }

    func apply(to request: inout DownloadRequest) {
        request.url = completed(request.url)
        if let userAgent { request.http.userAgent = userAgent }
        if let referer { request.http.referer = Self.withoutSecrets(referer) }
        if compressed { request.http.acceptsCompressed = true }
        if let hsts { request.http.upgradesKnownHosts = hsts == .hsts ? nil : false }
        guard let method else { return }
        request.http.method = method.uppercased()
        // A method such as POST sends a body even if the body is empty. Bodies are not stored, so a later `resume` must
        // be given the body, even an empty one.
        if !request.isIdempotent { request.http.body = request.http.body ?? RequestBody([]) }
    }

    /// Returns the URL without user information and fragment, which must not be sent as a referrer (RFC 9110 section
    /// 10.1.3).
    private static func withoutSecrets(_ referer: String) -> String {
        let text = referer.prefix { $0 != "#" }
        guard let mark = text.range(of: "://") else { return String(text) }
        let host = text[mark.upperBound...].prefix { !"/?".contains($0) }
        guard let at = host.lastIndex(of: "@") else { return String(text) }
        return String(text[..<mark.upperBound] + text[text.index(after: at)...])
    }

    /// Returns the URL with the parameters of `--query`.
    func completed(_ url: SourceURL) -> SourceURL {
        if query.isEmpty { return url }
        let parameters = query.map { parameter in
            let name = parameter.prefix { $0 != "=" }
            return "\(Form.encoded(name))=\(Form.encoded(parameter.dropFirst(name.count + 1)))"
        }
        let mark = url.string.contains("?") ? url.string.hasSuffix("?") ? "" : "&" : "?"
        guard case .success(let parsed) = SourceURL.parse(url.string + mark + parameters.joined(separator: "&")) else {
            return url
        }
        return parsed.url
    }
}

extension HTTPRequestOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        userAgent = words.text("user-agent", "A")
        referer = words.text("referer", "e")
        query = words.texts("query")
        compressed = words.flag("compressed")
        method = words.text("method", "X")
        hsts = words.pair("hsts")
    }
}

extension HTTPRequestOptions: TellingOptions {
    static func given(in request: DownloadRequest) -> GivenOptions.List {
        let http = request.http
        return [
            ("method", http.method), ("user-agent", http.userAgent.map { $0.isEmpty ? "\"\"" : $0 }),
            ("referer", http.referer.map { $0.isEmpty ? "\"\"" : Redaction.hidden($0) }),
            ("compressed", GivenOptions.flag(http.acceptsCompressed)),
            ("no-hsts", GivenOptions.flag(http.upgradesKnownHosts == false)),
        ]
    }
}
