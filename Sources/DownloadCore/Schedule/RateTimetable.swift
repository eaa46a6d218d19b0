import Foundation

/// Limits of the speed by the time of day.
package struct RateTimetable: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package let window: TimeWindow
        /// Bytes per second; nil for none.
        package let limit: Int64?

        package init(window: TimeWindow, limit: Int64?) {
            self.window = window
            self.limit = limit
        }
    }

    /// The first one whose window is open counts.
    package let entries: [Entry]
    package let timeZone: String

    /// - Parameter timeZone: without entries it is not looked up, which costs each start of the program 0.9 M instructions.
    package init(_ entries: [Entry] = [], timeZone: @autoclosure () -> String = TimeZone.current.identifier) {
        self.entries = entries
        self.timeZone = entries.isEmpty ? "UTC" : timeZone()
    }

    /// - Parameter usual: outside of all windows.
    package func limit(at now: Date, usual: Int64?) -> Int64? {
        let calendar = WindowCalendar(zone: timeZone)
        guard let entry = entries.first(where: { calendar.span(of: $0.window, at: now) != nil }) else { return usual }
        return entry.limit
    }
}

/// Changes the limit of a session where its timetable does, and leaves alone what somebody set in between.
struct RateClock: Sendable {
    let timetable: RateTimetable
    let usual: Int64?
    private var last: Int64??

    init(_ timetable: RateTimetable, usual: Int64?) {
        self.timetable = timetable
        self.usual = usual
    }

    /// The limit to set now; nil: none is to be set.
    mutating func change(at now: Date) -> Int64?? {
        if timetable.entries.isEmpty { return nil }
        let limit = timetable.limit(at: now, usual: usual)
        defer { last = .some(limit) }
        return last == .some(limit) ? nil : .some(limit)
    }
}
