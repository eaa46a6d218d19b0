import Foundation

/// The status that a session reports about itself, as the control API writes it.
package struct SessionStatus: Codable, Sendable, Equatable {
    /// The version of the control API (docs/api.md).
    package static let apiVersion = 1

    package var identifier: String
    package var pid: Int32
    /// The version of the program.
    package var version: String
    @TextDate package var started: Date
    package var running: Int
    /// The number of downloads that wait for another attempt, for the network or for their schedules.
    package var waiting: Int
    package var queued: Int
    package var settings = SessionSettings()
    /// Whether the session ends as soon as the running downloads have ended.
    package var isFinishing: Bool
    /// The pauses that servers have asked for; nil if there are none.
    package var hostPauses: [HostPause]?

    /// Without the settings, which are written beside the other values.
    private enum CodingKeys: String, CodingKey {
        case identifier, pid, started, running, waiting, queued, isFinishing, hostPauses
        case version = "programVersion"
    }

    package init(
        identifier: String, pid: Int32, version: String, started: Date, running: Int, waiting: Int, queued: Int,
        settings: SessionSettings, isFinishing: Bool
    ) {
        self.identifier = identifier
        self.pid = pid
        self.version = version
        self.started = started
        self.running = running
        self.waiting = waiting
        self.queued = queued
        self.settings = settings
        self.isFinishing = isFinishing
    }
}

/// A date that is written as text, in UTC to the millisecond (ISO 8601).
@propertyWrapper package struct TextDate: Codable, Sendable, Equatable {
    package var wrappedValue: Date

    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    package init(wrappedValue: Date) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws { wrappedValue = try Self.style.parse(String(from: decoder)) }

    package func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }

    package var text: String { wrappedValue.formatted(Self.style) }
}

/// The settings that can be changed while a session is running. A nil value changes nothing.
package struct SessionSettings: Codable, Sendable, Equatable {
    package var maxConcurrent: Int?
    package var maxPerHost: Int?
    /// The speed limit of the whole session in bytes per second; 0 removes the limit.
    package var rateLimit: Int64?

    /// The possible numbers of downloads at the same time, of all hosts or of one host.
    package static let possibleDownloads = 1...1000

    package init(maxConcurrent: Int? = nil, maxPerHost: Int? = nil, rateLimit: Int64? = nil) {
        self.maxConcurrent = maxConcurrent
        self.maxPerHost = maxPerHost
        self.rateLimit = rateLimit
    }
}

/// The ways in which a session ends, like `invalidateAndCancel` and `finishTasksAndInvalidate` of `URLSession`.
package enum ShutdownMode: String, Codable, Sendable {
    /// Running downloads are paused with their resume data, and continue at the next start.
    case pause
    /// Running downloads continue to their end, and no other download is started.
    case finish
}
