import Foundation

/// How long a server asks to be left alone (RFC 9110 section 10.2.3).
public enum RetryAfter {
    /// The longest wait, in seconds, that a server can make us take.
    public static let longest = 3600.0

    /// Seconds from 0 to ``longest``, out of a number of seconds or a date; nil when it is neither.
    public static func seconds(_ fieldValue: String, now: Date) -> Double? {
        let value = fieldValue.utf8.trimmingWhitespace()
        if !value.isEmpty, value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return min(value.decimal.map { Double($0) } ?? longest, longest)
        }
        return HTTPDate.parse(fieldValue, now: now).map { min(max($0.timeIntervalSince(now), 0), longest) }
    }
}
