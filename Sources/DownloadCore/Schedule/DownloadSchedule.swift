import Foundation

/// When a download may run.
public struct DownloadSchedule: Codable, Sendable, Equatable {
    /// Not before.
    public var start: Date?
    /// Within one of these; none: at any time.
    public var windows: [TimeWindow]
    /// Whose clocks the windows mean: a name of the time zone database.
    public var timeZone: String

    /// Makes a schedule; without a start and windows it holds nothing back.
    public init(start: Date? = nil, windows: [TimeWindow] = [], timeZone: String = TimeZone.current.identifier) {
        self.start = start
        self.windows = windows
        self.timeZone = timeZone
    }

    private enum CodingKeys: String, CodingKey { case start, windows, timeZone }
    /// Windows that may be given.
    private static let most = 1000

    /// - Throws: for a time that is out of reach, and for too many windows.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        start = try values.decodeIfPresent(Date.self, forKey: .start)
        windows = try values.decode([TimeWindow].self, forKey: .windows)
        timeZone = try values.decode(String.self, forKey: .timeZone)
        guard windows.count <= Self.most, abs(start?.timeIntervalSince1970 ?? 0) < 1e11 else {
            throw DecodingError.dataCorruptedError(forKey: .start, in: values, debugDescription: "no such time")
        }
    }

    package enum Answer: Sendable, Equatable {
        /// It may run; nil: for ever.
        case open(until: Date?)
        case closed(until: Date)
    }

    /// Whether it may run now, and how long that is so.
    package func answer(at now: Date) -> Answer {
        let calendar = WindowCalendar(zone: timeZone)
        if let start, start > now {
            // A window that it will not find open is the next one.
            if case .closed(let until) = DownloadSchedule(windows: windows, timeZone: timeZone).answer(at: start) {
                return .closed(until: until)
            }
            return .closed(until: start)
        }
        if windows.isEmpty { return .open(until: nil) }
        guard var end = windows.compactMap({ calendar.span(of: $0, at: now)?.upperBound }).max() else {
            return .closed(until: calendar.nextStart(of: windows, after: now) ?? .distantFuture)
        }
        // Those that follow without a gap.
        for _ in 0..<(7 * windows.count) {
            guard let next = windows.compactMap({ calendar.span(of: $0, at: end)?.upperBound }).max(), next > end else {
                return .open(until: end)
            }
            end = next
        }
        return .open(until: nil)
    }
}
