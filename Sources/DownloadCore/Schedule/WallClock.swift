import Foundation

/// The conversion between moments and the times of a wall clock, by the rules of a time zone. Days are counted from
/// 1970-01-01.
struct WallClock: Sendable {
    /// The choice between the two moments of a time that a clock shows twice, when summer time ends.
    enum Repeated { case first, last }

    let zone: TimeZone

    /// Returns the day of the week. 0 is Monday; 1970-01-01 was a Thursday.
    static func weekday(of day: Int) -> Int { ((day + 3) % 7 + 7) % 7 }

    /// Returns the day in this time zone.
    func day(of date: Date) -> Int { Int((wall(date) / 86400).rounded(.down)) }

    /// Returns the seconds since the wall clock showed 1970-01-01 00:00.
    private func wall(_ date: Date) -> Double {
        date.timeIntervalSince1970 + Double(zone.secondsFromGMT(for: date))
    }

    /// Returns the moment at which the wall clock shows this many seconds after midnight. A time that is skipped when
    /// summer time begins counts as the moment of the skip.
    func moment(_ day: Int, seconds: Int, repeated: Repeated = .first) -> Date {
        let shown = Double(day) * 86400 + Double(seconds)
        // Time zones change their clocks by a few hours at most, and not twice within two days.
        let around = [-86400.0, 86400].map {
            Double(zone.secondsFromGMT(for: Date(timeIntervalSince1970: shown + $0)))
        }
        let moments = around.map { Date(timeIntervalSince1970: shown - $0) }.filter { wall($0) == shown }.sorted()
        if let found = repeated == .first ? moments.first : moments.last { return found }
        // The time is skipped, so search for the moment of the skip.
        var (low, high) = (shown - around.max()! - 86400, shown - around.min()! + 86400)
        while high - low > 1 {
            let middle = ((low + high) / 2).rounded(.down)
            if wall(Date(timeIntervalSince1970: middle)) < shown { low = middle } else { high = middle }
        }
        return Date(timeIntervalSince1970: high)
    }
}
