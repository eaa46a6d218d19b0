extension DropInOption {
    /// Options of aria2 1.37 (`aria2c --help=#all`).
    static let aria2c = aria2cDownloads + aria2cRequests + aria2cOthers

    private static let aria2cDownloads = [
        Self("-o --out", .required, .part(.output)),
        Self("-d --dir", .required, .part(.folder)),
        Self("-i --input-file", .required, .part(.list)),
        Self("-M --metalink-file", .required, .option("metalink-file")),
        Self("-x --max-connection-per-server", .required, .part(.connections)),
        Self("-s --split", .required, .part(.split)),
        Self("-j --max-concurrent-downloads", .required, .option("max-concurrent")),
        Self("-k --min-split-size", .required, .needless("dlm itself decides how to divide a file")),
        Self("-c --continue", .boolean, .part(.continues)),
        Self("--allow-overwrite", .boolean, .part(.overwrites)),
        Self("--auto-file-renaming", .boolean, .part(.renames)),
        Self("--conditional-get", .boolean, .part(.newerOnly)),
        Self("-R --remote-time", .boolean, .part(.timestamps)),
        Self("-Z --force-sequential", .boolean, .part(.separate)),
        Self("-P --parameterized-uri", .boolean, .part(.globs)),
        Self("--checksum", .required, .option("checksum", .digest)),
        Self("-m --max-tries", .required, .option("retries", .attempts)),
        Self("--retry-wait", .required, .option("retry-delay")),
        Self("-t --timeout", .required, .option("stall-timeout", .time)),
        Self("--connect-timeout", .required, .option("connect-timeout", .time)),
        Self("--stop", .required, .option("max-time", .time)),
        Self("--max-download-limit", .required, .option("limit-rate")),
        Self("--max-overall-download-limit", .required, .option("limit-rate")),
        Self(
            "--follow-metalink", .required,
            .needless("dlm reads a Metalink document that describes one file, without saving the document")),
        Self("--metalink-location", .required, .option("metalink-location")),
        Self("--pause", .boolean, .either(on: ["--paused"], off: [])),
        Self("-D --daemon", .boolean, .either(on: ["--background"], off: [])),
        Self("-q --quiet", .boolean, .part(.quiet)),
        Self("--show-console-readout", .boolean, .either(on: [], off: ["--progress", "none"])),
        Self("-v --version", .none, .part(.version)),
        Self("-h --help", .none, .part(.help)),
    ]

    private static let aria2cRequests = [
        Self("--header", .required, .option("header", .field), isSecret: true),
        Self("-U --user-agent", .required, .option("user-agent")),
        Self("--referer", .required, .option("referer")),
        Self("--http-user", .required, .part(.userName)),
        Self("--http-passwd", .required, .part(.password), isSecret: true),
        Self("--ftp-user", .required, .part(.userName)),
        Self("--ftp-passwd", .required, .part(.password), isSecret: true),
        Self("-n --no-netrc", .boolean, .part(.noNetrc)),
        Self("--netrc-path", .required, .option("netrc-file")),
        Self("--load-cookies", .required, .option("cookie-file")),
        Self("--save-cookies", .required, .option("cookie-jar")),
        Self("--check-certificate", .boolean, .either(on: [], off: ["--insecure"])),
        Self("--ca-certificate", .required, .option("ca-certificate")),
        Self("--certificate", .required, .option("certificate")),
        Self("--private-key", .required, .option("private-key")),
        Self("--min-tls-version", .required, .option("tls-min", .tls)),
        Self("--all-proxy", .required, .part(.proxy), isSecret: true),
        Self("--http-proxy", .required, .part(.proxy), isSecret: true),
        Self("--https-proxy", .required, .part(.proxy), isSecret: true),
        Self("--ftp-proxy", .required, .part(.proxy), isSecret: true),
        Self("--all-proxy-user --http-proxy-user --https-proxy-user --ftp-proxy-user", .required, .part(.proxyUser)),
        Self(
            "--all-proxy-passwd --http-proxy-passwd --https-proxy-passwd --ftp-proxy-passwd", .required,
            .part(.proxyPassword), isSecret: true),
        Self("--no-proxy", .required, .option("no-proxy")),
        Self("--interface", .required, .option("interface")),
        Self("--disable-ipv6", .boolean, .either(on: ["--ipv4"], off: [])),
        Self(
            "--http-no-cache", .boolean,
            .either(on: ["--header", "Cache-Control: no-cache", "--header", "Pragma: no-cache"], off: [])),
        Self("--http-accept-gzip", .boolean, .needless("dlm asks for the file without compression")),
        Self("--http-auth-challenge", .boolean, .needless("dlm sends a name and password with the first request")),
    ]

    private static let aria2cOthers =
        needless(
            "dlm reads no configuration of aria2", .boolean, "--no-conf")
        + needless(
            "the option does not change the file", .required,
            "--file-allocation --no-file-allocation-limit --auto-save-interval --summary-interval --console-log-level "
                + "--log-level --download-result --disk-cache --event-poll --uri-selector --stream-piece-selector "
                + "--max-file-not-found --max-resume-failure-tries --piece-length --rlimit-nofile --server-stat-if "
                + "--server-stat-of --server-stat-timeout --socket-recv-buffer-size --max-mmap-limit --max-download-result "
                + "--save-session-interval --optimize-concurrent-downloads --proxy-method --ftp-type --gid")
        + needless(
            "the option does not change the file", .boolean,
            "--allow-piece-length-change --always-resume --remove-control-file --force-save --save-not-found --reuse-uri "
                + "--enable-http-keep-alive --enable-http-pipelining --async-dns --enable-async-dns6 --use-head --enable-mmap "
                + "--human-readable --truncate-console-readout --enable-color --stderr --deferred-input "
                + "--content-disposition-default-utf8 --keep-unfinished-download-result --realtime-chunk-checksum "
                + "--ftp-reuse-connection -V --check-integrity -p --ftp-pasv")
        + ignored("dlm keeps its own list of downloads", .required, "--save-session")
        + ignored("dlm writes no log file; see dlm events", .required, "-l --log")
        + ignored(
            "a slow connection is not cut; see --stall-timeout of dlm get", .required, "--lowest-speed-limit")
        + ignored(
            "dlm uses the settings of the operating system", .required,
            "--dscp --async-dns-server --multiple-interface")
        + ignored(
            "dlm itself chooses the usable entries of a Metalink document", .required,
            "--metalink-version --metalink-language --metalink-os --metalink-preferred-protocol --metalink-base-uri")
        + ignored(
            "dlm itself chooses the usable entries of a Metalink document", .boolean,
            "--metalink-enable-unique-protocol")
        + ignored(
            "dlm has no BitTorrent", .required,
            "-u --max-upload-limit --max-overall-upload-limit --listen-port --follow-torrent --seed-time --seed-ratio "
                + "--peer-id-prefix --peer-agent --dht-listen-port --dht-entry-point --dht-file-path --dht-listen-addr6 "
                + "--dht-entry-point6 --dht-file-path6 --bt-min-crypto-level --bt-request-peer-speed-limit "
                + "--bt-max-open-files --bt-max-peers --bt-external-ip --bt-tracker-interval --bt-stop-timeout "
                + "--bt-prioritize-piece --bt-lpd-interface --bt-tracker-timeout --bt-tracker-connect-timeout "
                + "--dht-message-timeout --on-bt-download-complete --bt-tracker --bt-exclude-tracker")
        + ignored(
            "dlm has no BitTorrent", .boolean,
            "--enable-peer-exchange --enable-dht --enable-dht6 --bt-require-crypto --bt-seed-unverified "
                + "--bt-hash-check-seed --bt-save-metadata --bt-metadata-only --bt-enable-lpd --bt-remove-unselected-file "
                + "--bt-detach-seed-only --bt-force-encryption --bt-enable-hook-after-hash-check --bt-load-saved-metadata "
                + "--pause-metadata")
        + refused("dlm has no BitTorrent", .required, "-T --torrent-file -O --index-out --select-file")
        + refused(
            "only dlm daemon start --rpc serves the RPC of aria2", .boolean,
            "--enable-rpc --rpc-listen-all --rpc-allow-origin-all --rpc-secure --rpc-save-upload-metadata")
        + refused(
            "only dlm daemon start --rpc serves the RPC of aria2", .required,
            "--rpc-listen-port --rpc-user --rpc-passwd --rpc-max-request-size --rpc-certificate --rpc-private-key")
        + [
            Self(
                "--rpc-secret", .required, .refused("only dlm daemon start --rpc serves the RPC of aria2"),
                isSecret: true)
        ]
        + refused("dlm reads no configuration of aria2", .required, "--conf-path")
        + refused(
            "dlm starts a hook program with other arguments than aria2 does; see --on-complete of dlm get", .required,
            "--on-download-start --on-download-pause --on-download-stop --on-download-complete --on-download-error")
        + refused(
            "dlm has no mode without downloading", .boolean,
            "--dry-run -S --show-files --hash-check-only")
        + refused("dlm ends when its downloads end, and not with another process", .required, "--stop-with-process")
        + refused(
            "dlm checks the keys of SSH servers only against the known_hosts file of OpenSSH", .required,
            "--ssh-host-key-md")

    static func needless(_ why: String, _ value: Value, _ names: String) -> [DropInOption] {
        each(names, value, .needless(why))
    }

    static func ignored(_ why: String, _ value: Value, _ names: String) -> [DropInOption] {
        each(names, value, .ignored(why))
    }

    static func refused(_ why: String, _ value: Value, _ names: String) -> [DropInOption] {
        each(names, value, .refused(why))
    }

    /// Returns an option for each long name. A short name, such as `-V`, belongs to the long name after it.
    private static func each(_ names: String, _ value: Value, _ effect: Effect) -> [DropInOption] {
        var letter = ""
        return names.split(separator: " ").compactMap { name in
            if !name.hasPrefix("--") {
                letter = "\(name) "
                return nil
            }
            defer { letter = "" }
            return Self(letter + name, value, effect)
        }
    }
}
