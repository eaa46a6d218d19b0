import Foundation

/// Dates in the form of HTTP (RFC 9110 section 5.6.7).
package enum HTTPDate {
    package static func string(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return String(
            format: "%@, %02d %@ %04d %02d:%02d:%02d GMT", days[Int(parts.tm_wday)], Int(parts.tm_mday),
            months[Int(parts.tm_mon)], Int(parts.tm_year) + 1900, Int(parts.tm_hour), Int(parts.tm_min),
            Int(parts.tm_sec))
    }

    /// Returns the date this number of seconds ago.
    package static func ago(_ seconds: Double) -> String { string(Date(timeIntervalSinceNow: -seconds)) }
}
