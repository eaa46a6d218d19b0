import ArgumentParser
import Foundation

/// The long options of a command, for options that are written as text: below the URLs of a list and as settings. No
/// option has to be listed for it: the parser knows them, and so does the code that reads scanned words.
struct OptionCatalog: Sendable {
    struct Option: Sendable, Equatable {
        let name: String
        let isFlag: Bool
        let isRepeatable: Bool
        /// The name of a file or a folder.
        let isPath: Bool
    }

    private let options: [String: Option]
    /// Long names by the letters of short options.
    private let letters: [Character: String]

    /// In the order of the help.
    let names: [String]

    /// Asks the parser, which takes some milliseconds.
    init(_ type: (some ParsableArguments).Type) {
        let arguments = CommandDescription.arguments(of: type)
        let named = arguments.compactMap { argument in
            argument.longName.map {
                Option(
                    name: $0, isFlag: argument.kind == "flag", isRepeatable: argument.isRepeating,
                    isPath: argument.isPath)
            }
        }
        let letters = arguments.reduce(into: [Character: String]()) { letters, argument in
            guard let name = argument.longName else { return }
            for short in argument.names ?? [] where short.kind == "short" {
                if let letter = short.name.first { letters[letter] = name }
            }
        }
        self.init(named, letters)
    }

    /// Takes the options that are asked for when words are scanned. It knows no letters.
    init(scannedBy options: (some ScannedOptions).Type) { self.init(ScannedWords.asked(by: options)) }

    private init(_ named: [Option], _ letters: [Character: String] = [:]) {
        let options = Dictionary(named.map { ($0.name, $0) }) { first, _ in first }
        self.options = options
        self.letters = letters
        names = named.map(\.name).filter { name in
            // The opposite of a flag is said by false.
            let isOpposite = name.hasPrefix("no-") && options[String(name.dropFirst(3))]?.isFlag ?? false
            return !isOpposite && name != "help" && name != "version"
        }
    }

    /// Those of one download.
    static let item = OptionCatalog(scannedBy: ItemOptions.self)

    /// Those outside of the command line.
    static let settings = OptionCatalog(scannedBy: SettingOptions.self)

    /// Those of a command line.
    static let get = OptionCatalog(GetCommand.self)

    subscript(name: String) -> Option? { names.contains(name) ? options[name] : nil }

    /// Returns the option with this long name, including `help`, `version` and the opposites of flags.
    func option(named name: some StringProtocol) -> Option? { options[String(name)] }

    /// Returns the option with this short name.
    func option(letter: Character) -> Option? { letters[letter].flatMap { options[$0] } }

    /// What switches a flag off that is on unless said otherwise.
    func opposite(of flag: Option) -> Option? { options["no-\(flag.name)"] }

    /// The one that was probably meant.
    static func nearest(to word: String, in names: [String]) -> String? {
        guard let (name, distance) = ranked(names, by: word).first,
            distance <= max(1, min(word.count, name.count) / 2)
        else { return nil }
        return name
    }

    /// The end of a message about a key that nothing has: the name that was probably meant, or the three nearest ones.
    static func hint(for word: String, in names: [String]) -> String {
        if let name = nearest(to: word, in: names) { return "did you mean '\(name)'?" }
        let near = ranked(names, by: word).prefix(3).map { "'\($0.name)'" }
        guard near.count == 3 else { return "run: dlm get --help-all" }
        return "the nearest are \(near[0]), \(near[1]) and \(near[2])"
    }

    /// The nearest name first. Nothing for a word far longer than any name: the comparison would only take its time.
    private static func ranked(_ names: [String], by word: String) -> [(name: String, distance: Int)] {
        guard word.count <= 64 else { return [] }
        let distances = names.enumerated().map { ($0.offset, $0.element, UnknownCommand.distance(word, $0.element)) }
        return distances.sorted { ($0.2, $0.0) < ($1.2, $1.0) }.map { (name: $0.1, distance: $0.2) }
    }
}

extension OptionCatalog.Option {
    /// Bytes of a value.
    private static let longest = 8 << 10

    /// As the parser takes it: one argument, so that no value becomes another option. Nothing for a flag that is off
    /// and has no opposite.
    func arguments(_ value: String, in catalog: OptionCatalog) throws(ValidationError) -> [String] {
        // The parser's time grows faster than what it is given.
        guard value.utf8.count <= Self.longest else { throw ValidationError("longer than 8 KiB") }
        // The parser takes no value from "--name=".
        guard isFlag else { return value.isEmpty ? ["--\(name)", ""] : ["--\(name)=\(value)"] }
        switch value.lowercased() {
        case "true", "yes", "on": return ["--\(name)"]
        case "false", "no", "off": return catalog.opposite(of: self).map { ["--\($0.name)"] } ?? []
        default: throw ValidationError("give true or false")
        }
    }
}
