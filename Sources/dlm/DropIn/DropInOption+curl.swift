extension DropInOption {
    /// Options of curl 8 (`curl --help all`).
    static let curl = curlDownloads + curlRequests + curlCommon + curlOthers

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
        Self("--retry-all-errors", .none, .words(["--retry-on", "400-599"])),
        Self("-y --speed-time", .required, .option("stall-timeout", .time)),
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
        Self("--netrc-optional", .none, .words(["--netrc"])),
        Self("--oauth2-bearer", .required, .option("header", .bearer), isSecret: true),
        Self("-b --cookie", .required, .part(.cookies), isSecret: true),
        Self("-X --request", .required, .option("method")),
        Self("-d --data --data-ascii", .required, .option("data"), isSecret: true),
        Self("--data-raw --data-binary", .required, .option("data", .plainData), isSecret: true),
        Self("--url-query", .required, .option("query"), isSecret: true),
        Self("--max-redirs", .required, .option("max-redirects", .redirects)),
        Self("--cacert", .required, .option("ca-certificate")),
        Self("--crlfile", .required, .option("crl-file")),
        Self("-E --cert", .required, .option("certificate")),
        Self("--key", .required, .option("private-key")),
        Self("--pinnedpubkey", .required, .option("pinned-public-key")),
        Self("-1 --tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2", .none, .words(["--tls-min", "1.2"])),
        Self("--tlsv1.3", .none, .words(["--tls-min", "1.3"])),
        Self("-x --proxy", .required, .part(.proxy), isSecret: true),
        Self("-U --proxy-user", .required, .part(.proxyUser), isSecret: true),
        Self("--noproxy", .required, .option("no-proxy")),
        Self("-0 --http1.0 --http1.1", .none, .words(["--http1.1"])),
    ]

    private static let curlCommon =
        same(
            "-n --netrc --basic --digest --ntlm --negotiate --anyauth -k --insecure --ssl --ssl-reqd -4 --ipv4 "
                + "-6 --ipv6 --http2 --http3 --limit-rate= -A --user-agent= -e --referer= --netrc-file= --aws-sigv4= "
                + "-c --cookie-jar= --proto= --interface= --resolve= --doh-url=")
        + same(as: .time, "--retry-delay= --connect-timeout= -m --max-time=")
        + same(isSecret: true, "-u --user= --data-urlencode=")

    private static let curlOthers =
        each(.needless("an error status is always an error"), "-f --fail")
        + each(.needless("errors are always shown"), "-S --show-error")
        + each(.needless("folders are always created"), "--create-dirs")
        + each(.needless("dlm reads no .curlrc"), "-q --disable")
        + each(
            .needless("the option does not change the file"),
            "--compressed --retry-connrefused -Z --parallel --parallel-immediate --fail-early -N --no-buffer "
                + "--disable-epsv --disable-eprt --ftp-pasv --tcp-nodelay --tcp-fastopen --no-keepalive "
                + "--no-sessionid --path-as-is --styled-output --no-alpn --no-npn --remove-on-error --xattr "
                + "--junk-session-cookies --keepalive-time= --expect100-timeout= --stderr=")
        + each(.needless("dlm never sends names and passwords to another origin"), "--location-trusted")
        + each(.ignored("dlm cuts a connection without any data, but not a slow connection"), "-Y --speed-limit=")
        + each(.ignored("dlm limits the number of retries, but not their time"), "--retry-max-time=")
        + each(
            .refused("dlm downloads only the body"),
            "-I --head -i --include --show-headers -D --dump-header= -w --write-out= --trace= --trace-ascii=")
        + each(
            .refused("dlm does not support this option, and the file would be different without it"),
            "-r --range= -z --time-cond= --etag-compare= --etag-save= --fail-with-body --raw -B --use-ascii "
                + "-l --list-only")
        + each(
            .refused("dlm sends data only in the way of --data and --data-urlencode"),
            "-T --upload-file= -F --form= --form-string= --json= -a --append -G --get")
        + each(.refused("dlm reads no configuration of curl"), "-K --config=")
        + each(.refused("dlm uses the same options for all URLs of a command"), "--next")
        + each(
            .refused("dlm uses HTTP/2 and HTTP/3 only if the server supports them"),
            "--http3-only --http2-prior-knowledge")
        + each(
            .refused("give the proxy with its scheme, such as --proxy socks5://HOST"),
            "--socks4= --socks4a= --socks5= --socks5-hostname= --preproxy=")
        + each(
            .refused("dlm does not support this option"),
            "--ciphers= --curves= --capath= --connect-to= --unix-socket= --proto-redir= --proto-default= --tls-max= "
                + "--local-port= --dns-servers= --pass= --cert-type= --key-type= -Q --quote=")
}
