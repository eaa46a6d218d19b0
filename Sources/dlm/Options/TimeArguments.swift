import ArgumentParser
import DownloadKit
import Foundation

/// The time when a download is to start. For a time without a day, it is the next such time after the argument is read.
struct StartArgument: ParsedArgument, Equatable {
    let moment: Date

    init(argument: String) throws {
        // The argument parser creates these values itself, so a `TimeSource` cannot be passed to them.
        guard let moment = StartTime.parse(argument, now: SystemTime().date) else {
            throw ValidationError("give a time such as 18:00, 'tomorrow 06:00', '2026-12-24 18:00' or +2h")
        }
        self.moment = moment
    }
}

extension TimeWindow: ParsedArgument {
    init(argument: String) throws {
        guard let window = TimeWindow(argument) else {
            throw ValidationError("give a window such as 01:00-06:00 or 'Mon-Fri 22:00-06:00'")
        }
        self = window
    }
}

/// A speed limit for a window of time, such as `Mon-Fri 08:00-18:00 1M`; or `none`.
struct LimitWindow: ParsedArgument, Equatable {
    let entry: RateTimetable.Entry?

    init(argument: String) throws {
        if argument == "none" {
            entry = nil
            return
        }
        let words = argument.split(separator: " ")
        guard words.count > 1, let window = TimeWindow(words.dropLast().joined(separator: " ")),
            let rate = try? ByteRate(argument: String(words[words.count - 1]))
        else { throw ValidationError("give a window and a rate such as 'Mon-Fri 08:00-18:00 1M'") }
        entry = RateTimetable.Entry(window: window, limit: rate.limit)
    }
}

enum LocalTime {
    /// Throws if the time zone in `TZ` is unknown, because Foundation would use UTC instead.
    static func check(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        guard let name = environment["TZ"], !name.isEmpty, !name.hasPrefix("/"), !name.hasPrefix(":/") else { return }
        let bare = name.hasPrefix(":") ? String(name.dropFirst()) : name
        if TimeZone(identifier: bare) != nil { return }
        throw ValidationError(
            "the time zone TZ=\(name) is not in the time zone database; give one such as Europe/Berlin")
    }
}
