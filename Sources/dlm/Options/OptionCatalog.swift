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

    /// What switches a flag off that is on unless said otherwise.
    func opposite(of flag: Option) -> Option? { options["no-\(flag.name)"] }

    /// The one that was probably meant.
    static func nearest(to word: String, in names: [String]) -> String? {
        // Far longer than any name: the comparison would only take its time.
        guard word.count <= 64 else { return nil }
        let distances = names.map { ($0, UnknownCommand.distance(word, $0)) }
        guard let (name, distance) = distances.min(by: { $0.1 < $1.1 }),
            distance <= max(1, min(word.count, name.count) / 2)
        else { return nil }
        return name
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
