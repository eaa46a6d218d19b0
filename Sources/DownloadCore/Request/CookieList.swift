import Foundation

/// Cookies as lines in Netscape's format, which curl, wget and the exports of browsers write. The transport decides
/// what the lines mean, and which cookies a request carries.
package struct CookieList: Sendable, Equatable {
    private(set) var lines: [String] = []
    /// The lines as they were read from the file. An unchanged line does not replace another line for the same cookie
    /// in the jar.
    private let original: [String]

    /// Makes an empty list, for cookies that servers set from now on.
    package init() { original = [] }

    /// Makes a list of the lines of a file.
    package init(_ lines: [String]) { (self.lines, original) = (lines, lines) }

    /// Returns the lines that may be for the host. The result may contain a few lines too many, but not the thousands
    /// of lines that a browser exports.
    func lines(for host: String) -> [String] {
        lines.filter { line in
            let domain = Self.domain(line)
            return host == domain || host.hasSuffix("." + domain)
        }
    }

    /// Records what a transfer changed. Transfers that run at the same time do not undo each other's changes.
    mutating func learn(_ known: TransferResult.KnownCookies) {
        let (changed, gone) = Self.differences(known)
        let before = Set(lines.map(Self.key))
        let replaced = gone.union(changed.map(Self.key))
        if !replaced.isEmpty { lines.removeAll { replaced.contains(Self.key($0)) } }
        lines += changed
        // Adds the cookies that the transfer sent unchanged and that this list does not have. They come from the
        // session's cookies (`CookieMemory`).
        lines += known.lines.filter { !before.contains(Self.key($0)) && !replaced.contains(Self.key($0)) }
    }

    /// Returns the lines that are new or different after a transfer, and the keys of the cookies that the server
    /// deleted.
    static func differences(_ known: TransferResult.KnownCookies) -> (changed: [String], gone: Set<Key>) {
        if known.lines.isEmpty, known.sent.isEmpty { return ([], []) }
        let sent = Set(known.sent.map(Meaning.init))
        let changed = known.lines.filter { !sent.contains(Meaning($0)) }
        return (changed, Set(known.sent.map(key)).subtracting(known.lines.map(key)))
    }

    /// The cookies' values. dlm hides these values when it shows or stores text that a server sent. Values of less than
    /// 8 bytes are left out, because other text often contains them.
    var values: [String] {
        lines.compactMap { Self.fields($0).last.map { String(Substring($0)) } }.filter { $0.utf8.count >= 8 }
    }

    /// Returns the text of the jar: these lines of the existing jar with new and changed cookies, and without deleted
    /// and expired ones.
    package func jar(from existing: [String], now: Date) -> String {
        let before = Set(original.map(Self.key))
        let current = Set(lines.map(Self.key))
        let unchanged = Set(original)
        let changed = lines.filter { !unchanged.contains($0) }
        let replaced = before.subtracting(current).union(changed.map(Self.key))
        let kept = existing.filter { !replaced.contains(Self.key($0)) }
        let known = Set(kept.map(Self.key))
        let whole = kept + lines.filter { !known.contains(Self.key($0)) }
        let lasting = ["# Netscape HTTP Cookie File", ""] + whole.filter { !Self.isExpired($0, now) }
        return lasting.joined(separator: "\n") + "\n"
    }

    /// Returns the lines of a cookie file.
    /// - Parameter path: The path of the file, for the error.
    package static func lines(of bytes: [UInt8], _ path: String) throws(DownloadError) -> [String] {
        var lines: [String] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let line = Substring(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
            if line.allSatisfy(\.isWhitespace) || line.hasPrefix("#") && !line.hasPrefix(httpOnly) { continue }
            guard isCookie(line) else {
                throw .requestInvalid(
                    .unusableSecret(
                        "\(path): line \(index + 1) is not a cookie in Netscape format (seven fields separated by tabs)"
                    ))
            }
            lines.append(String(line))
        }
        return lines
    }

    private static let httpOnly = "#HttpOnly_"

    /// Returns the fields of a line: domain, whether subdomains are included, path, whether https is required, expiry,
    /// name, value.
    private static func fields(_ line: some StringProtocol) -> [Substring.UTF8View] {
        Substring(line).utf8.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
    }

    private static func isCookie(_ line: Substring) -> Bool {
        let fields = fields(line)
        // Lines with an empty value may lack the last field.
        guard 6...7 ~= fields.count, !fields[0].isEmpty, Int64(Substring(fields[4])) != nil else { return false }
        return [fields[1], fields[3]].allSatisfy { ["TRUE", "FALSE"].contains(Substring($0).uppercased()) }
            && line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" }
    }

    private static func domain(_ line: String) -> String {
        let field = fields(line).first.map { Substring($0) } ?? ""
        return field.trimmingPrefix(httpOnly).trimmingPrefix(".").lowercased()
    }

    /// The identity of a cookie: two lines with the same key are the same cookie (RFC 6265 section 5.3).
    struct Key: Hashable {
        let domain: String
        let path: String
        let name: String
    }

    static func key(_ line: String) -> Key {
        let fields = fields(line)
        guard fields.count > 5 else { return Key(domain: line, path: "", name: "") }
        return Key(
            domain: domain(line), path: String(Substring(fields[2])), name: String(Substring(fields[5])))
    }

    /// The full meaning of a line, independent of how libcurl writes it.
    private struct Meaning: Hashable {
        let domain: String
        let rest: [String]

        init(_ line: String) {
            domain = CookieList.domain(line)
            var rest = CookieList.fields(line).dropFirst().map { String(Substring($0)) }
            // Lines with an empty value may lack the last field.
            if rest.count == 5 { rest.append("") }
            self.rest = rest
        }
    }

    /// Returns whether the cookie has expired. A browser's session cookie never expires here.
    private static func isExpired(_ line: String, _ now: Date) -> Bool {
        let fields = fields(line)
        guard fields.count > 4, let end = Int64(Substring(fields[4])), end > 0 else { return false }
        return end < Int64(now.timeIntervalSince1970)
    }
}
