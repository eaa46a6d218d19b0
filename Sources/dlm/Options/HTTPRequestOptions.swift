import ArgumentParser
import DownloadKit
import Foundation

struct HTTPRequestOptions: OptionTable {
    var userAgent: String?
    var referer: String?
    var query: [String] = []
    var compressed = false
    var method: String?
    var hsts: HSTSFlag?

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

    mutating func rows(_ row: inout OptionRows) {
        row.show("method", \.http.method)
        row(
            &userAgent, "user-agent", letter: "A", .word("name"),
            "Send this as User-Agent; '' sends none. Default: dlm/VERSION.",
            .field(\.http.userAgent, shows: { $0.isEmpty ? "\"\"" : $0 }))
        row(
            &referer, "referer", letter: "e", .word("url"), "Send this as Referer: the page that links to the URL.",
            .sets(
                { $0.http.referer = Self.withoutSecrets($1) },
                shows: { $0.http.referer.map { $0.isEmpty ? "\"\"" : Redaction.hidden($0) } }))
        row(
            &query, "query", in: .file, secret: .query, .texts("name=value"),
            "Percent-encode this parameter and add it to the query of each URL; repeatable.")
        row.change { $0.url = completed($0.url) }
        row(
            &compressed, "compressed", .flag,
            "Accept compressed content (gzip, br, zstd) and write it decompressed. A compressed file is fetched over "
                + "a single connection, and starts over after an interruption.",
            .sets({ $0.http.acceptsCompressed = $1 }, shows: { GivenOptions.flag($0.http.acceptsCompressed) }))
        row(
            &method, "method", letter: "X", in: .file, .word("method"),
            "Use this method instead of GET (or of POST with --data). The file is fetched over a single connection, "
                + "and starts over after an interruption. POST and PATCH are not retried if the server may have "
                + "received them.",
            .sets { request, method in
                request.http.method = method.uppercased()
                // A method such as POST sends a body even if the body is empty. Bodies are not stored, so a later
                // `resume` must be given the body, even an empty one.
                if !request.isIdempotent { request.http.body = request.http.body ?? RequestBody([]) }
            })
        row.pair(&hsts, "hsts", usual: "true", .sets { $0.http.upgradesKnownHosts = $1.isOn ? nil : false })
        row.show("no-hsts") { GivenOptions.flag($0.http.upgradesKnownHosts == false) }
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

enum HSTSFlag: FlagPair {
    case hsts, noHsts

    static let texts = (
        on: "Remember hosts that require https (HSTS), and use https for these hosts. Default: on.",
        off: "Use the scheme of the URL, and do not remember hosts that require https."
    )
}

/// The options for header fields of the request. Fields that may be secret are never stored.
struct HeaderOptions: OptionTable {
    var header: [String] = []

    func validate() throws {
        // The value may be a secret, so the message does not repeat it.
        if let index = header.firstIndex(where: { RequestHeader($0) == nil }) {
            throw ValidationError("-H: header field \(index + 1) is not of the form 'Name: value'")
        }
    }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &header, "header", letter: "H", secret: .header, .texts("header"),
            "Send this header field, 'Name: value'; repeatable.",
            .sets { request, given in
                // Fields of the same names that the request already has are removed. If several given fields have the
                // same name, all of them are added.
                let fields = given.compactMap(RequestHeader.init)
                let names = Set(fields.map { $0.name.lowercased() })
                request.headers = request.headers.filter { !names.contains($0.name.lowercased()) } + fields
            })
    }
}
