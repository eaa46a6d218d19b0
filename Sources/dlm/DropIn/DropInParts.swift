import Foundation

/// The parts of another program's command line, whose effects depend on each other.
struct DropInParts {
    /// The name of a file.
    enum Output: Equatable {
        case file(String)
        /// The last part of the URL's path.
        case remoteName
    }

    /// The options for a file name that already exists.
    struct Taken {
        var continues = false
        var overwrites: Bool?
        var renames: Bool?
        var skips = false
        var newerOnly = false
    }

    /// A name and a password.
    struct Login {
        var user: String?
        var password: String?
    }

    let program: DropInProgram
    var options: [String] = []
    var urls: [String] = []
    var outputs: [Output] = []
    var folder: String?
    var list: String?
    var taken = Taken()
    var login = Login()
    var proxy: (url: String?, login: Login) = (nil, Login())
    /// The given options whose effect depends on other options, or whose absence has an effect.
    var flags: Set<DropInPart> = []
    var connections: [DropInPart: Int] = [:]
    var environment: [String: String] = [:]
    var information: DropInPart?

    init(program: DropInProgram) { self.program = program }

    /// Adds a part. Returns why the part is refused, or nil if it is accepted.
    mutating func add(_ part: DropInPart, _ value: String?, isOn: Bool) -> String? {
        let text = value ?? ""
        switch part {
        case .output: outputs.append(.file(text))
        case .remoteName: outputs.append(.remoteName)
        case .folder: folder = text
        case .url: urls.append(text)
        case .list: list = text
        case .userName: login.user = text
        case .password: login.password = text
        case .proxy: proxy.url = text
        case .proxyPassword: proxy.login.password = text
        case .proxyUser:
            let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            proxy.login.user = String(words[0])
            if words.count > 1 { proxy.login.password = String(words[1]) }
        case .connections, .split:
            guard let number = Int(text), number > 0 else { return "'\(text)' is not a number of connections" }
            connections[part] = min(number, 64)
        case .continues:
            if program == .curl, text != "-" { return "dlm finds out by itself where to continue; give -" }
            taken.continues = isOn
        case .overwrites: taken.overwrites = isOn
        case .renames: taken.renames = isOn
        case .skipsExisting: taken.skips = true
        case .newerOnly: taken.newerOnly = isOn
        case .cookies: return addCookies(text)
        case .setting: return addSetting(text)
        case .version, .help: information = information ?? part
        case .timestamps, .noTimestamps, .locatesRedirects, .quiet, .globs, .separate, .noNetrc, .allRemoteNames:
            if isOn { flags.insert(part) } else { flags.remove(part) }
        }
        return nil
    }

    /// Returns an option of `dlm get` with its value. A value that begins with a dash is attached with `=`. Otherwise
    /// dlm would read the value as another option.
    static func words(_ option: String, _ value: String) -> [String] {
        value.hasPrefix("-") && value != "-" ? ["\(option)=\(value)"] : [option, value]
    }

    private mutating func addCookies(_ text: String) -> String? {
        if text == "-" { return "dlm reads no cookies from standard input" }
        if text.contains("=") {
            options += ["--header", "Cookie: \(text)"]
        } else if !text.isEmpty, text != "/dev/null" {
            options += Self.words("--cookie-file", text)
        }
        return nil
    }

    /// Applies the value of wget's `-e`, which is a line of .wgetrc. Returns why the line is refused, or nil if it is
    /// accepted.
    private mutating func addSetting(_ text: String) -> String? {
        let words = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = words[0].trimmingCharacters(in: .whitespaces).lowercased().replacing("-", with: "_")
        let value = words.count > 1 ? words[1].trimmingCharacters(in: .whitespaces) : ""
        switch name {
        case "http_proxy", "https_proxy", "ftp_proxy", "no_proxy": environment[name] = value
        case "use_proxy" where ["off", "no"].contains(value): options += ["--no-proxy", "*"]
        case "use_proxy", "robots": break
        default: return "dlm does not know the setting '\(name)'"
        }
        return nil
    }

    // MARK: Command lines of get

    func lines() throws(DropInFailure) -> [[String]] {
        if urls.isEmpty, list == nil, !options.contains("--metalink-file") {
            throw DropInFailure(program, "no URL given")
        }
        let common = try options + loginWords() + proxyWords() + connectionWords() + usualWords()
        switch program {
        case .aria2c: return aria2Lines(common)
        case .wget: return try wgetLines(common)
        case .curl: return curlLines(common)
        }
    }

    /// Returns the command lines for aria2c. Several URLs are sources of one file, as in aria2.
    private func aria2Lines(_ common: [String]) -> [[String]] {
        let common = common + (list.map { Self.words("--input-file", $0) } ?? [])
        let place = placed(outputs.last, takenWords)
        guard !urls.isEmpty else { return [common + place] }
        // With `--force-sequential` each URL is a file of its own, with its own name.
        if flags.contains(.separate) { return [common + place + operands(urls)] }
        let mirrors = urls.dropFirst().flatMap { ["--mirror", $0] }
        return [common + place + mirrors + operands([urls[0]])]
    }

    private func wgetLines(_ common: [String]) throws(DropInFailure) -> [[String]] {
        let target = outputs.last
        // On standard output, the files are written one after another.
        let areJoined = target.map(Self.isStream) ?? false && list == nil
        if target != nil, !areJoined, urls.count + (list == nil ? 0 : 1) > 1 {
            throw DropInFailure(program, "-O: dlm does not join several files into one; give one URL")
        }
        var lines = urls.map { url in
            common + placed(target ?? named(url), takenWords) + operands([url])
        }
        if let list { lines.append(common + placed(target, takenWords) + Self.words("--input-file", list)) }
        // Without a URL and a list, a Metalink document names the files.
        if lines.isEmpty { lines.append(common + placed(target, takenWords)) }
        return lines
    }

    /// Returns the command lines for curl. The first output belongs to the first URL, and so on. A URL without an
    /// output goes to standard output, unless `--remote-name-all` is given.
    private func curlLines(_ common: [String]) -> [[String]] {
        urls.enumerated().map { index, url in
            let output = index < outputs.count ? outputs[index] : flags.contains(.allRemoteNames) ? .remoteName : nil
            let target = output == .remoteName ? named(url) : output ?? .file("-")
            return common + placed(target, takenWords) + operands([url])
        }
    }

    private func operands(_ urls: [String]) -> [String] {
        // `--` is added only if needed, because a command line with `--` needs the slower parser.
        urls.contains { $0.hasPrefix("-") } ? ["--"] + urls : urls
    }

    private func loginWords() -> [String] {
        guard let user = login.user else { return [] }
        return Self.words("--user", "\(user):\(login.password ?? "")")
    }

    private func proxyWords() throws(DropInFailure) -> [String] {
        guard let url = proxy.url else {
            // Without the proxy's URL, the name and password would be ignored silently.
            guard proxy.login.user == nil, proxy.login.password == nil else {
                throw DropInFailure(
                    program,
                    "the name for the proxy needs the proxy's URL on the command line; or give both in the variable: "
                        + "http_proxy=http://NAME:PASSWORD@HOST")
            }
            return []
        }
        // An empty URL switches off the proxy that the environment names.
        if url.isEmpty { return ["--no-proxy", "*"] }
        guard let user = proxy.login.user else { return ["--proxy", url] }
        let login = [user, proxy.login.password ?? ""].map {
            $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? $0
        }
        let parts = url.components(separatedBy: "://")
        let scheme = parts.count > 1 ? parts[0] : "http"
        return ["--proxy", "\(scheme)://\(login[0]):\(login[1])@\(parts.last ?? url)"]
    }

    private func connectionWords() -> [String] {
        guard let most = connections.values.min() else { return [] }
        // With -x, dlm uses exactly this number of connections. With -s alone, dlm chooses a number up to this limit.
        return ["--connections", connections[.connections] == nil ? "auto:\(most)" : "\(most)"]
    }

    /// Returns the options for the default behaviour of the program, where dlm's defaults are different.
    private func usualWords() -> [String] {
        var words: [String] = []
        let keepsTime = program == .wget ? !flags.contains(.noTimestamps) : flags.contains(.timestamps)
        words.append(keepsTime ? "--remote-time" : "--no-remote-time")
        if !options.contains("--content-disposition") {
            words.append(program == .aria2c ? "--content-disposition" : "--no-content-disposition")
        }
        let globs = program == .curl ? !flags.contains(.globs) : flags.contains(.globs)
        if !globs { words.append("--no-glob") }
        if program != .curl, !flags.contains(.noNetrc), !options.contains("--netrc-file"), login.user == nil {
            words.append("--netrc")
        }
        let isLimited = options.contains("--max-redirects")
        if program == .curl, !flags.contains(.locatesRedirects) {
            words += ["--max-redirects", "0"]
        } else if program == .curl, !isLimited {
            words += ["--max-redirects", "50"]
        }
        if flags.contains(.quiet) { words.append("--quiet") }
        return words
    }
}
