import Foundation

/// The parts of another program's command line, whose effects depend on each other.
struct DropInParts {
    enum Output: Equatable {
        case file(String)
        /// The last part of the URL's path.
        case remoteName
    }

    let program: DropInProgram
    var options: [String] = []
    var urls: [String] = []
    var outputs: [Output] = []
    /// The values of options that are not repeatable.
    var texts: [DropInPart: String] = [:]
    /// Whether an option is switched on. An option that was not given is missing.
    var switches: [DropInPart: Bool] = [:]
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
        case .url: urls.append(text)
        case .folder, .list, .userName, .password, .proxy, .proxyPassword: texts[part] = text
        case .proxyUser:
            let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            texts[.proxyUser] = String(words[0])
            if words.count > 1 { texts[.proxyPassword] = String(words[1]) }
        case .connections, .split:
            guard let number = Int(text), number > 0 else { return "'\(text)' is not a number of connections" }
            connections[part] = min(number, 64)
        case .continues:
            if program == .curl, text != "-" { return "dlm finds out by itself where to continue; give -" }
            switches[part] = isOn
        case .cookies: return addCookies(text)
        case .setting: return addSetting(text)
        case .version, .help: information = information ?? part
        case .overwrites, .renames, .skipsExisting, .newerOnly, .timestamps, .noTimestamps, .locatesRedirects, .quiet,
            .globs, .separate, .noNetrc, .allRemoteNames:
            switches[part] = isOn
        }
        return nil
    }

    func isOn(_ part: DropInPart, usually: Bool = false) -> Bool { switches[part] ?? usually }

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
        if urls.isEmpty, texts[.list] == nil, !options.contains("--metalink-file") {
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
        let common = common + (texts[.list].map { Self.words("--input-file", $0) } ?? [])
        let place = placed(outputs.last, takenWords)
        guard !urls.isEmpty else { return [common + place] }
        // With `--force-sequential` each URL is a file of its own, with its own name.
        if isOn(.separate) { return [common + place + operands(urls)] }
        let mirrors = urls.dropFirst().flatMap { ["--mirror", $0] }
        return [common + place + mirrors + operands([urls[0]])]
    }

    private func wgetLines(_ common: [String]) throws(DropInFailure) -> [[String]] {
        let (target, list) = (outputs.last, texts[.list])
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
            let output = index < outputs.count ? outputs[index] : isOn(.allRemoteNames) ? .remoteName : nil
            let target = output == .remoteName ? named(url) : output ?? .file("-")
            return common + placed(target, takenWords) + operands([url])
        }
    }

    private func operands(_ urls: [String]) -> [String] {
        // `--` is added only if needed, because a command line with `--` needs the slower parser.
        urls.contains { $0.hasPrefix("-") } ? ["--"] + urls : urls
    }

    private func loginWords() -> [String] {
        guard let user = texts[.userName] else { return [] }
        return Self.words("--user", "\(user):\(texts[.password] ?? "")")
    }

    private func proxyWords() throws(DropInFailure) -> [String] {
        guard let url = texts[.proxy] else {
            // Without the proxy's URL, the name and password would be ignored silently.
            guard texts[.proxyUser] == nil, texts[.proxyPassword] == nil else {
                throw DropInFailure(
                    program,
                    "the name for the proxy needs the proxy's URL on the command line; or give both in the variable: "
                        + "http_proxy=http://NAME:PASSWORD@HOST")
            }
            return []
        }
        // An empty URL switches off the proxy that the environment names.
        if url.isEmpty { return ["--no-proxy", "*"] }
        guard let user = texts[.proxyUser] else { return ["--proxy", url] }
        let login = [user, texts[.proxyPassword] ?? ""].map {
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
        let keepsTime = program == .wget ? !isOn(.noTimestamps) : isOn(.timestamps)
        var words = [keepsTime ? "--remote-time" : "--no-remote-time"]
        if !options.contains("--content-disposition") {
            words.append(program == .aria2c ? "--content-disposition" : "--no-content-disposition")
        }
        // In curl the option switches patterns off, in aria2c on.
        if isOn(.globs) == (program == .curl) { words.append("--no-glob") }
        if program != .curl, !isOn(.noNetrc), !options.contains("--netrc-file"), texts[.userName] == nil {
            words.append("--netrc")
        }
        if program == .curl, !isOn(.locatesRedirects) {
            words += ["--max-redirects", "0"]
        } else if program == .curl, !options.contains("--max-redirects") {
            words += ["--max-redirects", "50"]
        }
        if isOn(.quiet) { words.append("--quiet") }
        return words
    }
}
