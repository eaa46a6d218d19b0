/// The words of a command line, divided much faster than by the argument parser.
struct ScannedWords {
    /// The options in order, each with its value; with its name if it is a flag.
    private var options: [(name: String, text: String)] = []
    /// The words that are neither options nor values of options.
    var operands: [String] = []

    init() {}

    /// Returns nil if a word is wrong, or if the parser may read it differently.
    init?(_ arguments: some Collection<String>, _ catalog: OptionCatalog) {
        for word in CommandWord.words(ArraySlice(arguments), catalog) {
            let first = word.arguments[0]
            switch word.kind {
            case .unknown, .missingDash: return nil
            case .operand:
                // The parser compares whole characters, and a dash with a combining mark is another character.
                if Self.beginsWithDash(first) { return nil }
                operands.append(first)
            case .option(let name):
                let value = word.value
                // The parser reads a separate value with a dash as an option, and `--name=` as an option without value.
                if word.arguments.count > 1 ? Self.beginsWithDash(word.arguments[1]) : value == "" { return nil }
                guard (value == nil) == catalog.option(named: name)?.isFlag else { return nil }
                options.append((name, value ?? name))
            }
        }
    }

    private static func beginsWithDash(_ word: String) -> Bool {
        word.utf8.first == UInt8(ascii: "-") && word.utf8.count > 1
    }

    /// Returns the values of an option. For a flag, returns its name each time that it was given.
    /// - Parameter orOpposite: whether the flag's opposite is returned, too.
    func texts(of name: String, orOpposite: Bool) -> [String] {
        if options.isEmpty { return [] }
        let opposite = orOpposite ? "no-" + name : nil
        return options.filter { $0.name == name || $0.name == opposite }.map(\.text)
    }
}
