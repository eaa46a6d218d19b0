import Foundation

/// Speed limits by the time of day.
package struct RateTimetable: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package let window: TimeWindow
        /// The limit in bytes per second; nil for no limit.
        package let limit: Int64?

        package init(window: TimeWindow, limit: Int64?) {
            self.window = window
            self.limit = limit
        }
    }

    /// The entries. The first one whose window is open is used.
    package let entries: [Entry]
    package let timeZone: String

    /// - Parameter timeZone: the time zone of the windows. It is not looked up if there are no entries, because that
    ///   would delay each start of the program.
    package init(_ entries: [Entry] = [], timeZone: @autoclosure () -> String = TimeZone.current.identifier) {
        self.entries = entries
        self.timeZone = entries.isEmpty ? "UTC" : timeZone()
    }

    /// - Parameter usual: the limit outside of all windows.
    package func limit(at now: Date, usual: Int64?) -> Int64? {
        let calendar = WallClock(zoneNamed: timeZone)
        guard let entry = entries.first(where: { calendar.span(of: $0.window, at: now) != nil }) else { return usual }
        return entry.limit
    }
}

/// The changes of a session's limit by its timetable. A limit that the user sets between two changes stays until the
/// next change.
package struct RateClock: Sendable {
    let timetable: RateTimetable
    let usual: Int64?
    private var last: Int64??

    package init(_ timetable: RateTimetable, usual: Int64?) {
        self.timetable = timetable
        self.usual = usual
    }

    /// Returns the limit to set now. The outer optional is nil if the limit must not be changed.
    package mutating func change(at now: Date) -> Int64?? {
        if timetable.entries.isEmpty { return nil }
        let limit = timetable.limit(at: now, usual: usual)
        defer { last = .some(limit) }
        return last == .some(limit) ? nil : .some(limit)
    }
}
