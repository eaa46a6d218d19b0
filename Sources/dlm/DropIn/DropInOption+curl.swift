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
        Self("--resolve", .required, .option("resolve")),
        Self("--doh-url", .required, .option("doh-url")),
    ]

    private static let curlOthers =
        needless("an error status is an error without it", .none, "-f --fail")
        + needless("errors are shown without it", .none, "-S --show-error")
        + needless("folders are created without it", .none, "--create-dirs")
        + needless("dlm reads no .curlrc", .none, "-q --disable")
        + needless(
            "the file is the same without it", .none,
            "--compressed --retry-connrefused -Z --parallel --parallel-immediate --fail-early -N --no-buffer --disable-epsv "
                + "--disable-eprt --ftp-pasv --tcp-nodelay --tcp-fastopen --no-keepalive --no-sessionid --path-as-is "
                + "--styled-output --no-alpn --no-npn --remove-on-error --xattr --junk-session-cookies")
        + needless("the file is the same without it", .required, "--keepalive-time --expect100-timeout --stderr")
        + needless("dlm keeps names and passwords within their origin", .none, "--location-trusted")
        + ignored("a connection that brings nothing is cut; a slow one is not", .required, "-Y --speed-limit")
        + ignored("repetitions end by their number", .required, "--retry-max-time")
        + refused("dlm downloads the body, and nothing else", .none, "-I --head -i --include --show-headers")
        + refused(
            "dlm downloads the body, and nothing else", .required,
            "-D --dump-header -w --write-out --trace --trace-ascii")
        + refused("dlm would write another file", .required, "-r --range -z --time-cond --etag-compare --etag-save")
        + refused("dlm would write another file", .none, "--fail-with-body --raw -B --use-ascii -l --list-only")
        + refused("dlm does not send files", .required, "-T --upload-file -F --form --form-string --json")
        + refused("dlm does not send files", .none, "-a --append -G --get")
        + refused("dlm reads no configuration of curl", .required, "-K --config")
        + refused("the requests of one command are alike", .none, "--next")
        + refused(
            "dlm speaks no HTTP/3, and HTTP/2 only as servers choose it", .none,
            "--http3 --http3-only --http2-prior-knowledge")
        + refused(
            "give it as --proxy with its scheme", .required,
            "--socks4 --socks4a --socks5 --socks5-hostname --preproxy")
        + refused(
            "dlm does not know it", .required,
            "--ciphers --curves --capath --connect-to --unix-socket --proto-redir --proto-default --tls-max --local-port "
                + "--dns-servers --pass --cert-type --key-type -Q --quote")
}
