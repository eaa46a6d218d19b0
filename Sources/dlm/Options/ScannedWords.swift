import ArgumentParser

/// A reader of command lines that is several times as fast as the argument parser. Each option reads its value by name,
/// and gets the same value as from the parser. If there is an error, or if the parser may read a word differently, the
/// whole command line is declined, and the parser reads it.
struct ScannedWords {
    private struct Option {
        /// The long name; nil for a letter.
        let name: Substring?
        let letter: Character?
        /// The attached value, which follows `=` or the letter; nil if no value is attached.
        let value: Substring?
        /// The position of the next word, which may be the option's value; nil if other letters follow in the same
        /// word.
        let next: Int?
        /// The part of the word between its dash and `=`; nil for a long option, and if the word has only one letter.
        var cluster: Substring?
        var isRead = false
    }

    private var options: [Option] = []
    /// The words by position. An element is nil if the word is an option, or has been read.
    private var operands: [String?] = []
    private var isDeclined = false
    /// The options that were read, in order. Nil unless ``asked(by:)`` collects them.
    private var asked: [OptionCatalog.Option]?

    init(_ arguments: some Sequence<String>) {
        for word in arguments {
            let isOperand = word.utf8.first != UInt8(ascii: "-") || word.utf8.count == 1
            operands.append(isOperand ? word : nil)
            if !isOperand { addOption(word) }
        }
    }

    private mutating func addOption(_ word: String) {
        let equals = word.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = word[..<(equals ?? word.endIndex)]
        let value = equals.map { word[word.utf8.index(after: $0)...] }
        // The parser compares whole characters, and a dash or an equals sign with a combining mark is another
        // character. Such words are declined.
        guard word.hasPrefix("-") else { return decline() }
        guard !word.hasPrefix("--") else {
            let isMarked = equals.map { word[$0] == "=" } ?? true
            if name.utf8.count < 3 || value?.isEmpty ?? false || !isMarked { decline() }
            options.append(Option(name: name.dropFirst(2), letter: nil, value: value, next: operands.count))
            return
        }
        var letters = word.dropFirst()
        let cluster = letters.utf8.count > 1 ? name.dropFirst() : nil
        while let letter = letters.popFirst() {
            let isLast = letters.isEmpty
            if ArgumentSecrets.Option.flags.contains(letter.asciiValue ?? 0) {
                let next = isLast ? operands.count : nil
                options.append(Option(name: nil, letter: letter, value: nil, next: next, cluster: cluster))
                continue
            }
            if letters.first == "=" { letters.removeFirst() }
            if !isLast, letters.isEmpty { decline() }
            let value = isLast ? nil : letters
            options.append(
                Option(name: nil, letter: letter, value: value, next: operands.count, cluster: cluster))
            break
        }
    }

    private mutating func decline() { isDeclined = true }

    // MARK: Options

    /// Returns the value of an option, and marks the option as read.
    mutating func callAsFunction<Value>(
        _ name: String, letter: Character? = nil, _ kind: OptionKind<Value>
    ) -> Value {
        let positions = positions(name, letter, kind)
        do {
            return try kind.value(kind.isFlag ? positions.map { _ in name } : texts(at: positions))
        } catch {
            decline()
            return kind.none
        }
    }

    /// Returns the flag that comes last on the command line, of a flag and its opposite.
    mutating func pair<Flag: FlagPair>(_ name: String) -> Flag? {
        var last: (position: Int, flag: Flag)?
        for (name, flag) in zip([name, "no-" + name], Flag.allCases) {
            let position = positions(name, nil, .flag).last
            if let position, position > last?.position ?? -1 { last = (position, flag) }
        }
        return last?.flag
    }

    /// Returns the indices in ``options`` of the options with a name, and marks these options as read.
    private mutating func positions<Value>(
        _ name: String, _ letter: Character?, _ kind: OptionKind<Value>
    ) -> [Int] {
        asked?.append(
            OptionCatalog.Option(
                name: name, letter: letter, isFlag: kind.isFlag, isRepeatable: kind.isRepeatable, isPath: kind.isPath))
        if options.isEmpty { return [] }
        return options.indices.filter { index in
            let option = options[index]
            // A long option with only one dash is an error, which the parser must report.
            if let cluster = option.cluster, cluster == name { decline() }
            guard option.name.map({ $0 == name }) ?? (option.letter == letter) else { return false }
            if kind.isFlag, option.value != nil { decline() }
            options[index].isRead = true
            return true
        }
    }

    private mutating func texts(at positions: [Int]) -> [String] {
        positions.map { index in
            let option = options[index]
            if let value = option.value { return String(value) }
            guard let next = option.next, operands.indices.contains(next), let value = operands[next] else {
                decline()
                return ""
            }
            operands[next] = nil
            return value
        }
    }

    /// Returns the words that are neither options nor values of options. It must be called after all options were read.
    mutating func rest() -> [String] {
        defer { operands = [] }
        return operands.compactMap(\.self)
    }

    // MARK: Groups

    mutating func group<Group: ScannedGroup>() -> Group {
        var group = Group()
        group.read(&self)
        do { try group.validate() } catch { decline() }
        return group
    }

    /// Returns the options that the given type reads.
    static func asked(by options: (some ScannedOptions).Type) -> [OptionCatalog.Option] {
        var words = Self([])
        words.asked = []
        _ = options.init(&words)
        return words.asked ?? []
    }

    /// Whether all words have been read, with the same result as from the parser.
    fileprivate var areRead: Bool {
        !isDeclined && options.allSatisfy(\.isRead) && operands.allSatisfy { $0 == nil }
    }
}

/// A group of options that can be read without the argument parser.
protocol ScannedGroup: ParsableArguments {
    /// Sets every property, also the properties of options that the command line does not have.
    mutating func read(_ words: inout ScannedWords)
}

/// Options in plain properties, without the property wrappers of the argument parser. With the wrappers, the Swift
/// runtime would search all types of the program for each group, which is slow.
protocol ScannedOptions {
    /// The same options for the argument parser.
    associatedtype Arguments: ParsableArguments

    init(_ arguments: Arguments)
    init(_ words: inout ScannedWords)
    func validate() throws
}

extension ScannedOptions {
    func validate() throws {}

    /// Returns nil if the parser must read the arguments.
    static func scanned(_ arguments: some Sequence<String>) -> Self? {
        var words = ScannedWords(arguments)
        let options = Self(&words)
        guard words.areRead else { return nil }
        do { try options.validate() } catch { return nil }
        return options
    }

    /// Reads arguments that come from a file or from the environment instead of a command line.
    static func read(_ arguments: [String]) throws -> Self {
        try scanned(arguments) ?? Self(Arguments.parse(arguments))
    }
}
