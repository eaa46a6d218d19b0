import Foundation
import HTTPTypes

/// The pause that a server asks for (`Retry-After`, RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// The greatest accepted pause in seconds. A longer one is shortened.
    package static let longest = 3600.0

    /// Parses a number of seconds or a date, and returns seconds from 0 to ``longest``. Returns nil for anything else.
    package static func seconds(_ fieldValue: String, now: Date) -> Double? {
        let value = fieldValue.utf8.trimmingWhitespace()
        if !value.isEmpty, value.allSatisfy(\.isDigit) {
            return min(value.decimal.map { Double($0) } ?? longest, longest)
        }
        return HTTPDate.parse(fieldValue, now: now).map { min(max($0.timeIntervalSince(now), 0), longest) }
    }
}

/// The pause that the answer of a server asks for.
package struct ServerPause: Sendable, Equatable {
    package let seconds: Double
    /// The origin of the server.
    package let origin: String
    /// The status codes with which a server asks for a pause for all of its files.
    package static let statuses: Set<Int> = [429, 503]

    /// Whether the pause is for all files of the server, as with 429 and 503, and not only for the one file.
    package let isForOrigin: Bool

    /// Returns nil if the answer asks for no pause, or has a malformed field.
    package init?(_ head: ResponseHead, _ url: SourceURL, now: Date) {
        // A date in the field is in the server's time, and the clock of this machine may be wrong by years.
        let now = head.fields.value(.date).flatMap { HTTPDate.parse($0, now: now) } ?? now
        guard let value = head.fields.value(.retryAfter), let seconds = RetryAfter.seconds(value, now: now) else {
            return nil
        }
        self.seconds = seconds
        origin = url.origin
        isForOrigin = Self.statuses.contains(head.status)
    }
}
