extension Aria2Option {
    static let all: [Aria2Option] = meant + ignored + bitTorrent + refused

    private static let meant: [Aria2Option] = [
        Aria2Option("dir", .directory),
        Aria2Option("out", .name),
        Aria2Option("gid", .identifier),
        Aria2Option("pause", .startsPaused, "false"),
        Aria2Option("max-connection-per-server", .connectionsPerServer, "6"),
        Aria2Option("split", .split, "6"),
        Aria2Option("max-download-limit", .rateLimit, "0"),
        Aria2Option("max-tries", .retries, "6"),
        Aria2Option("retry-wait", .retryDelay, "1"),
        Aria2Option("connect-timeout", .connectTimeout, "15"),
        Aria2Option("timeout", .stallTimeout, "30"),
        Aria2Option("header", .header),
        Aria2Option("user-agent", .userAgent),
        Aria2Option("referer", .referer),
        Aria2Option("http-accept-gzip", .acceptsCompressed, "false"),
        Aria2Option("http-user", .userName(isHTTP: true)),
        Aria2Option("http-passwd", .password(isHTTP: true)),
        Aria2Option("ftp-user", .userName(isHTTP: false)),
        Aria2Option("ftp-passwd", .password(isHTTP: false)),
        Aria2Option("all-proxy", .proxy),
        Aria2Option("http-proxy", .proxy),
        Aria2Option("https-proxy", .proxy),
        Aria2Option("ftp-proxy", .proxy),
        Aria2Option("all-proxy-user", .proxyUser),
        Aria2Option("all-proxy-passwd", .proxyPassword),
        Aria2Option("http-proxy-user", .proxyUser),
        Aria2Option("http-proxy-passwd", .proxyPassword),
        Aria2Option("https-proxy-user", .proxyUser),
        Aria2Option("https-proxy-passwd", .proxyPassword),
        Aria2Option("no-proxy", .noProxy),
        Aria2Option("checksum", .checksum),
        Aria2Option("check-certificate", .verifiesServer, "true"),
        Aria2Option("min-tls-version", .minimumTLS, "TLSv1.2"),
        Aria2Option("follow-metalink", .followsMetalink, "true"),
        Aria2Option("metalink-location", .location),
        Aria2Option("auto-file-renaming", .renames, "true"),
        Aria2Option("allow-overwrite", .overwrites, "false"),
        Aria2Option("conditional-get", .conditional, "false"),
        Aria2Option("continue", .continues, "false"),
        Aria2Option("remote-time", .remoteTime, "false"),
        Aria2Option("max-overall-download-limit", .overallRateLimit, "0"),
        Aria2Option("max-concurrent-downloads", .concurrentDownloads, "16"),
    ]

    private static let ignored: [Aria2Option] = [
        ("always-resume", "true"), ("async-dns", "true"), ("auto-save-interval", "60"), ("check-integrity", "false"),
        ("content-disposition-default-utf8", "false"), ("disable-ipv6", "false"), ("disk-cache", "16777216"),
        ("console-log-level", "notice"), ("deferred-input", "false"), ("download-result", "default"), ("dscp", "0"),
        ("enable-color", "true"), ("enable-http-keep-alive", "true"), ("enable-http-pipelining", "false"),
        ("enable-mmap", "false"), ("event-poll", "epoll"), ("file-allocation", "prealloc"), ("force-save", "false"),
        ("ftp-pasv", "true"), ("ftp-reuse-connection", "true"), ("ftp-type", "binary"),
        ("http-auth-challenge", "false"), ("http-no-cache", "false"), ("human-readable", "true"),
        ("keep-unfinished-download-result", "true"), ("log-level", "debug"), ("lowest-speed-limit", "0"),
        ("max-download-result", "1000"), ("max-file-not-found", "0"), ("max-mmap-limit", "0"),
        ("max-overall-upload-limit", "0"), ("max-upload-limit", "0"), ("max-resume-failure-tries", "0"),
        ("metalink-base-uri", nil), ("metalink-enable-unique-protocol", "true"), ("metalink-language", nil),
        ("metalink-os", nil), ("metalink-preferred-protocol", "none"), ("metalink-version", nil),
        ("min-split-size", "1048576"), ("no-file-allocation-limit", "5242880"), ("no-netrc", "true"),
        ("optimize-concurrent-downloads", "false"), ("parameterized-uri", "false"), ("pause-metadata", "false"),
        ("piece-length", "1048576"), ("proxy-method", "get"), ("quiet", "false"), ("realtime-chunk-checksum", "true"),
        ("remove-control-file", "false"), ("reuse-uri", "true"), ("rpc-save-upload-metadata", "true"),
        ("save-not-found", "true"), ("save-session-interval", "0"), ("seed-ratio", "1.0"),
        ("server-stat-timeout", "86400"), ("show-console-readout", "true"), ("socket-recv-buffer-size", "0"),
        ("ssh-host-key-md", nil), ("stderr", "false"), ("stop", "0"), ("stream-piece-selector", "default"),
        ("summary-interval", "60"), ("truncate-console-readout", "true"), ("uri-selector", "feedback"),
        ("use-head", "false"), ("save-session", nil), ("rlimit-nofile", "1024"),
    ].map { Aria2Option(name: $0.0, use: .ignored, standard: $0.1) }

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
    ].map { Aria2Option(name: $0, use: .ignored, standard: nil) }

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
    ].map { Aria2Option(name: $0.0, use: .refused(reason: $0.1), standard: nil) }

    private static let program = "Programs are not run for network clients."
    private static let read = "Files of this machine are not read for network clients."
    private static let write = "The server writes no files for network clients except their downloads."
    private static let server = "The server is set up by the user of the machine, with the `rpc-` keys in config.yaml."
}
