import ArgumentParser
import Foundation

/// The long options of a command, or of a file with options (a list of URLs, or the settings). The catalog is collected
/// from the rows of tables or from the parser, so no option has to be listed twice.
struct OptionCatalog: Sendable {
    struct Option: Sendable, Equatable {
        let name: String
        let letter: Character?
        let isFlag: Bool
        let isRepeatable: Bool
        /// Whether the value is the name of a file or a folder.
        let isPath: Bool
        var places = OptionPlaces.all
        /// The part of the value that is a secret; nil if there is none.
        var secret: OptionSecret?
    }

    private let options: [Option]

    /// The long names that can be written in a file, in the order of the help.
    let names: [String]

    /// Collects the options from the parser, which takes some milliseconds.
    init(_ type: (some ParsableArguments).Type) {
        self.init(
            CommandDescription.arguments(of: type).compactMap { argument in
                argument.longName.map { name in
                    Option(
                        name: name, letter: argument.names?.first { $0.kind == "short" }?.name.first,
                        isFlag: argument.kind == "flag", isRepeatable: argument.isRepeating, isPath: argument.isPath)
                }
            })
    }

    init(rowsOf type: (some OptionTable).Type) {
        var (options, row) = (type.init(), OptionRows(.listing))
        options.rows(&row)
        self.init(row.listed)
    }

    private init(_ options: [Option]) {
        self.options = options
        let flags = Set(options.filter(\.isFlag).map(\.name))
        names = options.map(\.name).filter { name in
            // In a file, `name=false` is written instead of the flag `--no-name`.
            let isOpposite = name.hasPrefix("no-") && flags.contains(String(name.dropFirst(3)))
            return !isOpposite && name != "help" && name != "version"
        }
    }

    static let item = OptionCatalog(rowsOf: ItemOptions.self)
    static let settings = OptionCatalog(rowsOf: SettingOptions.self)
    static let get = OptionCatalog(rowsOf: Get.self)

    subscript(name: String) -> Option? { names.contains(name) ? option(named: name) : nil }

    func names(in place: OptionPlaces) -> [String] { names.filter { self[$0]?.places.contains(place) ?? false } }

    /// Returns the option with this long name, including `help`, `version` and the opposites of flags.
    func option(named name: some StringProtocol) -> Option? { options.first { $0.name == name } }

    func option(letter: Character) -> Option? { options.first { $0.letter == letter } }

    var flagLetters: Set<UInt8> { Set(options.filter(\.isFlag).compactMap { $0.letter?.asciiValue }) }

    /// Returns the option that switches off a flag that is on by default, or nil if there is none.
    func opposite(of flag: Option) -> Option? { option(named: "no-\(flag.name)") }

    /// Returns the name that was probably meant, or nil if no name is near enough.
    static func nearest(to word: String, in names: [String]) -> String? {
        guard let (name, distance) = ranked(names, by: word).first,
            distance <= max(1, min(word.count, name.count) / 2)
        else { return nil }
        return name
    }

    /// Returns the end of a message about an unknown key: the name that was probably meant, the three nearest names, or
    /// the command that lists all names.
    static func hint(for word: String, in names: [String]) -> String {
        if let name = nearest(to: word, in: names) { return "did you mean '\(name)'?" }
        let near = ranked(names, by: word).prefix(3).map { "'\($0.name)'" }
        guard near.count == 3 else { return "run: dlm get --help-all" }
        return "the nearest are \(near[0]), \(near[1]) and \(near[2])"
    }

    /// Returns the names with their distance from a word, the nearest name first. Returns nothing for a word far longer
    /// than any name, because the comparison would only cost time.
    private static func ranked(_ names: [String], by word: String) -> [(name: String, distance: Int)] {
        guard word.count <= 64 else { return [] }
        let distances = names.enumerated().map { ($0.offset, $0.element, UnknownCommand.distance(word, $0.element)) }
        return distances.sorted { ($0.2, $0.0) < ($1.2, $1.0) }.map { (name: $0.1, distance: $0.2) }
    }
}

extension OptionCatalog.Option {
    private static let longest = 8 << 10

    /// Returns the option and its value as arguments for the parser. A value that is not empty is attached with `=`, so
    /// that the parser does not read it as another option. Returns no arguments for a flag that is off and has no
    /// opposite.
    func arguments(_ value: String, in catalog: OptionCatalog) throws(ValidationError) -> [String] {
        // The parser's time grows faster than the length of an argument.
        guard value.utf8.count <= Self.longest else { throw ValidationError("longer than 8 KiB") }
        // The parser does not read "--name=" as an empty value.
        guard isFlag else { return value.isEmpty ? ["--\(name)", ""] : ["--\(name)=\(value)"] }
        switch value.lowercased() {
        case "true", "yes", "on": return ["--\(name)"]
        case "false", "no", "off": return catalog.opposite(of: self).map { ["--\($0.name)"] } ?? []
        default: throw ValidationError("give true or false")
        }
    }
}

/// The places besides the command line where an option can be given, if the table for the place has it.
struct OptionPlaces: OptionSet {
    let rawValue: UInt8

    /// A list of URLs.
    static let list = Self(rawValue: 1)
    /// The settings: config.yaml, and variables that begin with `DLM_`.
    static let settings = Self(rawValue: 2)
    static let hosts = Self(rawValue: 4)
    static let rules = Self(rawValue: 8)

    static let all: Self = [.list, .settings, .hosts, .rules]
    /// For options about one file, or about the output of a command.
    static let commandLine: Self = []
    /// For options that cannot be settings, because their value would be wrong for the next file.
    static let file: Self = [.list]
    /// For settings that cannot be set for one host.
    static let session: Self = [.settings]
    /// For options that cannot be in a list, because the list may come from another person. Most of these options run
    /// programs, or send data or the contents of files to a server.
    static let trusted: Self = [.settings, .hosts, .rules]
}

/// The names of the options that can be given in a place.
enum OptionScope {
    static let item = OptionCatalog.item.names(in: .list)
    static let settings = OptionCatalog.settings.names(in: .settings)
    static let host = OptionCatalog.settings.names(in: .hosts)
    static let rule = OptionCatalog.settings.names(in: .rules)
    /// The settings that cannot be set for one host.
    static let session = settings.filter { !host.contains($0) }
}
