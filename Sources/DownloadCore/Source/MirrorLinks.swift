import Foundation
import HTTPTypes

/// The `Link` fields (RFC 8288) of an answer that name mirrors of the file (RFC 6249): `<URL>; rel=duplicate; pri=1;
/// geo=de`. They may also name documents that describe the file: `<URL>; rel=describedby;
/// type="application/metalink4+xml"`.
package struct MirrorLinks: Equatable {
    /// The mirrors, the best one first.
    package var mirrors: [SourceURL] = []
    /// The first usable document (RFC 6249 section 4.1).
    package var document: SourceURL?
    /// The digest in the answer that named the mirrors. Without the digest, nothing proves that the mirrors have the
    /// same file (RFC 6249 section 7).
    package var digest: Checksum?

    /// The maximum length of a field in bytes. Longer fields are ignored.
    private static let longest = 64 << 10
    private static let longestTarget = 8 << 10
    /// The maximum number of mirrors. More mirrors are of no use, and each of them takes space in the store.
    private static let most = 32

    /// Returns whether the answer may name a document. The check is cheap, because it is made for each small file.
    package static func mayDescribe(_ head: ResponseHead) -> Bool {
        head.fields.values(of: "link").contains { $0.utf8.lowercasedASCII.contains("describedby") }
    }

    /// - Parameters:
    ///   - base: The URL of the answer, to resolve relative URLs.
    ///   - location: The code of a country. Mirrors in this country come first.
    package init(_ head: ResponseHead, from base: SourceURL? = nil, near location: String? = nil) {
        let values = head.fields.values(of: "link")
        if values.isEmpty { return }
        var found: [(url: SourceURL, isNear: Bool, priority: Int64)] = []
        for value in values where value.utf8.count <= Self.longest {
            // A link with an anchor does not describe this answer (RFC 8288 section 3.2), so it is ignored.
            for link in Self.links(Array(value.utf8)) where link.parameters["anchor"] == nil {
                if document == nil, link.relations.contains("describedby") { document = link.document(from: base) }
                guard found.count < Self.most, link.relations.contains("duplicate"),
                    case .success((let url, nil)) = SourceURL.parse(link.target),
                    url.isHTTP
                else { continue }
                found.append(
                    (
                        url, location != nil && link.parameters["geo"]?.lowercased() == location,
                        link.parameters["pri"]?.utf8.decimal ?? 999_999
                    ))
            }
        }
        // Mirrors that compare as equal keep their order.
        let sorted = found.enumerated().sorted {
            ($0.1.isNear ? 0 : 1, $0.1.priority, $0.0) < ($1.1.isNear ? 0 : 1, $1.1.priority, $1.0)
        }
        digest = ServerDigest.checksum(of: head)
        mirrors = sorted.map(\.1.url).firstOccurrences
    }

    private struct Link {
        var target: String
        var parameters: [String: String] = [:]
        var relations: [String] {
            (parameters["rel"] ?? "").split(separator: " ").map { $0.lowercased() }
        }

        /// Returns the URL of the target, if it is a Metalink document.
        func document(from base: SourceURL?) -> SourceURL? {
            let type = parameters["type"]?.prefix { $0 != ";" }.lowercased().filter { !" \t".contains($0) }
            guard let type, Metalink.types.contains(type), target.utf8.count <= MirrorLinks.longestTarget else {
                return nil
            }
            let text = base.flatMap { URL(string: target, relativeTo: URL(string: $0.string))?.absoluteString }
            guard case .success((let url, nil)) = SourceURL.parse(text ?? target), url.isHTTP else { return nil }
            return url
        }
    }

    /// Parses a field. A malformed link ends the list, because the meaning of the rest is unclear.
    private static func links(_ text: [UInt8]) -> [Link] {
        var links: [Link] = []
        var rest = text[...]
        func skip(_ bytes: String) { rest = rest.drop { bytes.utf8.contains($0) } }
        while true {
            skip(" \t,")
            guard rest.first == UInt8(ascii: "<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) else {
                return links
            }
            var link = Link(target: String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self))
            rest = rest[(end + 1)...]
            skip(" \t")
            while rest.first == UInt8(ascii: ";") {
                skip("; \t")
                let name = rest.prefix { !"=;, \t".utf8.contains($0) }
                rest = rest[name.endIndex...]
                skip(" \t")
                guard rest.first == UInt8(ascii: "=") else {
                    skip(" \t")
                    continue
                }
                rest = rest.dropFirst()
                skip(" \t")
                guard let value = value(&rest) else { return links }
                let key = name.lowercasedASCII
                // If a parameter occurs more than once, the first occurrence counts (RFC 8288 section 3.3).
                if link.parameters[key] == nil { link.parameters[key] = value }
                skip(" \t")
            }
            links.append(link)
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return links }
        }
    }

    /// Reads a token or a quoted string. Returns nil if the quoted string has no end.
    private static func value(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix { !";, \t".utf8.contains($0) }
            rest = rest[token.endIndex...]
            return String(decoding: token, as: UTF8.self)
        }
        let (bytes, isClosed) = rest.popQuoted()
        return isClosed ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
