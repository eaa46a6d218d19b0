import Foundation

/// A time span of every day, or of some days of the week. If the end is before the start, the window ends on the next
/// day.
public struct TimeWindow: Codable, Sendable, Equatable {
    /// The days of the week on which the window begins, in order. Monday is 0.
    private let days: [Int]
    /// The start in minutes after midnight.
    package let start: Int
    /// The end in minutes after midnight, up to 1440. If it is equal to `start`, the window is a whole day.
    package let end: Int

    package init(days: Set<Int> = TimeWindow.allDays, start: Int, end: Int) {
        self.days = days.sorted()
        self.start = start
        self.end = end
    }

    /// - Throws: An error for times that do not exist.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            days: try values.decode(Set<Int>.self, forKey: .days), start: try values.decode(Int.self, forKey: .start),
            end: try values.decode(Int.self, forKey: .end))
        guard Self.allDays.isSuperset(of: days), (0..<1440).contains(start), (0...1440).contains(end) else {
            throw DecodingError.dataCorruptedError(forKey: .start, in: values, debugDescription: "no such window")
        }
    }

    package static let allDays = Set(0..<7)
    private static let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

    /// Reads `01:00-06:00`, `Mon-Fri 22:00-06:00` or `Sat,Sun 00:00-24:00`. Returns nil for anything else.
    public init?(_ text: some StringProtocol) {
        let words = text.split(separator: " ")
        guard words.count == 1 || words.count == 2, let days = words.count == 1 ? Self.allDays : Self.days(words[0])
        else { return nil }
        let times = words[words.count - 1].split(separator: "-", omittingEmptySubsequences: false)
        guard times.count == 2, let start = Self.minutes(times[0]), let end = Self.minutes(times[1]), start < 1440
        else { return nil }
        self.init(days: days, start: start, end: end)
    }

    /// Parses `HH:MM`, up to 24:00, and returns the minutes after midnight.
    package static func minutes(_ text: some StringProtocol) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            text.utf8.allSatisfy({ (0x30...0x3A).contains($0) }), let hour = Int(parts[0]), let minute = Int(parts[1]),
            minute < 60, hour * 60 + minute <= 1440
        else { return nil }
        return hour * 60 + minute
    }

    private static func days(_ text: some StringProtocol) -> Set<Int>? {
        var days: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { name in
                names.firstIndex { $0.lowercased() == name.lowercased() }
            }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else { return nil }
            for step in 0...((last - first + 7) % 7) { days.insert((first + step) % 7) }
        }
        return days
    }

    var lasts: Int { end > start ? end - start : end - start + 1440 }

    func begins(on weekday: Int) -> Bool { days.contains(weekday) }
}

extension TimeWindow: CustomStringConvertible {
    /// The window in the form that ``init(_:)`` reads.
    public var description: String {
        func time(_ minutes: Int) -> String {
            let text = "\(minutes / 60):" + "\(minutes % 60 + 100)".suffix(2)
            return minutes < 600 ? "0" + text : text
        }
        let span = "\(time(start))-\(time(end))"
        if days.count == 7 { return span }
        // Successive days are written as a span.
        let names = days.ranges.map { days in
            let (first, last) = (Self.names[days.lowerBound], Self.names[days.upperBound])
            return days.count == 1 ? first : "\(first)-\(last)"
        }
        return "\(names.joined(separator: ",")) \(span)"
    }
}

extension WallClock {
    /// Makes the clock of a time zone.
    /// - Parameter name: The name in the time zone database; UTC is used for an unknown name.
    init(zoneNamed name: String) { zone = TimeZone(identifier: name) ?? .gmt }

    /// Returns the span of this window that contains the moment. If there are several, it is the one that ends last.
    func span(of window: TimeWindow, at now: Date) -> Range<Date>? {
        let today = day(of: now)
        return (-1...0).map { span(of: window, on: today + $0) }.compactMap(\.self).last { $0.contains(now) }
    }

    /// Returns the next start of one of the windows after `now`, or nil if there are no windows.
    func nextStart(of windows: [TimeWindow], after now: Date) -> Date? {
        let today = day(of: now)
        return windows.flatMap { window in
            (-1...8).compactMap { span(of: window, on: today + $0)?.lowerBound }.filter { $0 > now }
        }.min()
    }

    /// Returns the span of the window that begins on this day. Returns nil if the window does not begin on this day, or
    /// if the change to summer time skips all of it.
    private func span(of window: TimeWindow, on day: Int) -> Range<Date>? {
        guard window.begins(on: Self.weekday(of: day)) else { return nil }
        let start = moment(day, seconds: window.start * 60)
        let end = moment(day, seconds: (window.start + window.lasts) * 60, repeated: .last)
        return start < end ? start..<end : nil
    }
}
