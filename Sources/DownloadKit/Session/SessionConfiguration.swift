import DownloadSystem
import Foundation

/// The configuration of a session, as a value: the counterpart of `URLSessionConfiguration`.
public struct SessionConfiguration: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// A session with records, which lives as long as this process.
        case foreground
        /// A session that records nothing, and deletes incomplete files at its end. It needs no state folder.
        case ephemeral
        /// A session that records nothing, for one download that is written to a descriptor in order, and not to a
        /// file. Several connections need a spool of this size in bytes; nil for the usual size.
        case stream(descriptor: Int32, spool: Int64? = nil)
        /// A session with records, which other and later processes find by its identifier.
        case background(identifier: String)

        /// Whether the store of the session is a file, in the state folder. Otherwise the store is in memory.
        package var isRecorded: Bool {
            switch self {
            case .foreground, .background: true
            case .ephemeral, .stream: false
            }
        }
    }

    package var kind: Kind
    /// The folder that holds the store and the locks and sockets of sessions, as an absolute path. The `dlm` program
    /// uses the same folder by default, so `dlm list` also shows the downloads of the session. Ephemeral sessions use
    /// no folder.
    public var stateFolder: String
    /// The maximum number of downloads that transfer at the same time.
    public var maxConcurrent = 16
    /// The maximum number of downloads from one origin (scheme, host and port) that transfer at the same time.
    public var maxPerHost = 16
    /// Limits for single hosts, which replace ``maxPerHost``. The most specific pattern is used.
    package var hostLimits: [HostPattern: Int] = [:]
    /// The limit for all downloads of the session together, in bytes per second; nil for no limit.
    public var rateLimit: Int64?
    /// The limits by the time of day. ``rateLimit`` applies outside of these windows.
    package var timetable = RateTimetable()
    /// The age at which ended downloads are removed from the store and their partial files are deleted; nil
    /// to keep them forever.
    public var historyAge: Duration?
    /// Header fields for every request of the session. A request that has a field of the same name keeps its own.
    /// `Accept-Encoding: identity` and `User-Agent` are sent without being listed here.
    public var headers: [RequestHeader] = []
    #if BackgroundSessions
        /// The program that runs a background session, so that downloads continue after this process has ended. If nil, the
        /// first process that opens the session runs it, as long as that process lives.
        public var host: BackgroundHost?
    #endif
    /// The clock of the session. Configurations that differ only in their clocks are equal.
    package var time: any TimeSource {
        get { clock.source }
        set { clock.source = newValue }
    }
    private var clock = Clock()

    private struct Clock: Sendable, Equatable {
        var source: any TimeSource = SystemTime()

        static func == (one: Clock, other: Clock) -> Bool { true }
    }

    package init(kind: Kind, stateFolder: String) {
        self.kind = kind
        self.stateFolder = stateFolder
    }

    /// A recorded session that lives as long as this process. Downloads that the process leaves unfinished keep their
    /// bytes, and continue when they are requested again.
    public static var `default`: SessionConfiguration { recorded(.foreground) }

    /// A session that records nothing, and deletes incomplete files when it ends.
    public static var ephemeral: SessionConfiguration { SessionConfiguration(kind: .ephemeral, stateFolder: "") }

    /// Returns the configuration of a recorded session. An empty state folder is reported when the session is opened.
    static func recorded(_ kind: Kind) -> SessionConfiguration {
        let folder = try? stateFolder(environment: ProcessInfo.processInfo.environment)
        return SessionConfiguration(kind: kind, stateFolder: folder ?? "")
    }

    /// Returns `$XDG_STATE_HOME/dlm`, or by default `~/.local/state/dlm`. A relative path in the variable is ignored
    /// (XDG base directory specification).
    package static func stateFolder(environment: [String: String]) throws(DownloadError) -> String {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return FileNaming.path(state, "dlm") }
        guard let home = environment["HOME"], home.hasPrefix("/") else { throw .sessionUnavailable(.noHome) }
        return FileNaming.path(home, ".local/state/dlm")
    }
}
