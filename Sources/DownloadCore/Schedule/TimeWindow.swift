import Foundation

/// A span of every day, or of some days of the week; one that ends before it begins goes on to the next day.
public struct TimeWindow: Codable, Sendable, Equatable {
    /// Monday is 0. The days on which it begins.
    public let days: Set<Int>
    /// Minutes after midnight.
    public let start: Int
    /// Minutes after midnight, up to 1440; as `start`, it is a whole day.
    public let end: Int

    /// Makes a window.
    public init(days: Set<Int> = TimeWindow.allDays, start: Int, end: Int) {
        self.days = days
        self.start = start
        self.end = end
    }

    private enum CodingKeys: String, CodingKey { case days, start, end }

    /// - Throws: for what no clock shows.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        days = try values.decode(Set<Int>.self, forKey: .days)
        start = try values.decode(Int.self, forKey: .start)
        end = try values.decode(Int.self, forKey: .end)
        guard days.isSubset(of: Self.allDays), (0..<1440).contains(start), (0...1440).contains(end) else {
            throw DecodingError.dataCorruptedError(forKey: .start, in: values, debugDescription: "no such window")
        }
    }

    /// The days in order: one window is always the same text.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(days.sorted(), forKey: .days)
        try values.encode(start, forKey: .start)
        try values.encode(end, forKey: .end)
    }

    /// Every day of the week.
    public static let allDays = Set(0..<7)
    private static let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

    /// Reads `01:00-06:00`, `Mon-Fri 22:00-06:00`, `Sat,Sun 00:00-24:00`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let words = text.split(separator: " ")
        guard words.count == 1 || words.count == 2, let days = words.count == 1 ? Self.allDays : Self.days(words[0])
        else { return nil }
        let times = words[words.count - 1].split(separator: "-", omittingEmptySubsequences: false)
        guard times.count == 2, let start = Self.minutes(times[0]), let end = Self.minutes(times[1]), start < 1440
        else { return nil }
        self.init(days: days, start: start, end: end)
    }

    /// Minutes after midnight of `HH:MM`, up to 24:00.
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
}

extension TimeWindow: CustomStringConvertible {
    /// As it is given.
    public var description: String {
        func time(_ minutes: Int) -> String {
            let text = "\(minutes / 60):" + "\(minutes % 60 + 100)".suffix(2)
            return minutes < 600 ? "0" + text : text
        }
        let span = "\(time(start))-\(time(end))"
        return days == Self.allDays ? span : "\(Self.names(days)) \(span)"
    }

    /// Neighbours as a span.
    private static func names(_ days: Set<Int>) -> String {
        var spans: [(Int, Int)] = []
        for day in days.sorted() {
            if let last = spans.last, last.1 == day - 1 {
                spans[spans.count - 1].1 = day
            } else {
                spans.append((day, day))
            }
        }
        return spans.map { $0 == $1 ? names[$0] : "\(names[$0])-\(names[$1])" }.joined(separator: ",")
    }
}

/// Windows of one time zone, as who asked for them sees its clocks.
struct WindowCalendar: Sendable {
    private let clock: WallClock

    init(zone: String) { clock = WallClock(zone: TimeZone(identifier: zone) ?? .gmt) }

    /// A day of this window that holds the moment; of several, the one that ends last.
    func span(of window: TimeWindow, at now: Date) -> Range<Date>? {
        let today = clock.day(of: now)
        return (-1...0).map { span(of: window, on: today + $0) }.compactMap(\.self).last { $0.contains(now) }
    }

    /// The next time that one of them begins after `now`; nil when there are none.
    func nextStart(of windows: [TimeWindow], after now: Date) -> Date? {
        let today = clock.day(of: now)
        return windows.flatMap { window in
            (-1...8).compactMap { span(of: window, on: today + $0)?.lowerBound }.filter { $0 > now }
        }.min()
    }

    /// Nil on other days, and where clocks that are put forward leave nothing of it.
    private func span(of window: TimeWindow, on day: WallClock.Day) -> Range<Date>? {
        guard window.days.contains(day.weekday) else { return nil }
        let start = clock.moment(day, seconds: window.start * 60)
        let end = clock.moment(day, seconds: (window.start + window.lasts) * 60, repeated: .last)
        return start < end ? start..<end : nil
    }
}
