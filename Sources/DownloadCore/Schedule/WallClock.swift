import Foundation

/// The clock on a wall: which moment it is when it shows a time, with the rules of a time zone.
struct WallClock: Sendable {
    /// A time that the clocks show twice when summer ends.
    enum Repeated { case first, last }

    let zone: TimeZone

    /// A day without a zone, counted from 1970-01-01.
    struct Day: Sendable, Equatable {
        let number: Int

        static func + (day: Day, count: Int) -> Day { Day(number: day.number + count) }

        /// 0 is Monday; 1970-01-01 was a Thursday.
        var weekday: Int { ((number + 3) % 7 + 7) % 7 }
    }

    /// The day it is here.
    func day(of date: Date) -> Day { Day(number: Int((wall(date) / 86400).rounded(.down))) }

    /// Seconds since the wall showed 1970-01-01 00:00.
    private func wall(_ date: Date) -> Double {
        date.timeIntervalSince1970 + Double(zone.secondsFromGMT(for: date))
    }

    /// When the wall shows so many seconds after midnight. A time that is skipped when summer begins is the moment at
    /// which it is skipped.
    func moment(_ day: Day, seconds: Int, repeated: Repeated = .first) -> Date {
        let shown = Double(day.number) * 86400 + Double(seconds)
        // Zones change their clocks by a few hours at most, and not twice within two days.
        let around = [-86400.0, 86400].map {
            Double(zone.secondsFromGMT(for: Date(timeIntervalSince1970: shown + $0)))
        }
        let moments = around.map { Date(timeIntervalSince1970: shown - $0) }.filter { wall($0) == shown }.sorted()
        if let found = repeated == .first ? moments.first : moments.last { return found }
        // Before and after the clocks are put forward.
        var (low, high) = (shown - around.max()! - 86400, shown - around.min()! + 86400)
        while high - low > 1 {
            let middle = ((low + high) / 2).rounded(.down)
            if wall(Date(timeIntervalSince1970: middle)) < shown { low = middle } else { high = middle }
        }
        return Date(timeIntervalSince1970: high)
    }
}
