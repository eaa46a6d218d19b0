import Foundation

/// The time at which a signed URL expires, as the URL itself says.
package enum LinkExpiry {
    /// The margin in seconds. A URL that expires within this time counts as expired.
    package static let margin = 5.0
    /// The status codes with which servers answer a URL that has expired.
    package static let statuses: Set<Int> = [401, 403, 410]
    /// The status codes after which a URL to which a server redirected may have expired. Storage servers also answer
    /// 400 or 404 then.
    package static let statusesOfRedirected: Set<Int> = statuses.union([400, 404])

    /// Returns when the URL expires, or nil if the URL does not say so in a known form. AWS and Google give the time of
    /// signing and the span of validity. CloudFront and others give `Expires` or `exp`, in seconds since 1970. Azure
    /// gives `se`.
    package static func date(of url: SourceURL) -> Date? {
        guard let items = URLComponents(string: url.string)?.queryItems else { return nil }
        var fields: [String: String] = [:]
        for item in items where fields[item.name.lowercased()] == nil { fields[item.name.lowercased()] = item.value }
        for maker in ["amz", "goog"] {
            if let signed = fields["x-\(maker)-date"].flatMap(basicDate),
                let span = fields["x-\(maker)-expires"].flatMap(Double.init), (0...1e9).contains(span)
            {
                return signed + span
            }
        }
        if let seconds = (fields["expires"] ?? fields["exp"]).flatMap(Double.init), (1e8...1e11).contains(seconds) {
            return Date(timeIntervalSince1970: seconds)
        }
        guard fields["sig"] != nil, let text = fields["se"] else { return nil }
        return StartTime.parse(text, now: Date(timeIntervalSince1970: 0), zone: .gmt)
    }

    /// Parses a time such as `20261122T080000Z`.
    private static func basicDate(_ text: String) -> Date? {
        let bytes = Array(text.utf8)
        guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else { return nil }
        return HTTPDate.date(digits: bytes[..<8] + bytes[9..<15])
    }
}
