/// What the manual says beside the options.
enum ManualText {
    static func examples(for command: String?) -> [(command: String, meaning: String)] {
        switch command {
        case "get":
            [
                ("dlm get https://example.org/debian-12.iso", "Download a file into the current folder:"),
                (
                    "dlm get -o iso/debian.iso -x 4 https://example.org/debian-12.iso",
                    "With another name, a folder and four connections:"
                ),
                ("dlm get -d data -i urls.txt -j 8", "A list of URLs, eight at a time:"),
                (
                    "file=$(dlm get --checksum sha256:HEX https://example.org/x.zip) || exit",
                    "In a script, verified:"
                ),
                (
                    "dlm get --if-exists newer https://example.org/prices.csv",
                    "Every night, only when the server's file is newer:"
                ),
            ]
        case "list":
            [
                ("dlm list", "What is not finished:"),
                ("dlm list --state failed --json | jq .id", "The numbers of the failed ones:"),
            ]
        case "show": [("dlm show 3", "Everything about one download:")]
        case "resume":
            [
                ("dlm resume 3 5-8", "Go on with some downloads:"),
                ("dlm resume --all", "Go on with everything that is not finished:"),
                ("dlm resume 3 -H \"Authorization: Bearer $TOKEN\"", "Give a secret again:"),
            ]
        case "remove":
            [
                ("dlm remove 3", "Forget a download and delete its partial file:"),
                ("dlm remove --delete-file 4", "Delete its finished file as well:"),
            ]
        case "daemon":
            [
                ("dlm daemon start -j 8 --limit-rate 2M", "Have it run, eight downloads at a time, at 2 MiB/s:"),
                ("dlm daemon status --json", "How it is, for a script:"),
                ("dlm daemon stop --finish", "End it once the running downloads have ended:"),
            ]
        default:
            [
                ("dlm get https://example.org/debian-12.iso", "Download a file:"),
                ("dlm resume 3", "Go on after an interruption:"),
                ("dlm list", "See what is not finished:"),
            ]
        }
    }

    static let statuses = [
        ("0", "All complete and verified, or they already were."),
        ("1", "Another error, or several of different kinds."),
        ("2", "Usage or configuration."),
        ("3", "File: exists, permission, disk full, name."),
        ("4", "Network: name resolution, connect, timeout, stalled, connection lost."),
        ("5", "TLS: certificate, handshake."),
        ("6", "Authentication: 401, 407."),
        ("7", "Protocol: malformed or contradictory reply, redirect loop or refused redirect."),
        ("8", "The server refused: other 4xx and 5xx."),
        ("9", "Verification: checksum, size, type."),
        ("10", "No such download."),
        ("11", "Cancelled."),
        ("12", "The session that owns it does not answer, or the store cannot be opened."),
        ("129, 130, 143", "Ended by SIGHUP, SIGINT, SIGTERM after the resume data was written."),
    ]

    static let files = [
        ("NAME.part", "The partial file beside the final name, which appears by rename once the file is complete."),
        ("$XDG_STATE_HOME/dlm/downloads.sqlite", "What dlm remembers; by default under ~/.local/state."),
        ("$XDG_STATE_HOME/dlm/sessions/", "A lock and a socket for each process that downloads."),
        ("$XDG_STATE_HOME/dlm/daemon.log", "What the background session says; daemon.log.1 is the one before."),
    ]

    static let environment = [
        ("XDG_STATE_HOME", "Where the state is kept."),
        ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "Whether output is coloured, unless --color says so."),
        ("TERM", "A dumb terminal gets no progress bars."),
        ("http_proxy, HTTPS_PROXY, ALL_PROXY, NO_PROXY", "Proxies, as libcurl reads them."),
    ]
}
