/// How a session works: URLSessionConfiguration's default, ephemeral and background as a value.
public struct SessionConfiguration: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        /// Recorded; lives as long as this process.
        case foreground
        /// Nothing is recorded, and what is not complete at the end is deleted. It needs no state folder.
        case ephemeral
        /// The same for one download that goes to a descriptor, in order, and not to a file.
        case stream(descriptor: Int32)
        /// Recorded; found again by its identifier.
        case background(identifier: String)

        /// In a store, which needs a state folder.
        public var isRecorded: Bool {
            switch self {
            case .foreground, .background: true
            case .ephemeral, .stream: false
            }
        }
    }

    public var kind: Kind
    /// Holds the store and `sessions/`.
    public var stateFolder: String
    /// Downloads that transfer at the same time.
    public var maxConcurrent = 16
    /// Downloads from one origin that transfer at the same time.
    public var maxPerHost = 16
    /// The same for hosts of their own; the closest pattern counts.
    public var hostLimits: [HostPattern: Int] = [:]
    /// Bytes per second for all downloads together; nil for none.
    public var rateLimit: Int64?
    /// The same by the time of day; ``rateLimit`` holds outside of its windows.
    public var timetable = RateTimetable()
    /// Seconds after which downloads that ended are forgotten, with what is left of their partial files; nil for never.
    public var historyAge: Double?
    /// The clock of the session; it makes no difference between configurations.
    package var time: any TimeSource {
        get { clock.source }
        set { clock.source = newValue }
    }
    private var clock = Clock()

    private struct Clock: Sendable, Equatable {
        var source: any TimeSource = SystemTime()

        static func == (one: Clock, other: Clock) -> Bool { true }
    }

    public init(kind: Kind, stateFolder: String) {
        self.kind = kind
        self.stateFolder = stateFolder
    }

    /// `$XDG_STATE_HOME/dlm`, by default `~/.local/state/dlm`; a relative value is invalid and ignored (XDG base
    /// directory specification).
    public static func stateFolder(environment: [String: String]) throws(DownloadError) -> String {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return FileNaming.path(state, "dlm") }
        guard let home = environment["HOME"], home.hasPrefix("/") else { throw .sessionUnavailable(.noHome) }
        return FileNaming.path(home, ".local/state/dlm")
    }
}
