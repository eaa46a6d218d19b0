import Foundation

/// How a session works: the counterpart of `URLSessionConfiguration`, as a value.
public struct SessionConfiguration: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// Recorded; lives as long as this process.
        case foreground
        /// Nothing is recorded, and what is not complete at the end is deleted. It needs no state folder.
        case ephemeral
        /// The same for one download that goes to a descriptor, in order, and not to a file.
        case stream(descriptor: Int32)
        /// Recorded; found again by its identifier.
        case background(identifier: String)

        /// In a store, which needs a state folder.
        package var isRecorded: Bool {
            switch self {
            case .foreground, .background: true
            case .ephemeral, .stream: false
            }
        }
    }

    package var kind: Kind
    /// The folder that holds the store and the locks and sockets of sessions, as an absolute path. The `dlm` program uses
    /// the same folder unless told otherwise, so its `list` shows the downloads of the session as well. Ephemeral sessions
    /// use no folder.
    public var stateFolder: String
    /// The most downloads that transfer at the same time.
    public var maxConcurrent = 16
    /// The most downloads from one origin (scheme, host and port) that transfer at the same time.
    public var maxPerHost = 16
    /// The same for hosts of their own; the closest pattern counts.
    package var hostLimits: [HostPattern: Int] = [:]
    /// The limit for all downloads of the session together, in bytes per second; nil for none.
    public var rateLimit: Int64?
    /// The same by the time of day; ``rateLimit`` holds outside of its windows.
    package var timetable = RateTimetable()
    /// The age in seconds at which downloads that ended are forgotten, with what is left of their partial files; nil for
    /// never.
    public var historyAge: Double?
    /// Header fields for every request of the session. A request that has a field of the same name keeps its own.
    /// `Accept-Encoding: identity` and `User-Agent` are sent without being listed here.
    public var headers: [RequestHeader] = []
    /// The program that runs a background session, so that downloads go on while this process is gone. Nil: the first
    /// process that opens the session runs it, for as long as that process lives.
    public var host: BackgroundHost?
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

    package init(kind: Kind, stateFolder: String) {
        self.kind = kind
        self.stateFolder = stateFolder
    }

    /// A recorded session that lives as long as this process. Downloads that the process leaves unfinished keep their
    /// bytes, and go on when they are asked for again.
    public static var `default`: SessionConfiguration { recorded(.foreground) }

    /// A session that records nothing, and deletes what is not complete when it ends.
    public static var ephemeral: SessionConfiguration { SessionConfiguration(kind: .ephemeral, stateFolder: "") }

    /// A recorded session that other processes, and later ones, find again by its identifier.
    /// - Parameter identifier: a file name that does not begin with a dot, such as `org.example.app`. `background` is
    ///   the session of the `dlm` daemon.
    public static func background(identifier: String) -> SessionConfiguration {
        recorded(.background(identifier: identifier))
    }

    /// An empty folder is reported when the session is opened.
    private static func recorded(_ kind: Kind) -> SessionConfiguration {
        let folder = try? stateFolder(environment: ProcessInfo.processInfo.environment)
        return SessionConfiguration(kind: kind, stateFolder: folder ?? "")
    }

    /// `$XDG_STATE_HOME/dlm`, by default `~/.local/state/dlm`; a relative value is invalid and ignored (XDG base
    /// directory specification).
    package static func stateFolder(environment: [String: String]) throws(DownloadError) -> String {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return FileNaming.path(state, "dlm") }
        guard let home = environment["HOME"], home.hasPrefix("/") else { throw .sessionUnavailable(.noHome) }
        return FileNaming.path(home, ".local/state/dlm")
    }
}

/// The program that runs a background session in a process of its own. The program calls
/// `DownloadSession.runBackground(_:)` with the same identifier.
public struct BackgroundHost: Sendable, Equatable {
    /// The absolute path of the program.
    public var executable: String
    /// The arguments behind the name of the program.
    public var arguments: [String]
    /// Variables besides those of this process's environment, or in their place.
    public var environment: [String: String]

    /// Makes a host from the path of its program.
    public init(executable: String, arguments: [String] = [], environment: [String: String] = [:]) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
    }

    /// The running program itself, with these arguments.
    public static func thisExecutable(arguments: [String]) -> BackgroundHost {
        BackgroundHost(executable: "/proc/self/exe", arguments: arguments)
    }
}
