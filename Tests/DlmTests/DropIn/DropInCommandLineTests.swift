import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Command lines of other programs")
struct DropInCommandLineTests {
    static func words(_ line: String) -> [String] {
        // A word in single quotes may contain spaces.
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index % 2 == 1 ? [String(part)] : part.split(separator: " ").map { String($0) }
        }
    }

    /// Returns the words of each `dlm get` command line that the line is translated to, without `dlm get` itself.
    private func lines(_ program: DropInProgram, _ line: String) throws -> [[String]] {
        try DropInCommandLine(Self.words(line), of: program).lines
    }

    /// Sources: yt-dlp, apt-fast, pacman's wiki, users of makepkg, notebooks.
    @Test(
        "aria2c, as other programs start it",
        arguments: [
            (
                "--no-conf --auto-save-interval=10 --console-log-level=warn --summary-interval=0 --download-result=hide "
                    + "--http-accept-gzip=true --file-allocation=none -x16 -j16 -s16 --min-split-size 1M "
                    + "--load-cookies=/c --header 'User-Agent: a' --check-certificate=true --show-console-readout=false "
                    + "--remove-control-file=false --allow-overwrite=true --always-resume=false --auto-file-renaming=false "
                    + "--force-save=false --out './v [v].mp4.part' -- http://h/v",
                "--max-concurrent 16 --cookie-file /c --header 'User-Agent: a' --progress none --connections 16 "
                    + "--no-remote-time --content-disposition --no-glob --netrc --if-exists overwrite --directory . "
                    + "--output './v [v].mp4.part' http://h/v"
            ),
            (
                "--no-conf -c -j 8 -x 8 -s 4 -i /l --min-split-size=1M --stream-piece-selector=default --connect-timeout=600 "
                    + "--timeout=600 -m0 --header 'Accept: */*'",
                "--max-concurrent 8 --connect-timeout 600 --stall-timeout 600 --retries 1000000 --header 'Accept: */*' "
                    + "--connections 4 --no-remote-time --content-disposition --no-glob --netrc --input-file /l --continue "
                    + "--directory ."
            ),
            (
                "--allow-overwrite=true --continue=true --file-allocation=none --log-level=error --max-tries=2 "
                    + "--max-connection-per-server=2 --max-file-not-found=5 --min-split-size=5M --no-conf --remote-time=true "
                    + "--summary-interval=60 --timeout=5 --dir=/ --out /var/cache/x.part http://h/x",
                "--retries 1 --stall-timeout 5 --connections 2 --remote-time --content-disposition --no-glob --netrc "
                    + "--continue --directory / --output var/cache/x.part http://h/x"
            ),
            (
                "-UWget -s10 -x10 http://h/x -o x --follow-metalink=mem",
                "--user-agent Wget --connections 10 --no-remote-time --content-disposition --no-glob --netrc "
                    + "--if-exists rename --directory . --output x http://h/x"
            ),
            (
                "--console-log-level=error -c -x 16 -s 16 -k 1M http://h/x -d /m -o n",
                "--connections 16 --no-remote-time --content-disposition --no-glob --netrc --continue --directory /m "
                    + "--output n http://h/x"
            ),
            (
                "--checksum=sha-256=AB --http-user=u --http-passwd=p --check-certificate=false -Vq http://a/x http://b/x",
                "--checksum sha256:AB --insecure --user u:p --no-remote-time --content-disposition --no-glob --quiet "
                    + "--if-exists rename --directory . --mirror http://b/x http://a/x"
            ),
        ])
    func aria2c(line: String, expected: String) throws { #expect(try lines(.aria2c, line) == [Self.words(expected)]) }

    /// Sources: yt-dlp, pacman.conf, portage's FETCHCOMMAND and RESUMECOMMAND, and what people type.
    @Test(
        "wget, as other programs start it",
        arguments: [
            (
                "-O /f -nv --compression=auto --load-cookies /c --header 'A: b' --limit-rate 5k --tries 3 --execute "
                    + "http_proxy=http://p --no-check-certificate -- http://h/x",
                "--progress none --cookie-file /c --header 'A: b' --limit-rate 5k --retries 2 --insecure --remote-time "
                    + "--no-content-disposition --no-glob --netrc --if-exists overwrite --output /f http://h/x"
            ),
            (
                "--passive-ftp -c -O x.part http://h/x",
                "--remote-time --no-content-disposition --no-glob --netrc --continue --directory . --output x.part http://h/x"
            ),
            (
                "-t 3 -T 60 --passive-ftp -O /d/f http://h/f",
                "--retries 2 --stall-timeout 60 --remote-time --no-content-disposition --no-glob --netrc "
                    + "--if-exists overwrite --output /d/f http://h/f"
            ),
            (
                "-qnc -P d http://h/a%20b?c",
                "--remote-time --no-content-disposition --no-glob --netrc --quiet --if-exists skip --directory d "
                    + "--output 'a b?c' http://h/a%20b?c"
            ),
            (
                "-qO- http://h/",
                "--remote-time --no-content-disposition --no-glob --netrc --quiet --output - http://h/"
            ),
            (
                "--no-check-cert --content-disposition -N http://h/x",
                "--insecure --content-disposition --remote-time --no-glob --netrc --if-exists newer --directory . http://h/x"
            ),
        ])
    func wget(line: String, expected: String) throws { #expect(try lines(.wget, line) == [Self.words(expected)]) }

    /// Sources: pacman.conf, makepkg.conf, Nix' fetchurl, Homebrew, and pipes into a shell.
    @Test(
        "curl, as other programs start it",
        arguments: [
            (
                "-L -C - -f -o /p/x.part http://h/x",
                "--no-remote-time --no-content-disposition --max-redirects 50 --continue --output /p/x.part http://h/x"
            ),
            (
                "-qgb '' -fLC - --retry 3 --retry-delay 3 -o x http://h/x",
                "--retries 3 --retry-delay 3 --no-remote-time --no-content-disposition --no-glob --max-redirects 50 "
                    + "--continue --directory . --output x http://h/x"
            ),
            (
                "--location --max-redirs 20 --retry 3 --disable-epsv --cookie-jar /c --user-agent a --insecure -C - --fail "
                    + "http://h/x --output f",
                "--max-redirects 20 --retries 3 --cookie-jar /c --user-agent a --insecure --no-remote-time "
                    + "--no-content-disposition --continue --directory . --output f http://h/x"
            ),
            (
                "--disable --cookie /dev/null --globoff --show-error --user-agent a --header 'Accept-Language: en' --fail "
                    + "--progress-bar --silent --retry 3 --location --remote-time --output f http://h/x",
                "--user-agent a --header 'Accept-Language: en' --progress bar --retries 3 --remote-time "
                    + "--no-content-disposition --no-glob --max-redirects 50 --quiet --if-exists overwrite --directory . "
                    + "--output f http://h/x"
            ),
            (
                "--proto =https --tlsv1.2 -sSf https://h",
                "--proto =https --tls-min 1.2 --no-remote-time --no-content-disposition --max-redirects 0 --quiet "
                    + "--output - https://h"
            ),
            (
                "-LOu a:b --oauth2-bearer t -x p:1 -U c:d/ http://h/x?y",
                "--user a:b --header 'Authorization: Bearer t' --proxy http://c:d%2F@p:1 --no-remote-time "
                    + "--no-content-disposition --max-redirects 50 --if-exists overwrite --directory . --output x "
                    + "http://h/x?y"
            ),
        ])
    func curl(line: String, expected: String) throws { #expect(try lines(.curl, line) == [Self.words(expected)]) }

    /// Returns the words of each `dlm get` that tell where its file goes: all words from the last `--directory` on, or
    /// the last three words if there is no `--directory`.
    private func places(_ program: DropInProgram, _ line: String) throws -> [[String]] {
        try lines(program, line).map { words in
            words.lastIndex(of: "--directory").map { Array(words[$0...]) } ?? Array(words.suffix(3))
        }
    }

    @Test(
        "Whatever a URL contains, its file is in the requested folder",
        arguments: [
            (.wget, "http://h/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "--directory . --output ..%2f..%2fetc%2fpasswd"),
            (.wget, "http://h/a?b=/../c", "--directory . --output a?b=%2F..%2Fc"),
            (.wget, "http://h/?x", "--directory . --output index.html?x"), (.wget, "http://h/..", "--directory ."),
            (.wget, "http://h/%2d", "--directory . --output ./-"),
            (.wget, "http://h/a%00%0ab", "--directory . --output a%00%0ab"),
            (.wget, "http://h/%ff%2f", "--directory . --output %ff%2f"),
            (.curl, "-O http://h/%2e%2e%2fx", "--directory . --output %2e%2e%2fx"),
            (.curl, "-O http://h/a%20b?c/d", "--directory . --output a%20b"),
            (.curl, "-O http://h/..", "--directory ."),
            (.curl, "-O http://h/-", "--directory . --output ./-"),
        ] as [(DropInProgram, String, String)])
    func traversal(program: DropInProgram, line: String, expected: String) throws {
        let url = try #require(Self.words(line).last)
        #expect(try places(program, line) == [Self.words(expected) + [url]])
    }

    @Test("A slash is found even if a combining mark follows and Swift counts both as one Character")
    func marks() throws {
        let line = try DropInCommandLine(["http://h/a/..\u{2F}\u{338}x"], of: .wget)
        #expect(line.lines.first?.contains("\u{338}x") == true)
    }

    @Test("A value that begins with a dash stays a value")
    func dashes() throws {
        #expect(try lines(.aria2c, "-o -x http://h/a").first?.contains("--output=-x") == true)
        for (program, line) in [
            (.aria2c, "-o -x http://h/a"), (.wget, "http://h/-x"), (.curl, "-H -a:b -A -z -o -y http://h/a"),
        ] as [(DropInProgram, String)] {
            for words in try lines(program, line) { #expect(throws: Never.self) { try DLM.command(["get"] + words) } }
        }
    }

    @Test("wget writes several URLs to standard output one after another, and -nHd means -nH -nd")
    func wgetOutput() throws {
        let two = try lines(.wget, "-qO- http://h/a http://h/b").map { $0.suffix(3) }
        #expect(two == [["--output", "-", "http://h/a"], ["--output", "-", "http://h/b"]])
        #expect(try lines(.wget, "-nHd http://h/a") == lines(.wget, "-nH -nd http://h/a"))
        #expect(try lines(.wget, "-nvc http://h/a") == lines(.wget, "-nv -nc http://h/a"))
    }

    @Test("Only downloads to /dev/null are discarded")
    func discarded() throws {
        #expect(try DropInCommandLine(Self.words("-o /dev/null http://h/1 http://h/2"), of: .curl).discarded == [0])
        #expect(try DropInCommandLine(Self.words("-O /dev/null http://h/1 http://h/2"), of: .wget).discarded == [0, 1])
        #expect(try DropInCommandLine(Self.words("-o x http://h/1"), of: .curl).discarded == [])
    }

    @Test("An empty proxy on the command line overrides the proxy of the environment")
    func noProxy() throws {
        #expect(try lines(.curl, "-x '' http://h/a").first?.starts(with: ["--no-proxy", "*"]) == true)
    }

    @Test("The output options of curl apply to its URLs in order")
    func places() throws {
        let names = try lines(.curl, "-L -o a http://h/1 -O http://h/2 http://h/3").map { $0.suffix(3) }
        #expect(
            names == [
                ["--output", "a", "http://h/1"], ["--output", "2", "http://h/2"], ["--output", "-", "http://h/3"],
            ])
    }

    @Test(
        "An option that dlm does not support is an error that names it, with the status of the program",
        arguments: [
            (.aria2c, "--nope http://h/x", "aria2c: --nope: dlm does not know this option", 28),
            (.aria2c, "-T x", "aria2c: -T: dlm has no BitTorrent", 28),
            (.aria2c, "--max-tries=x http://h/x", "aria2c: --max-tries: 'x' is not a number of attempts", 28),
            (.aria2c, "--continue=x http://h/x", "aria2c: --continue: give true or false", 28),
            (.aria2c, "-o", "aria2c: -o: a value is missing", 28), (.aria2c, "", "aria2c: no URL given", 28),
            (.wget, "-r http://h/", "wget: -r: dlm downloads files, not sites", 2),
            (.wget, "-np http://h/", "wget: -np: dlm downloads files, not sites", 2),
            (.wget, "-e timeout=3 http://h/", "wget: -e: dlm does not know the setting 'timeout'", 2),
            (
                .wget, "-O x http://h/a http://h/b", "wget: -O: dlm does not join several files into one; give one URL",
                2
            ),
            (.curl, "-sI http://h/", "curl: -I: dlm downloads only the body", 2),
            (.curl, "-C 5 -o x http://h/x", "curl: -C: dlm finds out by itself where to continue; give -", 2),
            (.curl, "-U a:b http://h/", "curl: the name for the proxy needs the proxy's URL on the command line", 2),
            (.wget, "-nX http://h/", "wget: -nX: dlm does not know this option", 2),
            (.curl, "-L --write-out x http://h/", "curl: --write-out: dlm downloads only the body", 2),
        ] as [(DropInProgram, String, String, Int32)])
    func refused(program: DropInProgram, line: String, message: String, status: Int32) throws {
        let failure = #expect(throws: DropInFailure.self) { try lines(program, line) }
        #expect(failure?.message(path: nil).hasPrefix(message) == true, "\(failure?.message(path: nil) ?? "")")
        #expect(failure?.program.usageStatus == status)
    }

    @Test("An ignored option is reported once, and an option that dlm does not need is not reported")
    func notices() throws {
        let line = try DropInCommandLine(
            Self.words("--seed-time=0 --seed-time=0 --disk-cache=1M http://h/x"), of: .aria2c)
        #expect(line.notices == ["aria2c: --seed-time is ignored: dlm has no BitTorrent"])
    }

    @Test("Secrets are found in every form of an option, and nothing else is taken for a secret")
    func secrets() throws {
        let (_, found) = try DropInWord.words(
            Self.words("-sSu a:b --user a:b --user=a:b -ua:b -o u --oauth2-bearer t"), of: .curl)
        let expected = [(1, 0), (3, 0), (4, 7), (5, 2), (9, 0)]
        #expect(found == expected.map { DropInWord.Secret(argument: $0.0, prefix: $0.1) })
    }

    @Test("The version has the text that callers read, and wget's -e sets the proxy")
    func others() throws {
        #expect(try DropInCommandLine(["-v"], of: .aria2c).information == .version)
        // apt-fast searches for `Hash Algorithms: sha-1`, yt-dlp and aria2p for `aria2 version 1.`.
        let text = DropInText.version(.aria2c)
        #expect(text.hasPrefix("aria2 version 1.") && text.contains("Hash Algorithms: sha-1"))
        #expect(DropInText.version(.curl).hasPrefix("curl 8."))
        let line = try DropInCommandLine(["-e", "https_proxy=http://p:1", "http://h/x"], of: .wget)
        #expect(line.environment == ["https_proxy": "http://p:1"])
    }

    @Test("Only the names of the programs select a drop-in")
    func names() {
        #expect(DropInProgram(calledAs: "/usr/lib/dlm/compat/wget") == .wget)
        #expect(DropInProgram(calledAs: "curl") == .curl)
        for name in ["dlm", "", "/usr/bin/dlm", "wget2", "/curl/dlm"] { #expect(DropInProgram(calledAs: name) == nil) }
    }
}

extension DropInCommandLine {
    init(_ arguments: [String], of program: DropInProgram) throws(DropInFailure) {
        try self.init(DropInWord.words(arguments, of: program).words, of: program)
    }
}
