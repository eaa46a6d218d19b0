import ArgumentParser
import Synchronization

/// The arguments of a command line in the form for the parser. Aliases of commands are replaced, and a URL without a
/// command becomes `get URL`. Joined short options are separated, and an attached value gets a `=`.
enum GivenArguments {
    /// - Throws: A usage error if a long option has only one dash, because the parser would read it as short options.
    static func normalized(_ arguments: [String]) throws(ValidationError) -> [String] {
        let named = CommandAlias.resolved(arguments)
        // Collecting the options of the command is slow. Most command lines need no change, so it is not done for them.
        guard named.contains(where: isCluster), let (path, catalog) = command(of: named) else { return named }
        let words = CommandWord.words(named.dropFirst(path), catalog)
        if let word = words.first(where: { $0.kind == .missingDash })?.arguments.first {
            let name = word.dropFirst().prefix { $0 != "=" }
            throw ValidationError("unknown option '\(word)'; did you mean '--\(name)'?")
        }
        return named.prefix(path) + words.flatMap(\.arguments)
    }

    /// Returns whether a word may be the letters of several options, or a letter with its value: one dash and at least
    /// two more bytes.
    private static func isCluster(_ word: String) -> Bool {
        word.utf8.count > 2 && word.hasPrefix("-") && !word.hasPrefix("--")
    }

    /// Returns the options of the command that a command line begins with, and the number of words in the command's
    /// name.
    static func command(of arguments: [String]) -> (words: Int, catalog: OptionCatalog)? {
        var type: any ParsableCommand.Type = DLM.self
        var count = 0
        for word in arguments {
            let next = type.configuration.subcommands.first { command in
                let configuration = command.configuration
                return ([configuration.commandName ?? ""] + configuration.aliases).contains(word)
            }
            guard let next else { break }
            (type, count) = (next, count + 1)
        }
        return count == 0 ? nil : (count, catalog(of: type, path: arguments.prefix(count).joined(separator: " ")))
    }

    /// The options of commands by command name, collected once for each command.
    private static let catalogs = Mutex<[String: OptionCatalog]>([:])

    private static func catalog(of type: any ParsableCommand.Type, path: String) -> OptionCatalog {
        if let known = catalogs.withLock({ $0[path] }) { return known }
        let catalog = OptionCatalog(type)
        catalogs.withLock { $0[path] = catalog }
        return catalog
    }
}
