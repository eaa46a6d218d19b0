#if BackgroundSessions
    extension SessionConfiguration {
        /// Returns the configuration of a recorded session that other and later processes find by its identifier.
        /// - Parameter identifier: A file name that does not begin with a dot, such as `org.example.app`. `background` is
        ///   the session of the `dlm` daemon.
        public static func background(identifier: String) -> SessionConfiguration {
            recorded(.background(identifier: identifier))
        }
    }

    /// The program that runs a background session in a process of its own. The program calls
    /// `DownloadSession.runBackground(_:)` with the same identifier.
    public struct BackgroundHost: Sendable, Equatable {
        /// The absolute path of the program.
        public var executable: String
        /// The arguments after the name of the program.
        public var arguments: [String]
        /// Variables that are added to the environment of this process, or replace its variables.
        public var environment: [String: String]

        /// Makes a host from the path of its program.
        public init(executable: String, arguments: [String] = [], environment: [String: String] = [:]) {
            self.executable = executable
            self.arguments = arguments
            self.environment = environment
        }

        /// Returns a host that runs this program itself, with these arguments.
        public static func thisExecutable(arguments: [String]) -> BackgroundHost {
            BackgroundHost(executable: "/proc/self/exe", arguments: arguments)
        }
    }
#endif
