@testable import dlm

/// The texts of the manual besides the options.
enum ManualText {
    /// Returns the examples of a command, or of dlm itself.
    static func examples(for command: String?) -> [(command: String, meaning: String)] {
        command.map { examples[$0] ?? [] } ?? HelpText.commandExamples
    }

    static let statuses = [
        ("0", "All downloads are complete and verified, or already were."),
        ("1", "Another error, or several of different kinds."),
        ("2", "A wrong command line or configuration."),
        ("3", "File: exists, permission, disk full, name."),
        (
            "4",
            "Network: name resolution, connect, timeout, stalled, connection lost; time limit reached (`--max-time`)."
        ),
        ("5", "TLS: certificate, handshake; SSH: the server's key."),
        ("6", "Authentication: 401, 407, login over FTP or SSH."),
        ("7", "Protocol: malformed or contradictory reply, redirect loop or refused redirect."),
        (
            "8",
            "The server refused: other 4xx and 5xx; over FTP and SSH also if the file does not exist or is a folder."
        ),
        (
            "9",
            "Verification: wrong checksum, size, type or status; or nothing proves that the file is complete, or that "
                + "all its parts are from the same version of the remote file; an archive that cannot be unpacked "
                + "(`--unpack`)."
        ),
        ("10", "No such download."),
        ("11", "Cancelled."),
        ("12", "The session that owns the download does not answer, or the store cannot be opened."),
        ("13", "The download was complete before the command, but its file was deleted or changed afterwards."),
        ("65", "With `--manifest`: everything that can succeed is done, and some URLs have failed for good."),
        ("69", "More downloads failed than `--max-failures` allows."),
        ("75", "With `--manifest`: something failed that may succeed when the same command is run again."),
        ("129, 130, 143", "Ended by SIGHUP, SIGINT or SIGTERM, after the resume data was written."),
    ]

    static let files = [
        (
            "NAME.part",
            "The partial file, beside the final name. It is renamed to the final name when the file is complete."
        ),
        ("$XDG_STATE_HOME/dlm/downloads.sqlite", "The store of all downloads; by default under ~/.local/state."),
        ("$XDG_STATE_HOME/dlm/sessions/", "One lock for each process that downloads."),
        ("$XDG_STATE_HOME/dlm/daemon.log", "The messages of the background session."),
        ("$XDG_STATE_HOME/dlm/tips", "The tips that dlm has already printed, so that no tip is printed twice."),
        ("$XDG_CONFIG_HOME/dlm/config.yaml", "Settings, see dlm-config(1); by default under ~/.config."),
    ]

    static let environment = [
        ("DLM_OPTION_NAME", "A setting, by the name of its option, such as DLM_MAX_CONCURRENT; see dlm-config(1)."),
        ("XDG_STATE_HOME, XDG_CONFIG_HOME, HOME", "The folders of the state and the configuration."),
        ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "Whether output is coloured, if --color is not given."),
        ("TERM", "A dumb terminal gets no progress bars."),
        ("http_proxy, HTTPS_PROXY, ALL_PROXY, NO_PROXY", "Proxies, as libcurl reads them."),
    ]
}
