import Foundation

/// The hosts that must be asked over https only (RFC 6797), as their servers said. The list has no clock; the caller
/// passes the time.
package struct HSTSList: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        /// The time from which the entry is ignored.
        package var expires: Date
        package var includesSubdomains: Bool
    }

    package private(set) var entries: [String: Entry] = [:]

    /// The maximum number of entries in the file. The entries that expire last are written.
    static let most = 10_000

    package init() {}

    /// Returns whether the host must be asked over https.
    package func covers(_ host: String, at now: Date) -> Bool {
        if entries.isEmpty || NetworkPath.address(host) != nil { return false }
        if let entry = entries[host], entry.expires > now { return true }
        return host.parentDomains.contains { domain in
            entries[domain].map { $0.includesSubdomains && $0.expires > now } ?? false
        }
    }

    /// Learns from the `Strict-Transport-Security` field of an answer over verified https. Returns whether the list
    /// changed.
    package mutating func learn(_ field: String, of host: String, at now: Date) -> Bool {
        // HSTS applies to names only (RFC 6797 section 8.1.1).
        guard NetworkPath.address(host) == nil, let (age, includes) = Self.parse(field) else { return false }
        if age == 0 { return entries.removeValue(forKey: host) != nil }
        let entry = Entry(expires: now.addingTimeInterval(Double(age)), includesSubdomains: includes)
        // A small difference of the times is not worth a write: less than a day, and less than a quarter of the age.
        if let known = entries[host], known.includesSubdomains == includes,
            abs(known.expires.timeIntervalSince(entry.expires)) < min(86_400, Double(age) / 4)
        {
            return false
        }
        entries[host] = entry
        return true
    }

    /// Parses the field (RFC 6797 section 6.1), with the age in seconds. Directives may come in any order, each at most
    /// once. Unknown directives are ignored.
    private static func parse(_ field: String) -> (age: Int64, includesSubdomains: Bool)? {
        var values: [String: [UInt8]] = [:]
        var scanner = ParameterScanner(field.utf8[...])
        while let part = scanner.next() {
            guard values.updateValue(part.value, forKey: part.name) == nil else { return nil }
        }
        guard let age = values["max-age"], !age.isEmpty, age.allSatisfy(\.isDigit) else { return nil }
        // An age beyond a hundred years is cut to a hundred years.
        return (min(age.decimal ?? .max, 3_155_760_000), values["includesubdomains"] != nil)
    }

    // MARK: As text

    /// Reads the format of curl's `--hsts` file: `.host "20261122 07:36:00"`, with a leading dot to include subdomains.
    /// Times are UTC.
    package init(_ text: String, now: Date) {
        for line in text.split(whereSeparator: \.isNewline).prefix(Self.most) where !line.hasPrefix("#") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let expires = Self.date(words[1].trimmingCharacters(in: ["\"", " "])), expires > now
            else { continue }
            let includes = words[0].hasPrefix(".")
            let host = words[0].drop { $0 == "." }.lowercased()
            if !host.isEmpty { entries[host] = Entry(expires: expires, includesSubdomains: includes) }
        }
    }

    package func text(at now: Date) -> String {
        let lasting = entries.filter { $0.value.expires > now }.sorted { $0.value.expires > $1.value.expires }
        let lines = lasting.prefix(Self.most).map { host, entry in
            "\(entry.includesSubdomains ? "." : "")\(host) \"\(HTTPDate.compact(entry.expires))\"\n"
        }
        return "# Hosts that want https alone (RFC 6797), kept by dlm.\n" + lines.sorted().joined()
    }

    private static func date(_ text: String) -> Date? {
        if text == "unlimited" { return .distantFuture }
        return HTTPDate.date(digits: text.utf8.filter { !" :".utf8.contains($0) })
    }
}

extension String {
    /// The domains above a host, the nearest first. A host has at most 127 labels (RFC 1035 section 2.3.4).
    var parentDomains: [String] {
        var domains: [String] = []
        var rest = self[...]
        while let dot = rest.firstIndex(of: "."), domains.count < 127 {
            rest = rest[rest.index(after: dot)...]
            domains.append(String(rest))
        }
        return domains
    }
}

extension SourceURL {
    /// The same URL over https (RFC 6797 section 8.3); nil if the scheme is not http. Port 80 becomes 443, and any
    /// other port stays.
    package var overHTTPS: SourceURL? {
        guard scheme == "http" else { return nil }
        var rest = string.dropFirst("http://".count)
        if port == 80, rest.hasPrefix(host + ":80/") {
            rest = rest.dropFirst(host.count + 3); rest = (host + rest)[...]
        }
        return try? SourceURL("https://" + rest)
    }
}
