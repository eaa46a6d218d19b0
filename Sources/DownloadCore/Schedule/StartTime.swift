import Foundation

/// The reading of start times in the forms that people write.
package enum StartTime {
    /// Parses `+2h`, `18:00` (the next time), `today 18:00`, `tomorrow 06:00`, `2026-12-24`, `2026-12-24 18:00[:30]`,
    /// and the same with `T`, `Z` or an offset such as `+01:00`. Returns nil for anything else.
    /// - Parameter zone: the time zone of a time without an offset.
    package static func parse(_ text: String, now: Date, zone: TimeZone = .current) -> Date? {
        let text = text.trimmingCharacters(in: .whitespaces)
        if text.hasPrefix("+") { return duration(text.dropFirst()).map { now + $0 } }
        let clock = WallClock(zone: zone)
        let today = clock.day(of: now)
        if let seconds = seconds(text) {
            let moment = clock.moment(today, seconds: seconds)
            return moment > now ? moment : clock.moment(today + 1, seconds: seconds)
        }
        let words = text.lowercased().split(separator: " ")
        if words.count == 2, let days = ["today": 0, "tomorrow": 1][words[0]], let seconds = seconds(words[1]) {
            return clock.moment(today + days, seconds: seconds)
        }
        return date(text, clock)
    }

    /// Parses a duration such as `1h30m`, `90s` or `2d`.
    private static func duration(_ text: Substring) -> Double? {
        let factors: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        var total = 0.0
        var rest = text
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            guard let number = Double(digits), let unit = rest.first, let factor = factors[unit] else { return nil }
            rest = rest.dropFirst()
            total += number * factor
        }
        return total <= 1e9 ? total : nil
    }

    /// Parses `HH:MM` or `HH:MM:SS` and returns the seconds after midnight.
    private static func seconds(_ text: some StringProtocol) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3,
            let minutes = TimeWindow.minutes(parts.prefix(2).joined(separator: ":")), minutes < 1440
        else { return nil }
        if parts.count == 2 { return minutes * 60 }
        guard let seconds = number(parts[2], digits: 2), seconds < 60 else { return nil }
        return minutes * 60 + seconds
    }

    private static func date(_ text: String, _ clock: WallClock) -> Date? {
        let parts = text.prefix(10).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = number(parts[0], digits: 4), let month = number(parts[1], digits: 2),
            let day = number(parts[2], digits: 2), year >= 1970,
            let date = HTTPDate.days(year: year, month: month, day: day)
        else { return nil }
        let rest = text.dropFirst(10)
        if rest.isEmpty { return clock.moment(date, seconds: 0) }
        guard let mark = rest.first, "Tt ".contains(mark) else { return nil }
        let time = rest.dropFirst().prefix { !"Zz+-".contains($0) }
        guard let seconds = seconds(time) else { return nil }
        let zone = rest.dropFirst(1 + time.count)
        if zone.isEmpty { return clock.moment(date, seconds: seconds) }
        guard let offset = offset(zone) else { return nil }
        return Date(timeIntervalSince1970: Double(date * 86400 + seconds - offset))
    }

    /// Parses `Z`, `+01:00` or `+0100` and returns the offset in seconds.
    private static func offset(_ text: Substring) -> Int? {
        if text.lowercased() == "z" { return 0 }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard let sign = text.first, "+-".contains(sign), [5, 6].contains(text.count), digits.count == 4,
            let all = number(digits, digits: 4), all % 100 < 60, all < 2400
        else { return nil }
        return (all / 100 * 3600 + all % 100 * 60) * (sign == "-" ? -1 : 1)
    }

    private static func number(_ text: some StringProtocol, digits: Int) -> Int? {
        text.count == digits && text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
    }
}
