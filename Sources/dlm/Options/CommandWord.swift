/// A part of a command line as POSIX divides it (Base Definitions, section 12.2). Letters of several short options may
/// be in one word, and a value may be attached to its letter.
struct CommandWord: Equatable {
    enum Kind: Equatable {
        case operand
        case option(String)
        /// A word with an option that the command does not have.
        case unknown
        case missingDash
    }

    let kind: Kind
    /// The arguments for the parser. The arguments of an option include the option's value.
    let arguments: [String]

    /// The value of an option; nil if it has none.
    var value: String? {
        if arguments.count > 1 { return arguments[1] }
        return arguments[0].firstIndex(of: "=").map { String(arguments[0][arguments[0].index(after: $0)...]) }
    }

    /// Divides the arguments of a command line.
    /// - Parameters:
    ///   - arguments: the arguments after the name of the command.
    ///   - catalog: the options of the command.
    static func words(_ arguments: ArraySlice<String>, _ catalog: OptionCatalog) -> [CommandWord] {
        var rest = arguments
        var words: [CommandWord] = []
        while let word = rest.popFirst() {
            if word == "--" {
                words.append(CommandWord(kind: .operand, arguments: [word] + rest))
                break
            } else if word.hasPrefix("--") {
                words.append(long(word, &rest, catalog))
            } else if word.hasPrefix("-"), word != "-" {
                words += short(word, &rest, catalog)
            } else {
                words.append(CommandWord(kind: .operand, arguments: [word]))
            }
        }
        return words
    }

    private static func long(
        _ word: String, _ rest: inout ArraySlice<String>, _ catalog: OptionCatalog
    ) -> CommandWord {
        let name = word.dropFirst(2).prefix { $0 != "=" }
        guard let option = catalog.option(named: name) else { return CommandWord(kind: .unknown, arguments: [word]) }
        let isWhole = option.isFlag || name.count + 2 < word.count
        let value = isWhole ? nil : rest.popFirst()
        return CommandWord(kind: .option(option.name), arguments: [word] + (value.map { [$0] } ?? []))
    }

    /// Divides a word of short options. If one of the letters is unknown, the whole word is unknown.
    private static func short(
        _ word: String, _ rest: inout ArraySlice<String>, _ catalog: OptionCatalog
    ) -> [CommandWord] {
        let name = word.dropFirst().prefix { $0 != "=" }
        // Without this check, `-output x` would mean `-o utput`, and dlm would write a file "utput".
        if name.count > 2, catalog.option(named: name) != nil {
            return [CommandWord(kind: .missingDash, arguments: [word])]
        }
        var words: [CommandWord] = []
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = catalog.option(letter: letter) else {
                return [CommandWord(kind: .unknown, arguments: [word])]
            }
            var arguments = ["-\(letter)"]
            if !option.isFlag {
                if letters.isEmpty {
                    if let value = rest.popFirst() { arguments.append(value) }
                } else {
                    let value = letters.first == "=" ? letters.dropFirst() : letters
                    // The parser accepts `-x=4`, but no empty value in this form.
                    arguments = value.isEmpty ? ["-\(letter)", ""] : ["-\(letter)=\(value)"]
                    letters = ""
                }
            }
            words.append(CommandWord(kind: .option(option.name), arguments: arguments))
        }
        return words
    }
}
