import Foundation

/// The times at which a download may run.
public struct DownloadSchedule: Codable, Sendable, Equatable {
    /// The earliest start; nil for none.
    public var start: Date?
    /// The windows of time in which the download may run. If there are none, it may run at any time.
    public var windows: [TimeWindow]
    /// The time zone of the windows, as a name of the time zone database.
    public var timeZone: String

    /// Creates a schedule. Without a start and windows, the download may run at any time.
    public init(start: Date? = nil, windows: [TimeWindow] = [], timeZone: String = TimeZone.current.identifier) {
        self.start = start
        self.windows = windows
        self.timeZone = timeZone
    }

    private static let most = 1000

    /// - Throws: An error for a time that is too far away, and for too many windows.
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
        /// The download may run until this time; nil for no end.
        case open(until: Date?)
        case closed(until: Date)
    }

    /// Returns whether the download may run now, and until when this answer is valid.
    package func answer(at now: Date) -> Answer {
        let calendar = WallClock(zoneNamed: timeZone)
        if let start, start > now {
            // If no window is open at the start, the download waits for the next window after the start.
            if case .closed(let until) = DownloadSchedule(windows: windows, timeZone: timeZone).answer(at: start) {
                return .closed(until: until)
            }
            return .closed(until: start)
        }
        if windows.isEmpty { return .open(until: nil) }
        guard var end = windows.compactMap({ calendar.span(of: $0, at: now)?.upperBound }).max() else {
            return .closed(until: calendar.nextStart(of: windows, after: now) ?? .distantFuture)
        }
        // If the next window begins when a window ends, the download may run on.
        for _ in 0..<(7 * windows.count) {
            guard let next = windows.compactMap({ calendar.span(of: $0, at: end)?.upperBound }).max(), next > end else {
                return .open(until: end)
            }
            end = next
        }
        return .open(until: nil)
    }
}
