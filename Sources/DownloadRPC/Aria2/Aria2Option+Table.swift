extension Aria2Option {
    static let all: [Aria2Option] = meant + ignored + bitTorrent + refused

    private static let meant: [Aria2Option] = [
        Aria2Option(
            "dir", .directory, nil,
            "The folder must be below a folder of `rpc-folders`. A missing folder is created."),
        Aria2Option(
            "out", .name, nil,
            "A file name, optionally with subfolders of `dir` in front. Names that lead out of `dir`, and hidden "
                + "names, are refused."),
        Aria2Option("gid", .identifier, nil, "16 hexadecimal digits. The GID stays the same after a restart."),
        Aria2Option("pause", .startsPaused, "false"),
        Aria2Option(
            "max-connection-per-server", .connectionsPerServer, "6",
            "The smaller number of this option and `split` applies, from 1 to 64. Without both, and if both are 6, "
                + "connections are added while they make the download faster, at most 6."),
        Aria2Option("split", .split, "6", "See `max-connection-per-server`."),
        Aria2Option("max-download-limit", .rateLimit, "0", "Can be changed while the download runs."),
        Aria2Option(
            "max-tries", .retries, "6",
            "The number of attempts in a row without progress after which the download fails. 0 means 1,000,000."),
        Aria2Option(
            "retry-wait", .retryDelay, "1",
            "The first delay in seconds. Each further delay is twice as long, up to 60 seconds."),
        Aria2Option("connect-timeout", .connectTimeout, "15"),
        Aria2Option("timeout", .stallTimeout, "30"),
        Aria2Option(
            "header", .header, nil,
            "One header field, or a list. The fields are not sent to another origin after a redirect; secret values "
                + "are not stored."),
        Aria2Option("user-agent", .userAgent, nil),
        Aria2Option("referer", .referer, nil),
        Aria2Option(
            "http-accept-gzip", .acceptsCompressed, "false",
            "A file that the server sends compressed is fetched over a single connection."),
        Aria2Option("http-user", .userName(isHTTP: true), nil),
        Aria2Option("http-passwd", .password(isHTTP: true), nil, "The password is not stored."),
        Aria2Option("ftp-user", .userName(isHTTP: false), nil),
        Aria2Option("ftp-passwd", .password(isHTTP: false), nil, "The password is not stored."),
        Aria2Option("all-proxy", .proxy, nil, "The option is refused if `rpc-private-hosts` is `false`."),
        Aria2Option("http-proxy", .proxy, nil, "The same as `all-proxy`."),
        Aria2Option("https-proxy", .proxy, nil, "The same as `all-proxy`."),
        Aria2Option("ftp-proxy", .proxy, nil, "The same as `all-proxy`."),
        Aria2Option("all-proxy-user", .proxyUser, nil),
        Aria2Option("all-proxy-passwd", .proxyPassword, nil, "The password is not stored."),
        Aria2Option("http-proxy-user", .proxyUser, nil),
        Aria2Option("http-proxy-passwd", .proxyPassword, nil, "The password is not stored."),
        Aria2Option("https-proxy-user", .proxyUser, nil),
        Aria2Option("https-proxy-passwd", .proxyPassword, nil, "The password is not stored."),
        Aria2Option("no-proxy", .noProxy, nil),
        Aria2Option("checksum", .checksum, nil, "Give `sha-256=HEX`. The file is verified before it gets its name."),
        Aria2Option("check-certificate", .verifiesServer, "true"),
        Aria2Option(
            "min-tls-version", .minimumTLS, "TLSv1.2", "`TLSv1.2` or `TLSv1.3`. Older versions are not used."),
        Aria2Option("follow-metalink", .followsMetalink, "true", "`mem` means the same as `true`."),
        Aria2Option("metalink-location", .location, nil, "Only the first country of the list is used."),
        Aria2Option(
            "auto-file-renaming", .renames, "true", "With `false`, the download fails if the file already exists."),
        Aria2Option("allow-overwrite", .overwrites, "false", "The old file is replaced when the new file is complete."),
        Aria2Option("conditional-get", .conditional, "false"),
        Aria2Option(
            "continue", .continues, "false", "A partial file of an earlier download is continued even with `false`."),
        Aria2Option("remote-time", .remoteTime, "false"),
        Aria2Option(
            "max-overall-download-limit", .overallRateLimit, "0",
            "Applies to the whole session. Can be changed while the session runs."),
        Aria2Option(
            "max-concurrent-downloads", .concurrentDownloads, "16",
            "1 to 1000. Applies to the whole session. Can be changed while the session runs."),
    ]

    private static let ignored: [Aria2Option] = [
        (
            "always-resume", "true",
            "A partial file is continued only if it is proved to belong to the same file."
        ),
        ("async-dns", "true", "libcurl decides how names are resolved."),
        ("auto-save-interval", "60", "Progress is recorded twice a second."),
        ("check-integrity", "false", "Everything that can be checked is always checked."),
        ("content-disposition-default-utf8", "false", "Names are read as RFC 6266 says, and as UTF-8."),
        ("disable-ipv6", "false", "Both IPv6 and IPv4 are tried (RFC 8305)."),
        ("disk-cache", "16777216", "The buffers usually have 10 MiB together."),
        ("console-log-level", "notice", "The server has no console."),
        ("deferred-input", "false", "A list is never in memory as a whole."),
        ("download-result", "default", "This option only affects output on a terminal."),
        ("dscp", "0", "The DSCP field of IP packets is not set."),
        ("enable-color", "true", "This option only affects output on a terminal."),
        ("enable-http-keep-alive", "true", "Connections are always reused."),
        ("enable-http-pipelining", "false", "HTTP/2 is used instead of pipelining."),
        ("enable-mmap", "false", "Files are not mapped into memory."),
        ("event-poll", "epoll", "The server always uses epoll."),
        ("file-allocation", "prealloc", "Space is reserved if the file system supports it."),
        ("force-save", "false", "All downloads are recorded."),
        ("ftp-pasv", "true", "FTP always uses passive mode."),
        ("ftp-reuse-connection", "true", "Connections are always reused."),
        ("ftp-type", "binary", "FTP always uses binary mode."),
        (
            "http-auth-challenge", "false",
            "A name and password are sent with the first request, and as a digest if the server asks for one."
        ),
        ("http-no-cache", "false", "`Cache-Control` and `Pragma` are not sent; give them with `header`."),
        ("human-readable", "true", "This option only affects output on a terminal."),
        ("keep-unfinished-download-result", "true", "Unfinished downloads are always kept."),
        ("log-level", "debug", "The log has only one level."),
        (
            "lowest-speed-limit", "0",
            "A slow connection is not cut. A connection without any data for `timeout` seconds is cut."
        ),
        ("max-download-result", "1000", "The history has no size limit; `history-age` removes old entries."),
        ("max-file-not-found", "0", "A file that does not exist is an error at once."),
        ("max-mmap-limit", "0", "Files are not mapped into memory."),
        ("max-overall-upload-limit", "0", "Nothing is uploaded."),
        ("max-upload-limit", "0", "Nothing is uploaded."),
        ("max-resume-failure-tries", "0", "See `always-resume`."),
        ("metalink-base-uri", nil, "The server does not use this option."),
        ("metalink-enable-unique-protocol", "true", "All sources are used."),
        ("metalink-language", nil, "The server does not use this option."),
        ("metalink-os", nil, "The server does not use this option."),
        ("metalink-preferred-protocol", "none", "Sources are used in order of their priority."),
        ("metalink-version", nil, "The server does not use this option."),
        ("min-split-size", "1048576", "The sizes of the parts depend on the speed."),
        ("no-file-allocation-limit", "5242880", "See `file-allocation`."),
        ("no-netrc", "true", "A netrc file is never read for network clients."),
        ("optimize-concurrent-downloads", "false", "Only the limit `max-concurrent-downloads` applies."),
        ("parameterized-uri", "false", "URIs are used as they are, without patterns."),
        ("pause-metadata", "false", "A metadata file does not create further downloads, so there is nothing to pause."),
        (
            "piece-length", "1048576",
            "A piece is 1 MiB long. A file of 8 GiB or more has longer pieces."
        ),
        (
            "proxy-method", "get",
            "The method for an HTTP proxy is CONNECT for https, FTP and SSH URLs, and GET for http URLs."
        ),
        ("quiet", "false", "This option only affects output on a terminal."),
        ("realtime-chunk-checksum", "true", "Pieces are always verified as they arrive."),
        ("remove-control-file", "false", "There are no control files."),
        ("reuse-uri", "true", "URIs are always used again."),
        ("rpc-save-upload-metadata", "true", "Metalink documents are not kept."),
        ("save-not-found", "true", "Downloads whose file was not found are always kept."),
        ("save-session-interval", "0", "Everything is always saved."),
        ("seed-ratio", "1.0", "Nothing is seeded."),
        ("server-stat-timeout", "86400", "What was learned about a host is used for at most a week."),
        ("show-console-readout", "true", "This option only affects output on a terminal."),
        ("socket-recv-buffer-size", "0", "The kernel decides."),
        ("ssh-host-key-md", nil, "The keys of SSH servers are checked only against `known_hosts`."),
        ("stderr", "false", "This option only affects output on a terminal."),
        ("stop", "0", "The session does not end after a given time."),
        ("stream-piece-selector", "default", "The file is divided by the speed of each connection."),
        ("summary-interval", "60", "This option only affects output on a terminal."),
        ("truncate-console-readout", "true", "This option only affects output on a terminal."),
        (
            "uri-selector", "feedback",
            "Sources are used in order of priority. After a failure, the other sources are tried first."
        ),
        ("use-head", "false", "No HEAD is sent: the answer to the first GET says what the file is."),
        ("save-session", nil, "Everything is always saved, in the store."),
        ("rlimit-nofile", "1024", "The server raises its limit of open files by itself."),
    ].map { Aria2Option(name: $0.0, use: .ignored, standard: $0.1, reason: $0.2) }

    private static let bitTorrent: [Aria2Option] = [
        "bt-detach-seed-only", "bt-enable-hook-after-hash-check", "bt-enable-lpd", "bt-exclude-tracker",
        "bt-external-ip",
        "bt-force-encryption", "bt-hash-check-seed", "bt-load-saved-metadata", "bt-max-open-files", "bt-max-peers",
        "bt-metadata-only", "bt-min-crypto-level", "bt-prioritize-piece", "bt-remove-unselected-file",
        "bt-request-peer-speed-limit", "bt-require-crypto", "bt-save-metadata", "bt-seed-unverified", "bt-stop-timeout",
        "bt-tracker", "bt-tracker-connect-timeout", "bt-tracker-interval", "bt-tracker-timeout", "dht-listen-port",
        "dht-message-timeout", "enable-dht", "enable-dht6", "enable-peer-exchange", "follow-torrent", "index-out",
        "listen-port", "peer-agent", "peer-id-prefix", "seed-time", "select-file", "show-files",
        "allow-piece-length-change",
    ].map {
        Aria2Option(
            name: $0, use: .ignored, standard: nil,
            reason: "This option is about BitTorrent, which is not supported.")
    }

    private static let refused: [Aria2Option] = [
        ("on-bt-download-complete", program), ("on-download-complete", program), ("on-download-error", program),
        ("on-download-pause", program), ("on-download-start", program), ("on-download-stop", program),
        ("load-cookies", read), ("netrc-path", read), ("ca-certificate", read), ("certificate", read),
        ("private-key", read), ("rpc-certificate", read), ("rpc-private-key", read), ("input-file", read),
        ("torrent-file", read), ("metalink-file", read), ("conf-path", read), ("server-stat-if", read),
        ("save-cookies", write), ("server-stat-of", write), ("log", write), ("dht-file-path", write),
        ("dht-file-path6", write), ("dry-run", "A download always fetches the file; leave out this option."),
        ("hash-check-only", "Network clients cannot verify files. Verify them on the machine where the server runs."),
        ("interface", "The network interface is set by the user of the machine, with `interface` in config.yaml."),
        (
            "multiple-interface",
            "The network interface is set by the user of the machine, with `interface` in config.yaml."
        ),
        ("async-dns-server", "Name servers are chosen by the user of the machine."),
        ("rpc-secret", server), ("rpc-user", server), ("rpc-passwd", server), ("enable-rpc", server),
        ("rpc-listen-port", server), ("rpc-listen-all", server), ("rpc-allow-origin-all", server),
        ("rpc-max-request-size", server), ("rpc-secure", server), ("daemon", server),
        ("stop-with-process", server),
        ("force-sequential", "This option only has a meaning on a command line, which may contain several URLs."),
    ].map { Aria2Option(name: $0.0, use: .refused, standard: nil, reason: $0.1) }

    private static let program = "Programs are not run for network clients."
    private static let read = "Files of this machine are not read for network clients."
    private static let write = "The server writes no files for network clients except their downloads."
    private static let server = "The server is set up by the user of the machine, with the `rpc-` keys in config.yaml."
}
