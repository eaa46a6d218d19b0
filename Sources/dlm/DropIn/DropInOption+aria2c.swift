extension DropInOption {
    /// Options of aria2 1.37 (`aria2c --help=#all`).
    static let aria2c = aria2cDownloads + aria2cRequests + aria2cCommon + aria2cOthers

    private static let aria2cDownloads = [
        Self("-o --out", .required, .part(.output)),
        Self("-d --dir", .required, .part(.folder)),
        Self("-i --input-file", .required, .part(.list)),
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
        Self("--stop", .required, .option("max-time", .time)),
        Self(
            "--follow-metalink", .required,
            .needless("dlm reads a Metalink document that describes one file, without saving the document")),
        Self("--pause", .boolean, .either(on: ["--paused"], off: [])),
        Self("-D --daemon", .boolean, .either(on: ["--background"], off: [])),
        Self("-q --quiet", .boolean, .part(.quiet)),
        Self("--show-console-readout", .boolean, .either(on: [], off: ["--progress", "none"])),
        Self("-v --version", .none, .part(.version)),
        Self("-h --help", .none, .part(.help)),
    ]

    private static let aria2cRequests = [
        Self("--header", .required, .option("header", .field), isSecret: true),
        Self("-n --no-netrc", .boolean, .part(.noNetrc)),
        Self("--netrc-path", .required, .option("netrc-file")),
        Self("--load-cookies", .required, .option("cookie-file")),
        Self("--save-cookies", .required, .option("cookie-jar")),
        Self("--check-certificate", .boolean, .either(on: [], off: ["--insecure"])),
        Self("--min-tls-version", .required, .option("tls-min", .tls)),
        Self("--all-proxy-user --http-proxy-user --https-proxy-user --ftp-proxy-user", .required, .part(.proxyUser)),
        Self(
            "--all-proxy-passwd --http-proxy-passwd --https-proxy-passwd --ftp-proxy-passwd", .required,
            .part(.proxyPassword), isSecret: true),
        Self("--disable-ipv6", .boolean, .either(on: ["--ipv4"], off: [])),
        Self(
            "--http-no-cache", .boolean,
            .either(on: ["--header", "Cache-Control: no-cache", "--header", "Pragma: no-cache"], off: [])),
        Self("--http-accept-gzip", .boolean, .needless("dlm asks for the file without compression")),
        Self("--http-auth-challenge", .boolean, .needless("dlm sends a name and password with the first request")),
    ]

    private static let aria2cCommon =
        same(
            "-M --metalink-file= --metalink-location= -U --user-agent= --referer= --ca-certificate= --certificate= "
                + "--private-key= --no-proxy= --interface=")
        + same(as: .time, "--connect-timeout=")
        + each(.option("limit-rate"), "--max-download-limit= --max-overall-download-limit=")
        + each(.part(.userName), "--http-user= --ftp-user=")
        + each(.part(.password), isSecret: true, "--http-passwd= --ftp-passwd=")
        + each(.part(.proxy), isSecret: true, "--all-proxy= --http-proxy= --https-proxy= --ftp-proxy=")

    private static let aria2cOthers =
        each(.needless("dlm reads no configuration of aria2"), "--no-conf?")
        + each(
            .needless("the option does not change the file"),
            "--file-allocation= --no-file-allocation-limit= --auto-save-interval= --summary-interval= "
                + "--console-log-level= --log-level= --download-result= --disk-cache= --event-poll= --uri-selector= "
                + "--stream-piece-selector= --max-file-not-found= --max-resume-failure-tries= --piece-length= "
                + "--rlimit-nofile= --server-stat-if= --server-stat-of= --server-stat-timeout= "
                + "--socket-recv-buffer-size= --max-mmap-limit= --max-download-result= --save-session-interval= "
                + "--optimize-concurrent-downloads= --proxy-method= --ftp-type= --gid= --allow-piece-length-change? "
                + "--always-resume? --remove-control-file? --force-save? --save-not-found? --reuse-uri? "
                + "--enable-http-keep-alive? --enable-http-pipelining? --async-dns? --enable-async-dns6? --use-head? "
                + "--enable-mmap? --human-readable? --truncate-console-readout? --enable-color? --stderr? "
                + "--deferred-input? --content-disposition-default-utf8? --keep-unfinished-download-result? "
                + "--realtime-chunk-checksum? --ftp-reuse-connection? -V --check-integrity? -p --ftp-pasv?")
        + each(.ignored("dlm keeps its own list of downloads"), "--save-session=")
        + each(.ignored("dlm writes no log file; see dlm events"), "-l --log=")
        + each(.ignored("a slow connection is not cut; see --stall-timeout of dlm get"), "--lowest-speed-limit=")
        + each(
            .ignored("dlm uses the settings of the operating system"),
            "--dscp= --async-dns-server= --multiple-interface=")
        + each(
            .ignored("dlm itself chooses the usable entries of a Metalink document"),
            "--metalink-version= --metalink-language= --metalink-os= --metalink-preferred-protocol= "
                + "--metalink-base-uri= --metalink-enable-unique-protocol?")
        + each(
            .ignored("dlm has no BitTorrent"),
            "-u --max-upload-limit= --max-overall-upload-limit= --listen-port= --follow-torrent= --seed-time= "
                + "--seed-ratio= --peer-id-prefix= --peer-agent= --dht-listen-port= --dht-entry-point= "
                + "--dht-file-path= --dht-listen-addr6= --dht-entry-point6= --dht-file-path6= --bt-min-crypto-level= "
                + "--bt-request-peer-speed-limit= --bt-max-open-files= --bt-max-peers= --bt-external-ip= "
                + "--bt-tracker-interval= --bt-stop-timeout= --bt-prioritize-piece= --bt-lpd-interface= "
                + "--bt-tracker-timeout= --bt-tracker-connect-timeout= --dht-message-timeout= "
                + "--on-bt-download-complete= --bt-tracker= --bt-exclude-tracker= --enable-peer-exchange? "
                + "--enable-dht? --enable-dht6? --bt-require-crypto? --bt-seed-unverified? --bt-hash-check-seed? "
                + "--bt-save-metadata? --bt-metadata-only? --bt-enable-lpd? --bt-remove-unselected-file? "
                + "--bt-detach-seed-only? --bt-force-encryption? --bt-enable-hook-after-hash-check? "
                + "--bt-load-saved-metadata? --pause-metadata?")
        + each(.refused("dlm has no BitTorrent"), "-T --torrent-file= -O --index-out= --select-file=")
        + each(
            .refused("only dlm daemon start --rpc serves the RPC of aria2"),
            "--enable-rpc? --rpc-listen-all? --rpc-allow-origin-all? --rpc-secure? --rpc-save-upload-metadata? "
                + "--rpc-listen-port= --rpc-user= --rpc-passwd= --rpc-max-request-size= --rpc-certificate= "
                + "--rpc-private-key=")
        + each(.refused("only dlm daemon start --rpc serves the RPC of aria2"), isSecret: true, "--rpc-secret=")
        + each(.refused("dlm reads no configuration of aria2"), "--conf-path=")
        + each(
            .refused("dlm starts a hook program with other arguments than aria2 does; see --on-complete of dlm get"),
            "--on-download-start= --on-download-pause= --on-download-stop= --on-download-complete= "
                + "--on-download-error=")
        + each(.refused("dlm has no mode without downloading"), "--dry-run? -S --show-files? --hash-check-only?")
        + each(.refused("dlm ends when its downloads end, and not with another process"), "--stop-with-process=")
        + each(
            .refused("dlm checks the keys of SSH servers only against the known_hosts file of OpenSSH"),
            "--ssh-host-key-md=")
}
