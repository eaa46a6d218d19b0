import Foundation

/// What the parts of a foreign command line say together.
struct DropInParts {
    /// Where a file goes.
    enum Output: Equatable {
        case file(String)
        /// The last part of the URL's path.
        case remoteName
    }

    /// What is done where the final name is taken.
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
    /// The values of options whose meaning depends on others, or on their absence.
    var flags: Set<DropInPart> = []
    var connections: [DropInPart: Int] = [:]
    var environment: [String: String] = [:]
    var information: DropInPart?

    init(program: DropInProgram) { self.program = program }

    /// Returns why the part is refused; nil where it is taken.
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

    private mutating func addCookies(_ text: String) -> String? {
        if text == "-" { return "dlm reads no cookies from standard input" }
        if text.contains("=") {
            options += ["--header", "Cookie: \(text)"]
        } else if !text.isEmpty, text != "/dev/null" {
            options += ["--cookie-file", text]
        }
        return nil
    }

    /// A line of .wgetrc.
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
        let common = options + loginWords() + proxyWords() + connectionWords() + usualWords()
        switch program {
        case .aria2c: return aria2Lines(common)
        case .wget: return try wgetLines(common)
        case .curl: return curlLines(common)
        }
    }

    /// Several URLs are sources of one file.
    private func aria2Lines(_ common: [String]) -> [[String]] {
        let common = common + (list.map { ["--input-file", $0] } ?? [])
        let place = placed(outputs.last, takenWords)
        guard !urls.isEmpty else { return [common + place] }
        // Several URLs without a name of their own each are told apart by their names.
        if flags.contains(.separate) { return [common + place + operands(urls)] }
        let mirrors = urls.dropFirst().flatMap { ["--mirror", $0] }
        return [common + place + mirrors + operands([urls[0]])]
    }

    private func wgetLines(_ common: [String]) throws(DropInFailure) -> [[String]] {
        let target = outputs.last
        if target != nil, urls.count + (list == nil ? 0 : 1) > 1 {
            throw DropInFailure(program, "-O: dlm does not join several files into one; give one URL")
        }
        var lines = urls.map { url in
            common + placed(target ?? named(url), takenWords) + operands([url])
        }
        if let list { lines.append(common + placed(target, takenWords) + ["--input-file", list]) }
        // What a Metalink document names.
        if lines.isEmpty { lines.append(common + placed(target, takenWords)) }
        return lines
    }

    /// The first place belongs to the first URL, and so on; a URL without one is for standard output.
    private func curlLines(_ common: [String]) -> [[String]] {
        urls.enumerated().map { index, url in
            let output = index < outputs.count ? outputs[index] : flags.contains(.allRemoteNames) ? .remoteName : nil
            let target = output == .remoteName ? named(url) : output ?? .file("-")
            return common + placed(target, takenWords) + operands([url])
        }
    }

    private func operands(_ urls: [String]) -> [String] {
        // Command lines with -- take the parser, which is slower.
        urls.contains { $0.hasPrefix("-") } ? ["--"] + urls : urls
    }

    /// The name that wget and curl give the file: that of the URL, unless the server's is asked for.
    private func named(_ url: String) -> Output? {
        if options.contains("--content-disposition") { return nil }
        let rest = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let path = rest.prefix { $0 != "#" && (program == .wget || $0 != "?") }
        guard let slash = path.firstIndex(of: "/") else { return program == .wget ? .file("index.html") : nil }
        let name = path[slash...].split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        if name.isEmpty { return program == .wget ? .file("index.html") : nil }
        // Patterns are divided later, and each gets its own name.
        return name.contains(where: { "[{".contains($0) }) ? nil : .file(name.removingPercentEncoding ?? String(name))
    }

    /// Where the file goes, and what is done where it is there.
    private func placed(_ output: Output?, _ takenWords: [String]) -> [String] {
        guard case .file(let name) = output else { return takenWords + ["--directory", folder ?? "."] }
        if name == "-" || name == "/dev/stdout" || name == "/dev/null" { return ["--output", "-"] }
        guard let folder else {
            return takenWords + (name.hasPrefix("/") ? [] : ["--directory", "."]) + ["--output", name]
        }
        // wget gives folders no meaning for -O.
        if program == .wget, !outputs.isEmpty {
            return takenWords + (name.hasPrefix("/") ? [] : ["--directory", "."]) + ["--output", name]
        }
        // aria2 puts the name behind the folder, whatever the name begins with: -d / -o /a/b is /a/b.
        let relative = name.drop { $0 == "/" }
        return takenWords + ["--directory", folder, "--output", String(relative)]
    }

    private var takenWords: [String] {
        if taken.continues { return ["--continue"] }
        if taken.newerOnly { return ["--if-exists", "newer"] }
        if taken.skips { return ["--if-exists", "skip"] }
        switch program {
        case .aria2c:
            if taken.overwrites ?? false { return ["--if-exists", "overwrite"] }
            return ["--if-exists", taken.renames ?? true ? "rename" : "fail"]
        case .wget: return ["--if-exists", outputs.isEmpty ? "rename" : "overwrite"]
        case .curl: return ["--if-exists", taken.renames ?? false ? "rename" : "overwrite"]
        }
    }

    private func loginWords() -> [String] {
        guard let user = login.user else { return [] }
        return ["--user", "\(user):\(login.password ?? "")"]
    }

    private func proxyWords() -> [String] {
        guard let url = proxy.url, !url.isEmpty else { return [] }
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
        // A body for standard output comes in order.
        return ["--connections", connections[.connections] == nil ? "auto:\(most)" : "\(most)"]
    }

    /// What the programs do unless they are told otherwise, and what of that dlm does not.
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
