extension DropInOption {
    /// Options of GNU Wget 1.21 (`wget --help`).
    static let wget = wgetDownloads + wgetRequests + wgetCommon + wgetOthers

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
        Self("--trust-server-names", .none, .words(["--content-disposition"])),
        Self("-q --quiet", .none, .part(.quiet)),
        Self("-nv --no-verbose", .none, .words(["--progress", "none"])),
        Self("-d --debug", .none, .words(["-v", "-v"])),
        Self("-S --server-response", .none, .words(["-v"])),
        Self("-V --version", .none, .part(.version)),
        Self("-h --help", .none, .part(.help)),
    ]

    private static let wgetRequests = [
        Self("--header", .required, .option("header", .field), isSecret: true),
        Self("--no-netrc", .none, .part(.noNetrc)),
        Self("--load-cookies", .required, .option("cookie-file")),
        Self("--save-cookies", .required, .option("cookie-jar")),
        Self("--max-redirect", .required, .option("max-redirects")),
        Self("--no-check-certificate", .none, .words(["--insecure"])),
        Self("--pinnedpubkey", .required, .option("pinned-public-key")),
        Self("--secure-protocol", .required, .option("tls-min", .tls)),
        Self("--https-only", .none, .words(["--proto", "=https"])),
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

    private static let wgetCommon =
        same(
            "--content-disposition -b --background --no-hsts -w --wait= --limit-rate= -U --user-agent= --referer= "
                + "--method= --ca-certificate= --crl-file= --certificate= --private-key=")
        + same(as: .time, "--connect-timeout=")
        + each(.option("stall-timeout", .time), "-T --timeout= --read-timeout=")
        + each(.option("data", .plainData), isSecret: true, "--post-data= --body-data=")
        + each(.part(.userName), "--user= --http-user= --ftp-user=")
        + each(.part(.password), isSecret: true, "--password= --http-password= --http-passwd= --ftp-password=")

    private static let wgetOthers =
        each(
            .needless("under the name wget, dlm creates no folders for hosts and paths"),
            "-nd --no-directories -nH --no-host-directories")
        + each(
            .needless("the option does not change the file"),
            "-v --verbose --show-progress --no-http-keep-alive --passive-ftp --no-passive-ftp --no-config "
                + "--keep-session-cookies --auth-no-challenge --retry-connrefused --retry-on-host-error "
                + "--no-dns-cache --unlink --no-if-modified-since --no-iri --ignore-case --progress= --compression= "
                + "--prefer-family= --local-encoding= --remote-encoding= --cut-dirs= --dns-timeout= --report-speed= "
                + "--hsts-file=")
        + each(.needless("dlm makes names safe by its own rules"), "--restrict-file-names=")
        + each(.ignored("dlm keeps cookies in memory until the command ends"), "--no-cookies")
        + each(.ignored("dlm always waits the same time between downloads"), "--random-wait")
        + each(.ignored("dlm writes messages to standard error"), "-o --output-file= -a --append-output=")
        + each(
            .refused("dlm downloads files, not sites"),
            "-r --recursive -m --mirror -p --page-requisites -k --convert-links -K --backup-converted "
                + "-np --no-parent -H --span-hosts -L --relative -E --adjust-extension -F --force-html "
                + "-x --force-directories --protocol-directories --delete-after --follow-ftp --spider -l --level= "
                + "-A --accept= -R --reject= --accept-regex= --reject-regex= --regex-type= -D --domains= "
                + "--exclude-domains= --follow-tags= --ignore-tags= -I --include-directories= "
                + "-X --exclude-directories= -B --base= --default-page=")
        + each(.refused("dlm cannot send a file with its line breaks as the body"), "--post-file= --body-file=")
        + each(
            .refused("dlm does not support this option, and the file would be different without it"),
            "--save-headers --ignore-length --content-on-error --warc-cdx --xattr --warc-file= --start-pos= "
                + "-Q --quota= --backups=")
        + each(.refused("dlm reads no configuration of wget"), "--config=")
        + each(.refused("give --user and --password"), "--ask-password")
        + each(
            .refused("dlm does not support this option"),
            "--ca-directory= --certificate-type= --private-key-type= --ciphers=")
}
