/// The texts of the manual besides the options.
enum ManualText {
    /// Returns the examples of a command, or of dlm itself.
    static func examples(for command: String?) -> [(command: String, meaning: String)] {
        command.map { examples[$0] ?? [] } ?? [
            ("dlm get https://example.org/debian-12.iso", "Download a file:"),
            ("dlm get -b https://example.org/debian-12.iso", "The same in the background:"),
            ("dlm pause 3", "Stop for now:"),
            ("dlm resume 3", "Go on after an interruption:"),
            ("dlm list", "See what is not finished:"),
        ]
    }

    static let statuses = [
        ("0", "All complete and verified, or they already were."),
        ("1", "Another error, or several of different kinds."),
        ("2", "Usage or configuration."),
        ("3", "File: exists, permission, disk full, name."),
        ("4", "Network: name resolution, connect, timeout, stalled, connection lost; no time left (`--max-time`)."),
        ("5", "TLS: certificate, handshake; SSH: the key of the server."),
        ("6", "Authentication: 401, 407, the login of FTP or SSH."),
        ("7", "Protocol: malformed or contradictory reply, redirect loop or refused redirect."),
        ("8", "The server refused: other 4xx and 5xx; FTP, SSH: no such file, or a folder."),
        (
            "9",
            "Verification: checksum, size, type, status that is not wanted; or nothing proves that it is whole, or of one version."
        ),
        ("10", "No such download."),
        ("11", "Cancelled."),
        ("12", "The session that owns it does not answer, or the store cannot be opened."),
        ("13", "The download was complete before the command, and its file is gone or was changed since then."),
        ("65", "With `--manifest`: all that can be done is done, and some URLs fail whenever they are tried."),
        ("69", "More downloads failed than `--max-failures` allows."),
        ("75", "With `--manifest`: something failed that the same command may do when it is run again."),
        ("129, 130, 143", "Ended by SIGHUP, SIGINT, SIGTERM after the resume data was written."),
    ]

    static let files = [
        ("NAME.part", "The partial file beside the final name, which appears by rename once the file is complete."),
        ("$XDG_STATE_HOME/dlm/downloads.sqlite", "What dlm remembers; by default under ~/.local/state."),
        ("$XDG_STATE_HOME/dlm/sessions/", "One lock for each process that downloads."),
        ("$XDG_STATE_HOME/dlm/daemon.log", "What the background session says that nobody listens to."),
        ("$XDG_STATE_HOME/dlm/tips", "Which advice was printed, so that none is printed twice."),
        ("$XDG_CONFIG_HOME/dlm/config.yaml", "Settings, see dlm-config(1); by default under ~/.config."),
    ]

    static let environment = [
        ("DLM_OPTION_NAME", "A setting, by the name of its option, such as DLM_MAX_CONCURRENT; see dlm-config(1)."),
        ("XDG_STATE_HOME, XDG_CONFIG_HOME, HOME", "Where the state and the configuration are kept."),
        ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "Whether output is coloured, unless --color says so."),
        ("TERM", "A dumb terminal gets no progress bars."),
        ("http_proxy, HTTPS_PROXY, ALL_PROXY, NO_PROXY", "Proxies, as libcurl reads them."),
    ]
}
