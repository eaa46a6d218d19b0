import Foundation

/// The dates of HTTP (RFC 9110 section 5.6.7), computed without a locale, a time zone or a formatter.
package enum HTTPDate {
    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    /// - Parameter now: the current time. A year of two digits is read as a year at most 50 years after this time.
    package static func parse(_ text: String, now: Date) -> Date? {
        var text = text
        return text.withUTF8 { parse($0, now) }
    }

    private static func parse(_ text: UnsafeBufferPointer<UInt8>, _ now: Date) -> Date? {
        let words = text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ",") }
        guard let weekday = words.first, isWeekday(weekday) else { return nil }
        switch words.count {
        case 6 where isUniversal(words[5]):
            return date(year: fourDigits(words[3]), month: words[2], day: words[1], time: words[4])
        case 5:
            return date(year: fourDigits(words[4]), month: words[1], day: words[2], time: words[3])
        case 4 where isUniversal(words[3]):
            let parts = words[1].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            return date(year: year(parts[2], now: now), month: parts[1], day: parts[0], time: words[2])
        default: return nil
        }
    }

    /// Returns the date as an IMF-fixdate, the form to send.
    package static func format(_ date: Date) -> String {
        let (days, time) = parts(of: date)
        let (year, month, day) = civil(days: days)
        return weekdays[WallClock.weekday(of: days)].prefix(3) + ", " + day.padded(2) + " " + months[month - 1] + " "
            + year.padded(4) + " " + time + " GMT"
    }

    /// Returns the days since 1970-01-01, and the time of the day as `HH:MM:SS`. A date outside of the years 1 to 9999
    /// becomes the nearest date in these years.
    private static func parts(of date: Date) -> (days: Int, time: String) {
        let seconds = Int(min(253_402_300_799, max(-62_135_596_800, date.timeIntervalSince1970.rounded(.down))))
        let days = floored(seconds, 86_400)
        let time = seconds - days * 86_400
        return (days, [time / 3600, time / 60 % 60, time % 60].map { $0.padded(2) }.joined(separator: ":"))
    }

    /// Reads a date as 14 digits, from the year to the second.
    static func date(digits: some Collection<UInt8>) -> Date? {
        guard digits.count == 14, let number = digits.decimal.map({ Int($0) }) else { return nil }
        let (day, time) = number.quotientAndRemainder(dividingBy: 1_000_000)
        return date(
            year: day / 10_000, month: day / 100 % 100, day: day % 100, hour: time / 10_000, minute: time / 100 % 100,
            second: time % 100)
    }

    /// Returns a date as `YYYYMMDD HH:MM:SS`.
    static func compact(_ date: Date) -> String {
        let (days, time) = parts(of: date)
        let (year, month, day) = civil(days: days)
        return "\(year.padded(4))\(month.padded(2))\(day.padded(2)) \(time)"
    }

    private typealias Word = Slice<UnsafeBufferPointer<UInt8>>

    private static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func isWeekday(_ word: Word) -> Bool {
        weekdays.contains { word.elementsEqual($0.utf8) || word.elementsEqual($0.utf8.prefix(3)) }
    }

    private static func isUniversal(_ zone: Word) -> Bool {
        zone.elementsEqual("GMT".utf8) || zone.elementsEqual("UTC".utf8)
    }

    private static func number(_ word: Word, digits: ClosedRange<Int>) -> Int? {
        digits.contains(word.count) ? word.decimal.map { Int($0) } : nil
    }

    private static func fourDigits(_ word: Word) -> Int? { number(word, digits: 4...4) }

    /// Parses a year. Two digits that would be more than 50 years in the future mean the past century (RFC 9110 section
    /// 5.6.7).
    private static func year(_ word: Word, now: Date) -> Int? {
        guard let short = number(word, digits: 2...2) else { return fourDigits(word) }
        let current = civil(days: Int(now.timeIntervalSince1970 / 86_400)).year
        let guess = current - current % 100 + short
        return guess > current + 50 ? guess - 100 : guess
    }

    private static func date(year: Int?, month: Word, day: Word, time: Word) -> Date? {
        let clock = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard let year, let month = months.firstIndex(where: { month.elementsEqual($0.utf8) }),
            let day = number(day, digits: 1...2), clock.count == 3, let hour = number(clock[0], digits: 2...2),
            let minute = number(clock[1], digits: 2...2), let second = number(clock[2], digits: 2...2)
        else { return nil }
        return date(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    /// Returns the date in UTC, or nil if there is no such date. The second 60 is a leap second.
    private static func date(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Date? {
        guard let days = days(year: year, month: month, day: day), hour < 24, minute < 60, second <= 60 else {
            return nil
        }
        return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3600 + minute * 60 + second))
    }

    /// Returns the days since 1970-01-01 in the Gregorian calendar, or nil if the date does not exist. Years are
    /// counted from March, so that the leap day is the last day of a year.
    static func days(year: Int, month: Int, day: Int) -> Int? {
        let marchYear = month > 2 ? year : year - 1
        let sinceMarch = (month + 9) % 12
        let dayOfYear = (153 * sinceMarch + 2) / 5 + day - 1
        let days =
            marchYear * 365 + floored(marchYear, 4) - floored(marchYear, 100) + floored(marchYear, 400) + dayOfYear
            - 719_468
        return civil(days: days) == (year, month, day) ? days : nil
    }

    /// Returns the date that is `days` days after 1970-01-01. The calendar repeats after each era of 400 years. This
    /// function is the inverse of ``days(year:month:day:)``.
    private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floored(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let sinceMarch = (5 * dayOfYear + 2) / 153
        let month = sinceMarch < 10 ? sinceMarch + 3 : sinceMarch - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * sinceMarch + 2) / 5 + 1)
    }

    private static func floored(_ number: Int, _ divisor: Int) -> Int {
        number / divisor - (number % divisor < 0 ? 1 : 0)
    }
}
