extension DropInOption {
    /// Options of GNU Wget 1.21 (`wget --help`).
    static let wget = wgetDownloads + wgetRequests + wgetOthers

    private static let wgetDownloads = [
        Self("-O --output-document", .required, .part(.output)),
        Self("-P --directory-prefix", .required, .part(.folder)),
        Self("-i --input-file", .required, .part(.list)),
        Self("--input-metalink", .required, .option("metalink-file")),
        Self("-c --continue", .none, .part(.continues)),
        Self("-nc --no-clobber", .none, .part(.skipsExisting)),
        Self("-N --timestamping", .none, .part(.newerOnly)),
        Self("--no-use-server-timestamps", .none, .part(.noTimestamps)),
        Self("-t --tries", .required, .option("retries", .attempts)),
        Self("--waitretry", .required, .option("retry-delay")),
        Self("--retry-on-http-error", .required, .option("retry-on")),
        Self("-T --timeout", .required, .option("stall-timeout", .time)),
        Self("--read-timeout", .required, .option("stall-timeout", .time)),
        Self("--connect-timeout", .required, .option("connect-timeout", .time)),
        Self("-w --wait", .required, .option("wait")),
        Self("--limit-rate", .required, .option("limit-rate")),
        Self("--content-disposition", .none, .words(["--content-disposition"])),
        Self("--trust-server-names", .none, .words(["--content-disposition"])),
        Self("-b --background", .none, .words(["--background"])),
        Self("-q --quiet", .none, .part(.quiet)),
        Self("-nv --no-verbose", .none, .words(["--progress", "none"])),
        Self("-d --debug", .none, .words(["-v", "-v"])),
        Self("-S --server-response", .none, .words(["-v"])),
        Self("-V --version", .none, .part(.version)),
        Self("-h --help", .none, .part(.help)),
    ]

    private static let wgetRequests = [
        Self("--header", .required, .option("header", .field), isSecret: true),
        Self("-U --user-agent", .required, .option("user-agent")),
        Self("--referer", .required, .option("referer")),
        Self("--user", .required, .part(.userName)),
        Self("--password", .required, .part(.password), isSecret: true),
        Self("--http-user", .required, .part(.userName)),
        Self("--http-password --http-passwd", .required, .part(.password), isSecret: true),
        Self("--ftp-user", .required, .part(.userName)),
        Self("--ftp-password", .required, .part(.password), isSecret: true),
        Self("--no-netrc", .none, .part(.noNetrc)),
        Self("--load-cookies", .required, .option("cookie-file")),
        Self("--save-cookies", .required, .option("cookie-jar")),
        Self("--method", .required, .option("method")),
        Self("--post-data", .required, .option("data", .plainData), isSecret: true),
        Self("--body-data", .required, .option("data", .plainData), isSecret: true),
        Self("--max-redirect", .required, .option("max-redirects")),
        Self("--no-check-certificate", .none, .words(["--insecure"])),
        Self("--ca-certificate", .required, .option("ca-certificate")),
        Self("--crl-file", .required, .option("crl-file")),
        Self("--certificate", .required, .option("certificate")),
        Self("--private-key", .required, .option("private-key")),
        Self("--pinnedpubkey", .required, .option("pinned-public-key")),
        Self("--secure-protocol", .required, .option("tls-min", .tls)),
        Self("--https-only", .none, .words(["--proto", "=https"])),
        Self("--no-hsts", .none, .words(["--no-hsts"])),
        Self("-4 --inet4-only", .none, .words(["--ipv4"])),
        Self("-6 --inet6-only", .none, .words(["--ipv6"])),
        Self("--bind-address", .required, .option("interface")),
        Self("--no-proxy", .none, .words(["--no-proxy", "*"])),
        Self("--proxy-user", .required, .part(.proxyUser)),
        Self("--proxy-password --proxy-passwd", .required, .part(.proxyPassword), isSecret: true),
        Self("-e --execute", .required, .part(.setting), isSecret: true),
        Self(
            "--no-cache", .none,
            .words(["--header", "Cache-Control: no-cache", "--header", "Pragma: no-cache"])),
    ]

    private static let wgetOthers =
        needless(
            "under the name wget, dlm creates no folders for hosts and paths", .none,
            "-nd --no-directories -nH --no-host-directories")
        + needless(
            "the option does not change the file", .none,
            "-v --verbose --show-progress --no-http-keep-alive --passive-ftp --no-passive-ftp --no-config --keep-session-cookies "
                + "--auth-no-challenge --retry-connrefused --retry-on-host-error --no-dns-cache --unlink "
                + "--no-if-modified-since --no-iri --ignore-case")
        + needless(
            "the option does not change the file", .required,
            "--progress --compression --prefer-family --local-encoding --remote-encoding --cut-dirs --dns-timeout "
                + "--report-speed --hsts-file")
        + needless("dlm makes names safe by its own rules", .required, "--restrict-file-names")
        + ignored("dlm keeps cookies in memory until the command ends", .none, "--no-cookies")
        + ignored("dlm always waits the same time between downloads", .none, "--random-wait")
        + ignored("dlm writes messages to standard error", .required, "-o --output-file -a --append-output")
        + refused(
            "dlm downloads files, not sites", .none,
            "-r --recursive -m --mirror -p --page-requisites -k --convert-links -K --backup-converted -np --no-parent "
                + "-H --span-hosts -L --relative -E --adjust-extension -F --force-html -x --force-directories "
                + "--protocol-directories --delete-after --follow-ftp --spider")
        + refused(
            "dlm downloads files, not sites", .required,
            "-l --level -A --accept -R --reject --accept-regex --reject-regex --regex-type -D --domains "
                + "--exclude-domains --follow-tags --ignore-tags -I --include-directories -X --exclude-directories "
                + "-B --base --default-page")
        + refused("dlm cannot send a file with its line breaks as the body", .required, "--post-file --body-file")
        + refused(
            "dlm does not support this option, and the file would be different without it", .none,
            "--save-headers --ignore-length --content-on-error --warc-cdx --xattr")
        + refused(
            "dlm does not support this option, and the file would be different without it", .required,
            "--warc-file --start-pos -Q --quota --backups")
        + refused("dlm reads no configuration of wget", .required, "--config")
        + refused("give --user and --password", .none, "--ask-password")
        + refused(
            "dlm does not support this option", .required,
            "--ca-directory --certificate-type --private-key-type --ciphers")
}
