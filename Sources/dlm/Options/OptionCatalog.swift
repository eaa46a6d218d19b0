import ArgumentParser
import Foundation

/// The long options of a command, for options that are written as text: below the URLs of a list and as settings. Made
/// of what the parser knows, so that no option has to be listed twice.
struct OptionCatalog: Sendable {
    struct Option: Sendable, Equatable {
        let name: String
        let isFlag: Bool
        let isRepeatable: Bool
        /// The name of a file or a folder.
        let isPath: Bool
        /// What it is where nobody gives it, if the parser knows.
        let standard: String?
        let abstract: String
    }

    private let options: [String: Option]
    /// Long names by the letters of short options.
    private let letters: [Character: String]

    /// In the order of the help.
    let names: [String]

    init(_ type: (some ParsableArguments).Type) {
        let arguments = (try? CommandDescription(dump: type._dumpHelp()).visibleArguments) ?? []
        let named = arguments.compactMap { argument -> Option? in
            guard let name = argument.names?.first(where: { $0.kind == "long" })?.name else { return nil }
            return Option(
                name: name, isFlag: argument.kind == "flag", isRepeatable: argument.isRepeating,
                isPath: argument.isPath, standard: argument.defaultValue,
                abstract: argument.abstract ?? "")
        }
        let options = Dictionary(named.map { ($0.name, $0) }) { first, _ in first }
        self.options = options
        letters = arguments.reduce(into: [:]) { letters, argument in
            guard let name = argument.names?.first(where: { $0.kind == "long" })?.name else { return }
            for short in argument.names ?? [] where short.kind == "short" {
                if let letter = short.name.first { letters[letter] = name }
            }
        }
        names = named.map(\.name).filter { name in
            // The opposite of a flag is said by false.
            let isOpposite = name.hasPrefix("no-") && options[String(name.dropFirst(3))]?.isFlag ?? false
            return !isOpposite && name != "help" && name != "version"
        }
    }

    /// Those of one download.
    static let item = OptionCatalog(ItemOptions.self)

    /// Those outside of the command line.
    static let settings = OptionCatalog(SettingOptions.self)

    /// Those of a command line.
    static let get = OptionCatalog(Get.self)

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
