import Glibc

extension [String: String] {
    func has(_ name: String) -> Bool { !(self[name] ?? "").isEmpty }

    /// Whether a multiplexer such as tmux is between dlm and the terminal. It passes on the environment of the
    /// terminal, but not all of its control sequences.
    var hasMultiplexer: Bool { has("TMUX") || has("STY") || has("ZELLIJ") }

    /// The absolute folders in which programs are looked up.
    var programFolders: [String] {
        (self["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map { String($0) }
            .filter { $0.hasPrefix("/") }
    }

    func program(_ name: String) -> String? {
        programFolders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
