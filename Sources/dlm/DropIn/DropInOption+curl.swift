extension DropInOption {
    /// Options of curl 8 (`curl --help all`).
    static let curl = curlDownloads + curlRequests + curlOthers

    private static let curlDownloads = [
        Self("-o --output", .required, .part(.output)),
        Self("-O --remote-name", .none, .part(.remoteName)),
        Self("--remote-name-all", .none, .part(.allRemoteNames)),
        Self("-J --remote-header-name", .none, .words(["--content-disposition"])),
        Self("--output-dir", .required, .part(.folder)),
        Self("--url", .required, .part(.url)),
        Self("-C --continue-at", .required, .part(.continues)),
        Self("--skip-existing", .none, .part(.skipsExisting)),
        Self("--no-clobber", .none, .part(.renames)),
        Self("-R --remote-time", .none, .part(.timestamps)),
        Self("-g --globoff", .none, .part(.globs)),
        Self("-L --location", .none, .part(.locatesRedirects)),
        Self("--retry", .required, .option("retries")),
        Self("--retry-delay", .required, .option("retry-delay", .time)),
        Self("--retry-all-errors", .none, .words(["--retry-on", "400-599"])),
        Self("--connect-timeout", .required, .option("connect-timeout", .time)),
        Self("-m --max-time", .required, .option("max-time", .time)),
        Self("-y --speed-time", .required, .option("stall-timeout", .time)),
        Self("--limit-rate", .required, .option("limit-rate")),
        Self("--max-filesize", .required, .option("max-size")),
        Self("--parallel-max", .required, .option("max-concurrent")),
        Self("-s --silent", .none, .part(.quiet)),
        Self("-# --progress-bar", .none, .words(["--progress", "bar"])),
        Self("--no-progress-meter", .none, .words(["--progress", "none"])),
        Self("-v --verbose", .none, .words(["-v"])),
        Self("-V --version", .none, .part(.version)),
        Self("-h --help", .none, .part(.help)),
    ]

    private static let curlRequests = [
        Self("-H --header", .required, .option("header", .field), isSecret: true),
        Self("-A --user-agent", .required, .option("user-agent")),
        Self("-e --referer", .required, .option("referer")),
        Self("-u --user", .required, .option("user"), isSecret: true),
        Self("-n --netrc", .none, .words(["--netrc"])),
        Self("--netrc-optional", .none, .words(["--netrc"])),
        Self("--netrc-file", .required, .option("netrc-file")),
        Self("--basic", .none, .words(["--basic"])),
        Self("--digest", .none, .words(["--digest"])),
        Self("--ntlm", .none, .words(["--ntlm"])),
        Self("--negotiate", .none, .words(["--negotiate"])),
        Self("--anyauth", .none, .words(["--anyauth"])),
        Self("--aws-sigv4", .required, .option("aws-sigv4")),
        Self("--oauth2-bearer", .required, .option("header", .bearer), isSecret: true),
        Self("-b --cookie", .required, .part(.cookies), isSecret: true),
        Self("-c --cookie-jar", .required, .option("cookie-jar")),
        Self("-X --request", .required, .option("method")),
        Self("-d --data --data-ascii", .required, .option("data"), isSecret: true),
        Self("--data-raw --data-binary", .required, .option("data", .plainData), isSecret: true),
        Self("--data-urlencode", .required, .option("data-urlencode"), isSecret: true),
        Self("--url-query", .required, .option("query"), isSecret: true),
        Self("--max-redirs", .required, .option("max-redirects", .redirects)),
        Self("-k --insecure", .none, .words(["--insecure"])),
        Self("--cacert", .required, .option("ca-certificate")),
        Self("--crlfile", .required, .option("crl-file")),
        Self("-E --cert", .required, .option("certificate")),
        Self("--key", .required, .option("private-key")),
        Self("--pinnedpubkey", .required, .option("pinned-public-key")),
        Self("-1 --tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2", .none, .words(["--tls-min", "1.2"])),
        Self("--tlsv1.3", .none, .words(["--tls-min", "1.3"])),
        Self("--ssl", .none, .words(["--ssl"])),
        Self("--ssl-reqd", .none, .words(["--ssl-reqd"])),
        Self("--proto", .required, .option("proto")),
        Self("-x --proxy", .required, .part(.proxy), isSecret: true),
        Self("-U --proxy-user", .required, .part(.proxyUser), isSecret: true),
        Self("--noproxy", .required, .option("no-proxy")),
        Self("--interface", .required, .option("interface")),
        Self("-4 --ipv4", .none, .words(["--ipv4"])),
        Self("-6 --ipv6", .none, .words(["--ipv6"])),
        Self("-0 --http1.0 --http1.1", .none, .words(["--http1.1"])),
        Self("--http2", .none, .words(["--http2"])),
        Self("--http3", .none, .words(["--http3"])),
        Self("--resolve", .required, .option("resolve")),
        Self("--doh-url", .required, .option("doh-url")),
    ]

    private static let curlOthers =
        needless("an error status is always an error", .none, "-f --fail")
        + needless("errors are always shown", .none, "-S --show-error")
        + needless("folders are always created", .none, "--create-dirs")
        + needless("dlm reads no .curlrc", .none, "-q --disable")
        + needless(
            "the option does not change the file", .none,
            "--compressed --retry-connrefused -Z --parallel --parallel-immediate --fail-early -N --no-buffer --disable-epsv "
                + "--disable-eprt --ftp-pasv --tcp-nodelay --tcp-fastopen --no-keepalive --no-sessionid --path-as-is "
                + "--styled-output --no-alpn --no-npn --remove-on-error --xattr --junk-session-cookies")
        + needless("the option does not change the file", .required, "--keepalive-time --expect100-timeout --stderr")
        + needless("dlm never sends names and passwords to another origin", .none, "--location-trusted")
        + ignored("dlm cuts a connection without any data, but not a slow connection", .required, "-Y --speed-limit")
        + ignored("dlm limits the number of retries, but not their time", .required, "--retry-max-time")
        + refused("dlm downloads only the body", .none, "-I --head -i --include --show-headers")
        + refused(
            "dlm downloads only the body", .required,
            "-D --dump-header -w --write-out --trace --trace-ascii")
        + refused(
            "dlm does not support this option, and the file would be different without it", .required,
            "-r --range -z --time-cond --etag-compare --etag-save")
        + refused(
            "dlm does not support this option, and the file would be different without it", .none,
            "--fail-with-body --raw -B --use-ascii -l --list-only")
        + refused(
            "dlm sends data only in the way of --data and --data-urlencode", .required,
            "-T --upload-file -F --form --form-string --json")
        + refused("dlm sends data only in the way of --data and --data-urlencode", .none, "-a --append -G --get")
        + refused("dlm reads no configuration of curl", .required, "-K --config")
        + refused("dlm uses the same options for all URLs of a command", .none, "--next")
        + refused(
            "dlm uses HTTP/2 and HTTP/3 only if the server supports them", .none,
            "--http3-only --http2-prior-knowledge")
        + refused(
            "give the proxy with its scheme, such as --proxy socks5://HOST", .required,
            "--socks4 --socks4a --socks5 --socks5-hostname --preproxy")
        + refused(
            "dlm does not support this option", .required,
            "--ciphers --curves --capath --connect-to --unix-socket --proto-redir --proto-default --tls-max --local-port "
                + "--dns-servers --pass --cert-type --key-type -Q --quote")
}
