/// The short help of `dlm` and of `dlm get`, which fits a terminal of 80 columns and 50 lines. `dlm get --help-all`
/// shows all options instead.
enum HelpText {
    static let columns = 80

    /// Returns the help text, or nil if the argument parser's own help is enough.
    /// - Parameter arguments: the arguments of a command line that asks for help.
    static func text(_ arguments: [String]) -> String? {
        let path = (arguments.first == "help" ? arguments.dropFirst() : arguments[...]).prefix { !$0.hasPrefix("-") }
        guard let root = try? CommandDescription.root() else { return nil }
        guard let name = path.first else { return short(root) }
        guard name == "get", let get = root.visibleCommands.first(where: { $0.commandName == name }) else { return nil }
        return arguments.contains("--help-all") ? all(get) : short(get: get)
    }

    // MARK: Short

    private static func short(_ root: CommandDescription) -> String {
        var lines = wrapped("OVERVIEW: \(root.abstract ?? "")", indent: 0)
        lines += ["", "USAGE: dlm COMMAND [options] [arguments]", "       dlm URL...     (the same as dlm get URL...)"]
        lines.append("       dlm            (shows what is being downloaded)")
        for (title, names) in commandGroups {
            lines += ["", "\(title):"]
            for command in names.compactMap({ name in root.visibleCommands.first { $0.commandName == name } }) {
                lines += entry(command.names.joined(separator: ", "), command.abstract ?? "", column: 14)
            }
        }
        lines += ["", "EXAMPLES:"]
        lines += commandExamples.flatMap { entry($0.command, comment($0.meaning), column: 50) }
        lines += ["", "OPTIONS:"]
        lines += root.visibleArguments.flatMap { entry(heading($0), $0.abstract ?? "", column: 18) }
        lines += ["", "More: dlm COMMAND --help, dlm get --help-all, man dlm"]
        return lines.joined(separator: "\n")
    }

    /// The examples of dlm, here and in the manual.
    static let commandExamples = [
        (command: "dlm get https://example.org/debian-12.iso", meaning: "Download a file:"),
        (command: "dlm get -b https://example.org/debian-12.iso", meaning: "Download in the background:"),
        (command: "dlm pause 3", meaning: "Pause a download:"),
        (command: "dlm resume 3", meaning: "Resume a download:"),
        (command: "dlm list", meaning: "List unfinished downloads:"),
    ]

    static let commandGroups: [(title: String, names: [String])] = [
        ("DOWNLOAD AND FOLLOW", ["get", "list", "show", "watch", "wait", "events", "work"]),
        ("CHANGE A DOWNLOAD", ["pause", "resume", "cancel", "remove", "limit", "priority", "set-url"]),
        ("CHECK AND SET UP", ["verify", "manifest", "doctor", "config", "daemon", "rpc"]),
    ]

    private static func short(get: CommandDescription) -> String {
        var lines = wrapped("OVERVIEW: \(get.abstract ?? "")", indent: 0)
        lines += ["", "USAGE: dlm get [options] URL...", "", "EXAMPLES:"]
        lines += examples.flatMap { entry($0.command, comment($0.meaning), column: 50) }
        lines += ["", "OPTIONS:"]
        for (name, meaning) in options {
            guard let argument = get.visibleArguments.first(where: { $0.isNamed(name) }) else { continue }
            lines += entry(heading(argument), meaning, column: 33)
        }
        lines += ["", "All options: dlm get --help-all, or man dlm-get"]
        return lines.joined(separator: "\n")
    }

    /// The examples of `dlm get`. The manual has longer ones.
    static let examples = [
        (command: "dlm get https://example.org/debian-12.iso", meaning: "Into this folder:"),
        (command: "dlm get -o debian.iso -x 4 URL", meaning: "Set name and connections:"),
        (command: "dlm get -d data -j 8 -i urls.txt", meaning: "A list, eight at a time:"),
        (command: "dlm get -b --limit-rate 2M URL", meaning: "In the background:"),
        (command: "dlm get --checksum sha256:HEX URL", meaning: "Verify the checksum:"),
        (command: "file=$(dlm get URL) || exit", meaning: "In a script:"),
    ]

    /// The options of `dlm get` that most people use, by their long names.
    static let options: [(name: String, meaning: String)] = [
        ("output", "Write to this file; - is standard output."),
        ("directory", "Put the files into this folder."),
        ("input-file", "Read URLs from this file, one a line."),
        ("background", "Download in the background session."),
        ("connections", "Connections per file. Default: auto."),
        ("max-concurrent", "Downloads at the same time. Default: 16."),
        ("continue", "Continue another tool's partial file."),
        ("if-exists", "fail, overwrite, rename, skip or newer."),
        ("limit-rate", "Bytes per second, such as 500k or 2M."),
        ("retries", "Retry at most N times. Default: 5."),
        ("checksum", "Require this digest, as sha256:HEX."),
        ("user", "Log in with NAME:PASSWORD."),
        ("header", "Send this header field; repeatable."),
        ("proxy", "Use this proxy."),
        ("quiet", "Print no progress, notices or paths."),
    ]

    // MARK: All

    private static func all(_ command: CommandDescription) -> String {
        var lines = wrapped("OVERVIEW: \(command.abstract ?? "")", indent: 0)
        lines += [""] + wrapped(command.discussion ?? "", indent: 0)
        lines += ["", "USAGE: dlm \(command.commandName) [options] URL..."]
        for (title, arguments) in OptionOrder.groups(command.visibleArguments) {
            lines += ["", "\((title ?? "Options").uppercased()):"]
            lines += arguments.flatMap { entry(heading($0), $0.description, column: 26) }
        }
        return lines.joined(separator: "\n")
    }

    // MARK: Lines

    private static func heading(_ argument: CommandDescription.Argument) -> String {
        let value = argument.valueName.map { "<\($0)>" } ?? ""
        if argument.kind == "positional" { return value }
        let short = (argument.names ?? []).filter { $0.kind == "short" }
        let long = (argument.names ?? []).filter { $0.kind != "short" }
        let names = (short + long).map(\.text).joined(separator: ", ")
        let indented = short.isEmpty ? "    " + names : names
        return argument.kind == "flag" ? indented : "\(indented) \(value)"
    }

    /// Returns the text as a comment of the shell, so that the line can be copied.
    private static func comment(_ meaning: String) -> String {
        "# " + (meaning.hasSuffix(":") ? String(meaning.dropLast()) : meaning)
    }

    /// Returns the heading with its meaning beside it, or below it if the heading is too long.
    private static func entry(_ heading: String, _ meaning: String, column: Int) -> [String] {
        let (start, lines) = ("  " + heading, wrapped(meaning, indent: column))
        guard start.count < column - 1, let first = lines.first else { return [start] + lines }
        return [start + first.dropFirst(start.count)] + lines.dropFirst()
    }

    private static func wrapped(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= columns {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(margin + word)
            }
        }
        return lines
    }
}
