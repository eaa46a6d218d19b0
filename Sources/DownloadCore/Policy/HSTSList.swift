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
        if entries.isEmpty || Self.isAddress(host) { return false }
        if let entry = entries[host], entry.expires > now { return true }
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if let entry = entries[String(rest)], entry.includesSubdomains, entry.expires > now { return true }
        }
        return false
    }

    /// Learns from the `Strict-Transport-Security` field of an answer over verified https. Returns whether the list
    /// changed.
    package mutating func learn(_ field: String, of host: String, at now: Date) -> Bool {
        guard !Self.isAddress(host), let (age, includes) = Self.parse(field) else { return false }
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
        var values: [String: String] = [:]
        for part in field.split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard let name = pair.first?.lowercased(), !name.isEmpty else { continue }
            guard values.updateValue(pair.count > 1 ? pair[1] : "", forKey: name) == nil else { return nil }
        }
        guard let text = values["max-age"]?.trimmingCharacters(in: ["\""]), !text.isEmpty,
            text.utf8.allSatisfy(\.isDigit)
        else { return nil }
        // An age beyond a hundred years is cut to a hundred years.
        let age = min(Int64(text) ?? .max, 3_155_760_000)
        return (age, values["includesubdomains"] != nil)
    }

    /// Returns whether the host is an IP address. HSTS applies to names only (RFC 6797 section 8.1.1).
    private static func isAddress(_ host: String) -> Bool {
        host.hasPrefix("[") || host.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
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
            "\(entry.includesSubdomains ? "." : "")\(host) \"\(Self.text(entry.expires))\"\n"
        }
        return "# Hosts that want https alone (RFC 6797), kept by dlm.\n" + lines.sorted().joined()
    }

    private static func date(_ text: String) -> Date? {
        if text == "unlimited" { return .distantFuture }
        let numbers = text.split { $0 == " " || $0 == ":" }
        guard numbers.count == 4, numbers[0].count == 8, let day = Int(numbers[0]), let hour = Int(numbers[1]),
            let minute = Int(numbers[2]), let second = Int(numbers[3])
        else { return nil }
        var time = tm()
        time.tm_year = Int32(day / 10_000 - 1900)
        time.tm_mon = Int32(day / 100 % 100 - 1)
        time.tm_mday = Int32(day % 100)
        (time.tm_hour, time.tm_min, time.tm_sec) = (
            Int32(truncatingIfNeeded: hour), Int32(truncatingIfNeeded: minute), Int32(truncatingIfNeeded: second)
        )
        return Date(timeIntervalSince1970: Double(timegm(&time)))
    }

    private static func text(_ date: Date) -> String {
        var seconds = time_t(min(date.timeIntervalSince1970, 253_402_300_799))
        var time = tm()
        gmtime_r(&seconds, &time)
        return
            "\(time.tm_year + 1900)\((time.tm_mon + 1).padded(2))\(time.tm_mday.padded(2)) \(time.tm_hour.padded(2)):"
            + "\(time.tm_min.padded(2)):\(time.tm_sec.padded(2))"
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
        guard case .success(let parsed) = SourceURL.parse("https://" + rest) else { return nil }
        return parsed.url
    }
}
