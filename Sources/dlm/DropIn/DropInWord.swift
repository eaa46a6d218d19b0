/// A word of another program's command line, parsed as GNU getopt_long does.
struct DropInWord: Sendable {
    /// The option; for an operand, the option for a URL.
    let option: DropInOption
    /// The name as the user wrote it.
    let written: String
    /// The value; nil for an option without a value, and for a boolean option without `=`.
    let value: String?

    /// The place of a secret: the index of its argument, and the number of bytes before the secret.
    struct Secret: Equatable, Sendable {
        let argument: Int
        let prefix: Int
    }

    /// - Parameter arguments: The arguments without the name of the program.
    static func words(
        _ arguments: [String], of program: DropInProgram
    ) throws(DropInFailure) -> (words: [DropInWord], secrets: [Secret]) {
        var reader = Reader(program, arguments)
        while reader.index < arguments.count { try reader.readNext() }
        return (reader.words, reader.secrets)
    }

    private struct Reader {
        let program: DropInProgram
        let arguments: [String]
        var index = 0
        var words: [DropInWord] = []
        var secrets: [Secret] = []
        private let known: [String: DropInOption]

        init(_ program: DropInProgram, _ arguments: [String]) {
            (self.program, self.arguments) = (program, arguments)
            known = Dictionary(
                program.options.flatMap { option in option.names.map { ($0, option) } }, uniquingKeysWith: { $1 })
        }

        mutating func readNext() throws(DropInFailure) {
            let word = arguments[index]
            index += 1
            if word == "--" {
                for word in arguments[index...] { append(Self.operand, word, value: word) }
                index = arguments.count
            } else if word.hasPrefix("--") {
                try readLong(word)
            } else if word.hasPrefix("-"), word != "-" {
                try readLetters(word)
            } else {
                append(Self.operand, word, value: word)
            }
        }

        private static let operand = DropInOption("", .required, .part(.url))

        private mutating func append(_ option: DropInOption, _ written: String, value: String?) {
            words.append(DropInWord(option: option, written: written, value: value))
        }

        private mutating func readLong(_ word: String) throws(DropInFailure) {
            let name = String(word.prefix { $0 != "=" })
            let attached = name.count < word.count ? String(word.dropFirst(name.count + 1)) : nil
            let option = try option(long: name)
            if option.isSecret, attached != nil { hide(index - 1, name.utf8.count + 1) }
            switch option.value {
            case .none:
                if attached != nil { throw DropInFailure(program, "\(name): takes no value") }
                append(option, name, value: nil)
            case .boolean:
                guard attached == nil || attached == "true" || attached == "false" else {
                    throw DropInFailure(program, "\(name): give true or false")
                }
                append(option, name, value: attached)
            case .required:
                let value = if let attached { attached } else { try next(name, option) }
                append(option, name, value: value)
            }
        }

        /// Returns the option with a long name. As in getopt_long, a name may be shortened if no other long name begins
        /// with the same letters. A shortened name has at least three letters.
        private func option(long name: String) throws(DropInFailure) -> DropInOption {
            let begun = known[name] == nil && name.count > 4 ? known.keys.filter { $0.hasPrefix(name) } : []
            return try option(named: begun.count == 1 ? begun[0] : name)
        }

        private func option(named name: String) throws(DropInFailure) -> DropInOption {
            if let option = known[name] { return option }
            throw DropInFailure(program, name, "dlm does not know this option")
        }

        private mutating func readLetters(_ word: String) throws(DropInFailure) {
            var letters = word.dropFirst()
            while let letter = letters.first {
                let name = "-\(letter)"
                letters = letters.dropFirst()
                // In wget, several two-letter options that begin with n can be joined: -nHd is -nH -nd.
                if letter == "n", known[name] == nil, !letters.isEmpty { return try readNegations(letters) }
                let option = try option(named: name)
                switch option.value {
                case .none: append(option, name, value: nil)
                case .boolean:
                    let value = letters.first == "=" ? letters.dropFirst() : letters
                    let isValue = value == "true" || value == "false"
                    append(option, name, value: isValue ? String(value) : nil)
                    if isValue { letters = "" }
                case .required:
                    if option.isSecret, !letters.isEmpty { hide(index - 1, word.utf8.count - letters.utf8.count) }
                    append(option, name, value: letters.isEmpty ? try next(name, option) : String(letters))
                    letters = ""
                }
            }
        }

        private mutating func readNegations(_ letters: Substring) throws(DropInFailure) {
            for letter in letters {
                let name = "-n\(letter)"
                append(try option(named: name), name, value: nil)
            }
        }

        private mutating func next(_ name: String, _ option: DropInOption) throws(DropInFailure) -> String {
            guard index < arguments.count else { throw DropInFailure(program, "\(name): a value is missing") }
            if option.isSecret { hide(index, 0) }
            index += 1
            return arguments[index - 1]
        }

        private mutating func hide(_ argument: Int, _ prefix: Int) {
            secrets.append(Secret(argument: argument, prefix: prefix))
        }
    }
}
