import Foundation
import HTTPTypes

/// How long a server asks to be left alone (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// The longest wait, in seconds, that a server can make us take.
    package static let longest = 3600.0

    /// Seconds from 0 to ``longest``, out of a number of seconds or a date; nil when it is neither.
    package static func seconds(_ fieldValue: String, now: Date) -> Double? {
        let value = fieldValue.utf8.trimmingWhitespace()
        if !value.isEmpty, value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return min(value.decimal.map { Double($0) } ?? longest, longest)
        }
        return HTTPDate.parse(fieldValue, now: now).map { min(max($0.timeIntervalSince(now), 0), longest) }
    }
}

/// The wish of one server, from its answer.
package struct ServerPause: Sendable, Equatable {
    package let seconds: Double
    /// Whose wish it is.
    package let origin: String
    /// It is the server that is busy, not the one file: 429 and 503 speak for all of it.
    package let isForOrigin: Bool

    package init(seconds: Double, origin: String, isForOrigin: Bool) {
        self.seconds = seconds
        self.origin = origin
        self.isForOrigin = isForOrigin
    }

    /// Nil when the answer asks for nothing, or for something malformed.
    init?(_ head: ResponseHead, _ url: SourceURL, now: Date) {
        // A date is by the server's clock, and ours may be years off.
        let now = head.fields.value(.date).flatMap { HTTPDate.parse($0, now: now) } ?? now
        guard let value = head.fields.value(.retryAfter), let seconds = RetryAfter.seconds(value, now: now) else {
            return nil
        }
        self.init(seconds: seconds, origin: url.origin, isForOrigin: head.status == 429 || head.status == 503)
    }
}
