import DownloadKit
import Glibc
import Yams

/// `config.yaml`: a mapping from keys to plain values or lists of them, with the sections `hosts` and `rules`.
struct SettingsFile {
    let path: String

    /// The greatest size of the file in bytes. A larger file cannot be a configuration file.
    static let largest = 1 << 20

    /// The keys whose values are sections.
    static let (hosts, rules) = ("hosts", "rules")

    /// Finds `$XDG_CONFIG_HOME/dlm/config.yaml`, by default `~/.config/dlm/config.yaml`. A relative path in the
    /// variable is invalid and ignored (XDG Base Directory Specification). Returns nil if there is no home folder.
    init?(environment: [String: String]) {
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            path = FileNaming.path(folder, "dlm/config.yaml")
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            path = FileNaming.path(home, ".config/dlm/config.yaml")
        } else {
            return nil
        }
    }

    static func entries(environment: [String: String]) throws(SettingsError) -> [SettingsEntry] {
        guard let file = SettingsFile(environment: environment), let bytes = try file.read() else { return [] }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SettingsError("\(file.path): not UTF-8 text; save it as UTF-8")
        }
        return try file.entries(in: text)
    }

    // MARK: Reading

    private func read() throws(SettingsError) -> [UInt8]? {
        // Without O_NONBLOCK, opening a FIFO that has no writer would block every command.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw unreadable(errno)
        }
        defer { close(descriptor) }
        guard let bytes = FileBytes.read(descriptor, atMost: Self.largest) else { throw unreadable(errno) }
        if bytes.count <= Self.largest { return bytes }
        throw SettingsError("\(path): larger than 1 MiB; this is not a configuration file of dlm")
    }

    private func unreadable(_ code: Int32) -> SettingsError {
        SettingsError("\(path): cannot read the configuration: \(String(cString: strerror(code)))")
    }

    // MARK: Understanding

    func entries(in text: String) throws(SettingsError) -> [SettingsEntry] {
        let root: Node?
        do {
            // The default resolver compiles regular expressions for types that are not used here. Yams's
            // `Encoding.default` prints a line to stdout if an environment variable is set.
            root = try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
        } catch {
            throw malformed(error)
        }
        guard let root else { return [] }
        var entries: [SettingsEntry] = []
        for (name, value, place) in try pairs(root, place(root.mark?.line), Self.form) {
            if name == Self.hosts {
                entries += try sections(value, place)
            } else if name == Self.rules {
                entries += try rules(value, place)
            } else {
                entries += try self.entries(name, value, place)
            }
        }
        return entries
    }

    private func sections(_ node: Node, _ place: String) throws(SettingsError) -> [SettingsEntry] {
        var entries: [SettingsEntry] = []
        for (name, settings, place) in try pairs(node, place, Self.hostForm) {
            guard let host = HostPattern(name) else {
                throw SettingsError("\(place): '\(SettingsError.short(name))' is not a host name; \(Self.hostForm)")
            }
            for (name, value, place) in try pairs(settings, place, Self.hostForm) {
                entries += try self.entries(name, value, place, of: .host(host))
            }
        }
        return entries
    }

    private func rules(_ node: Node, _ place: String) throws(SettingsError) -> [SettingsEntry] {
        if case .scalar(let scalar) = node, scalar.string.isEmpty { return [] }
        guard case .sequence(let list) = node else { throw SettingsError("\(place): \(Self.ruleForm)") }
        var entries: [SettingsEntry] = []
        for (index, node) in list.enumerated() {
            entries += try rule(node, number: index + 1, self.place(node.mark?.line))
        }
        return entries
    }

    /// Reads a rule. The keys `host` and `path` select URLs, and the other keys are settings.
    private func rule(_ node: Node, number: Int, _ place: String) throws(SettingsError) -> [SettingsEntry] {
        var host: HostPattern?
        var path: String?
        var settings: [Pair] = []
        for (name, value, place) in try pairs(node, place, Self.ruleForm) {
            switch (name, value) {
            case ("host", .scalar(let text)):
                guard let pattern = HostPattern(text.string) else {
                    let shown = SettingsError.short(text.string)
                    throw SettingsError("\(place): '\(shown)' is not a host name; \(Self.ruleForm)")
                }
                host = pattern
            case ("path", .scalar(let text)):
                guard text.string.hasPrefix("/") || text.string.hasPrefix("*") else {
                    throw SettingsError("\(place): a path begins with / or *; \(Self.ruleForm)")
                }
                path = text.string
            default: settings.append((name, value, place))
            }
        }
        if host == nil, path == nil { throw SettingsError("\(place): give host or path; \(Self.ruleForm)") }
        let section = SettingsSection.rule(SettingsRule(number: number, host: host, path: path))
        var entries: [SettingsEntry] = []
        for (name, value, place) in settings { entries += try self.entries(name, value, place, of: section) }
        return entries
    }

    private typealias Pair = (name: String, value: Node, place: String)

    /// Returns the keys of a mapping with their values and places; none if there is no value, for example because all
    /// lines below the key are comments.
    /// - Parameter form: the advice if the node is not a mapping.
    private func pairs(_ node: Node, _ place: String, _ form: String) throws(SettingsError) -> [Pair] {
        if case .scalar(let scalar) = node, scalar.string.isEmpty { return [] }
        guard case .mapping(let mapping) = node else { throw SettingsError("\(place): \(form)") }
        var pairs: [Pair] = []
        for (key, value) in mapping {
            let place = self.place(key.mark?.line)
            guard case .scalar(let name) = key else { throw SettingsError("\(place): \(Self.form)") }
            pairs.append((name.string, value, place))
        }
        return pairs
    }

    /// Returns one entry for a plain value, or one for each value of a list.
    private func entries(
        _ name: String, _ value: Node, _ place: String, of section: SettingsSection? = nil
    ) throws(SettingsError) -> [SettingsEntry] {
        let (names, parts) =
            switch section {
            case nil: (OptionScope.settings + [Self.hosts, Self.rules], "")
            case .host: (OptionScope.host, "hosts; write it outside of hosts")
            case .rule: (OptionScope.rule, "URLs; write it outside of rules")
            }
        guard names.contains(name) else {
            if OptionScope.settings.contains(name) {
                throw SettingsError("\(place): \(name) does not apply to single \(parts)")
            }
            let hint = OptionCatalog.hint(for: name, in: names)
            throw SettingsError("\(place): unknown key '\(SettingsError.short(name))'; \(hint)")
        }
        switch value {
        case .scalar(let text):
            return [SettingsEntry(key: name, text: text.string, origin: .file(place), section: section)]
        case .sequence(let list) where OptionCatalog.settings[name]?.isRepeatable ?? false:
            var entries: [SettingsEntry] = []
            for node in list {
                let line = self.place(node.mark?.line)
                guard case .scalar(let text) = node else {
                    throw SettingsError("\(line): \(name) needs plain values; \(Self.form)")
                }
                entries.append(SettingsEntry(key: name, text: text.string, origin: .file(line), section: section))
            }
            return entries
        default: throw SettingsError("\(place): \(name) needs one plain value; \(Self.form)")
        }
    }

    private static let ruleForm =
        "give rules such as 'rules: [{host: \"*.example.org\", path: \"*.iso\", directory: ~/iso}]'"
    private static let hostForm = "give settings for hosts such as 'hosts: {\"*.example.org\": {connections: 2}}'"
    private static let form = "give one setting in each line, such as 'history-age: 30d'"

    private func place(_ line: Int?) -> String { line.map { "\(path):\($0)" } ?? path }

    private func malformed(_ error: any Error) -> SettingsError {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            // For a second document in the file, Yams says "but found another document". The text before it is in the
            // context, and is not shown.
            SettingsError("\(place(mark.line)): not valid YAML: \(problem.trimmingPrefix("but ")); \(Self.form)")
        case .reader(let problem, let offset, _, let yaml):
            SettingsError("\(place(offset.map { Self.line(at: $0, in: yaml) })): not valid YAML: \(problem)")
        case .duplicatedKeysInMapping(let names, let context):
            SettingsError(
                "\(place(context.mark.line)): \(names.map { "'\(SettingsError.short($0))'" }.joined(separator: ", ")) "
                    + "is there more than once; keep one")
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded, nil:
            SettingsError("\(path): not valid YAML; \(Self.form)")
        }
    }

    private static func line(at offset: Int, in yaml: String) -> Int {
        yaml.prefix(offset).count { $0.isNewline } + 1
    }
}
