import ArgumentParser
import DownloadTestSupport
import Testing

@testable import dlm

/// Compares the fast reader of options with the argument parser on the same words.
@Suite("Command lines without the parser")
struct ScannedWordsTests {
    @Test("Options are read as by the parser, and all change something", arguments: OptionCatalog.get.allNames)
    func option(_ name: String) throws {
        let (words, others) = Line.options(name)
        let scanned = try #require(DLM.scanned(["get", "http://h/a"] + others + words), "\(words)")
        #expect(try DLM.parsed(["get", "http://h/a"] + others + words) as? Get == scanned)
        #expect(scanned != DLM.scanned(["get", "http://h/a"] + others))
    }

    @Test("Settings are read as by the parser, and all change something", arguments: OptionCatalog.settings.allNames)
    func setting(_ name: String) throws {
        let (option, others) = Line.options(name)
        let words = others + option
        let scanned = try #require(SettingOptions.scanned(words), "\(words)")
        #expect(try SettingOptions.parse(words) == scanned)
        #expect(scanned != SettingOptions())
        if OptionCatalog.item.allNames.contains(name) {
            let item = try #require(ItemOptions.scanned(words))
            #expect(try ItemOptions.parse(words) == item)
            #expect(item != ItemOptions())
        }
    }

    @Test("The catalog has the parser's options, with their letters, in the parser's order")
    func asked() {
        for (asked, known) in [
            (OptionCatalog.settings, OptionCatalog(SettingOptions.self)),
            (OptionCatalog.item, OptionCatalog(ItemOptions.self)),
        ] {
            #expect(asked.names == known.names)
            for name in known.names {
                expectSameForm(asked[name], known[name])
                expectSameForm(asked[name].flatMap(asked.opposite), known[name].flatMap(known.opposite))
            }
        }
    }

    /// Expects that two options are written alike. Only the rows know the places and secrets of options.
    private func expectSameForm(_ asked: OptionCatalog.Option?, _ known: OptionCatalog.Option?) {
        var plain = asked
        plain?.places = .all
        plain?.secret = nil
        #expect(plain == known)
    }

    @Test("The opposite of a flag has the places of the flag")
    func opposites() throws {
        let notify = try #require(OptionCatalog.item["notify"])
        #expect(OptionCatalog.item.opposite(of: notify)?.places == .trusted)
        #expect(OptionScope.session.contains("rpc") && !OptionScope.settings.contains("no-rpc"))
    }

    @Test(
        "Words that only the parser can read are left to the parser",
        arguments: [
            "get", "get --", "get -- u", "get u -x", "get u -x 65", "get u -x -4", "get u --json=1", "get u -q=1",
            "get u -output=a", "get u -json", "get u -verbose", "get u -help", "get u -h",
            "get u --help", "get --help-all", "get u --version", "get u --outpu a", "get u --output", "get u --output=",
            "get u -o=", "get u -o --json", "get u ---x", "get u --=x", "get u -=x", "get u -z", "get u -qz",
            "get u v -o a", "get u -o a/", "get u --output=\u{301}a", "get u --priority -5", "get u -\u{301}", "list",
            "help get",
        ])
    func declined(_ line: String) { #expect(DLM.scanned(line.split(separator: " ").map(String.init)) == nil) }

    @Test("Generated command lines have the same meaning as with the parser; make fuzz tries 10,000 of them")
    func generated() throws {
        var generator = SplitMix64(seed: 21)
        let count = Fuzzing.seconds == nil ? 120 : 10_000
        var (valid, scanned) = (0, 0)
        for _ in 0..<count {
            let line = Line.random(using: &generator)
            let parsed = try? DLM.parsed(line.words) as? Get
            if !line.isOdd, parsed != nil { valid += 1 }
            guard let found = DLM.scanned(line.words) else { continue }
            if !line.isOdd { scanned += 1 }
            let expected = try #require(parsed, "the parser refuses \(line.words)")
            #expect(found == expected, "\(line.words)")
        }
        #expect(valid > count / 4)
        #expect(scanned > valid * 9 / 10, "\(scanned) of \(valid)")
    }
}

extension OptionCatalog {
    /// The names of all options, with the opposites of flags.
    fileprivate var allNames: [String] {
        names.filter { $0 != "help-all" }
            + names.compactMap { self[$0] }.filter(\.isFlag).compactMap { opposite(of: $0)?.name }
    }
}

// MARK: Lines

private struct Line {
    var words: [String] = []
    /// Whether the line contains something wrong or unusual.
    var isOdd = false

    /// Values for options that accept only certain values. `a` is valid for all other options.
    private static let values = [
        "at": ["2036-12-24 18:00"], "aws-sigv4": ["aws:amz:eu-central-1:s3"], "bearer-file": ["token"],
        "checksum": ["md5:d41d8cd98f00b204e9800998ecf8427e"], "color": ["auto", "never"],
        "connect-timeout": ["30", "1.5s", "2m"], "connections": ["1", "16", "auto", "auto:4", "AUTO"],
        "dns-cache-time": ["10m"], "directory": ["a", "/tmp/b c", "ü", "a=b"], "doh-url": ["https://h/q"],
        "expect-status": ["200,203"],
        "expect-type": ["image/*", "a/b,c/d"], "header": ["A: b", "X-ü: =", "A:-b"], "history-age": ["30d", "none"],
        "hook-timeout": ["5m"], "if-exists": ["fail", "skip", "rename"], "verify": ["auto", "off"],
        "limit-rate": ["500k", "1.5GiB", "none", "2M/s"],
        "limit-window": ["Mon-Fri 08:00-18:00 1M", "none"], "max-concurrent": ["1", "32", "+7"], "max-per-host": ["4"],
        "max-failures": ["10", "0", "5%", "2.5%"], "name-by": ["hash", "url"],
        "max-redirects": ["0", "5"], "max-size": ["500M"], "max-time": ["2h"], "metalink-location": ["de"],
        "method": ["PUT", "get"], "on-complete-url": ["http://h/hook"], "mirror": ["http://h/b", "https://i/c?d=e"],
        "output": ["a", "b/c", "-", "e\u{301}=f"],
        "per-host-rate": ["10", "0.5"], "pinned-public-key": ["key.pem"], "priority": ["0", "7"],
        "progress": ["none", "bar", "json"],
        "proto": ["=https", "http"], "proxy": ["", "socks5://h:1"], "query": ["a=b", "c=d=e", "f="],
        "resolve": ["h:80:127.0.0.1"], "retries": ["0", "5"], "retry-delay": ["2"], "retry-on": ["403,520-529"],
        "max-retry-after": ["5m"],
        "rpc-listen": ["127.0.0.1:6800", "[::1]:0"], "rpc-origins": ["https://example.org", "null"],
        "shard": ["0/2", "auto/3", "auto"], "shard-by": ["host", "line", "url"], "spool": ["64M"],
        "stall-timeout": ["10"], "store": ["postgres://h/d", "postgresql:///d?host=/run"], "tls-min": ["1.2", "1.3"],
        "unpack": ["a", "b/c"],
        "user": ["u:p", "u"], "wait": ["1", "0"],
        "window": ["01:00-06:00"],
    ]

    private static let letters: [String: String] = [
        "input-file": "i", "metalink-file": "M", "background": "b", "output": "o", "directory": "d", "continue": "c",
        "user-agent": "A", "referer": "e", "method": "X", "connections": "x", "header": "H", "user": "u",
        "insecure": "k", "ipv4": "4", "ipv6": "6", "max-concurrent": "j", "quiet": "q", "verbose": "v",
    ]

    private static let odd = [
        "--", "-", "", "--=", "---", "-=", "--x", "--outpu", "-output=a", "-json", "-help", "-h", "-qh", "--help",
        "--version", "-version", "--no-json", "--output", "-o", "-o=", "--proxy=", "-x", "-x=", "-x65", "-x-4", "-x=-4",
        "-qbv", "-qo", "-vvx8", "-4x=2", "-6q=1", "-ü", "-qü", "-o\u{301}x", "--output=\u{301}x", "-\u{301}",
        "--json=true",
        "--retries=-1", "--retries=x", "--retries= 5", "--retries=5 ", "--retries=+5", "--retries=٣", "--retries=1e3",
        "--priority", "--priority=-5", "-5", "--if-exists=Fail", "--if-exists=none", "--max-size=5k", "--color=",
        "list",
        "help", "get", "--generate-completion-script", "---completion", "--experimental-dump-help", "--http1.1",
        "--HTTP2",
        "--header=", "-H=A: b", "-HA: b", "-Hbad", "--expect-type=bad", "a\nb", "-o\n", "-o=\r\n", "--output=\r\nx",
        "\u{301}",
        "-ba=b", "-da=b", "-d=a=b", "-d==", "-\r\n", "-u", ":p", "--hsts=1",
    ]

    /// The words that must accompany an option that is an error without them, by the option's name.
    private static let needed = [
        "private-key": ["--certificate", "a"], "shard": ["-i", "a"], "shard-by": ["-i", "a", "--shard", "0/2"],
        "manifest-digest": ["--manifest", "a"], "retry-failed": ["--manifest", "a"], "spread": ["--name-by", "hash"],
        "spool": ["-o", "-"], "store": ["-b"],
    ]

    /// Returns the words of an option in its usual form, and the words that it needs.
    static func options(_ name: String) -> (option: [String], needed: [String]) {
        let option = OptionCatalog.get.option(named: name) ?? OptionCatalog.settings.option(named: name)
        let words = option?.isFlag ?? false ? ["--\(name)"] : ["--\(name)", values[name]?.first ?? "a"]
        return (words, needed[name] ?? [])
    }

    static func random(using generator: inout SplitMix64) -> Line {
        var line = Line()
        let isOdd = Int.random(in: 0..<10, using: &generator) < 4
        for _ in 0..<Int.random(in: 0...5, using: &generator) {
            let name = OptionCatalog.get.allNames.randomElement(using: &generator) ?? ""
            line.words += isOdd ? oddForm(of: name, &generator) : form(of: name, &generator)
        }
        for _ in 0..<(Int.random(in: 0..<8, using: &generator) == 0 ? Int.random(in: 0...3, using: &generator) : 1) {
            // An odd line may have its URL anywhere, even between an option and its value.
            let place = isOdd ? Int.random(in: 0...line.words.count, using: &generator) : line.words.count
            line.words.insert("http://h/\(place)", at: place)
        }
        line.isOdd = isOdd
        let named = Int.random(in: 0..<4, using: &generator) > 0 || isOdd
        line.words.insert(named ? "get" : "http://h/first", at: 0)
        return line
    }

    private static func form(of name: String, _ generator: inout SplitMix64) -> [String] {
        let letter = letters[name]
        guard let option = OptionCatalog.get.option(named: name), !option.isFlag else {
            guard let letter, Bool.random(using: &generator) else { return ["--\(name)"] }
            return Bool.random(using: &generator) ? ["-\(letter)"] : ["-v\(letter)"]
        }
        let value = (values[name] ?? ["a", "b.c"]).randomElement(using: &generator) ?? ""
        var forms = [["--\(name)", value]]
        if !value.isEmpty { forms.append(["--\(name)=\(value)"]) }
        if let letter {
            forms.append(["-\(letter)", value])
            if !value.isEmpty { forms += [["-\(letter)=\(value)"], ["-\(letter)\(value)"], ["-q\(letter)", value]] }
        }
        return forms.randomElement(using: &generator) ?? []
    }

    private static func oddForm(of name: String, _ generator: inout SplitMix64) -> [String] {
        var words = form(of: name, &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: words.removeLast()
        case 1: words[words.count - 1].append(odd.randomElement(using: &generator) ?? "")
        case 2: words.swapAt(0, words.count - 1)
        case 3, 4: words.append(odd.randomElement(using: &generator) ?? "")
        default: break
        }
        return words
    }
}
