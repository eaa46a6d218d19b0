import ArgumentParser

/// The form of an option on the command line, and the reading of its value.
struct OptionKind<Value> {
    var isFlag = false
    /// Whether the option is a flag whose opposite is the name after `no-`.
    var hasOpposite = false
    var isRepeatable = false
    var isPath = false
    /// Returns the value of an option from the texts in the order of the command line: none if the option was not
    /// given. The text of a flag is its name.
    let value: (_ texts: [String]) throws -> Value
    /// Returns the property wrapper that declares the option to the argument parser.
    let declared: (_ names: NameSpecification, _ help: String) -> Any
}

/// Options with a value. `word` is the word for the value in the help.
extension OptionKind {
    static func read<V>(
        _ word: String?, _ read: @escaping @Sendable (String) throws -> V,
        completion: @escaping @autoclosure () -> CompletionKind? = nil
    ) -> Self where Value == V? {
        Self(value: { try $0.map(read).last }) { names, help in
            Option<V?>(
                name: names, help: ArgumentHelp(help, valueName: word), completion: completion(), transform: read)
        }
    }

    static func value<V: ParsedArgument>(
        _ word: String? = nil, completion: @escaping @autoclosure () -> CompletionKind? = nil
    ) -> Self where Value == V? {
        read(word, { try V(argument: $0) }, completion: completion())
    }

    static func values<V: ParsedArgument>(_ word: String? = nil) -> Self where Value == [V] {
        Self(isRepeatable: true, value: { try $0.map(V.init(argument:)) }) { names, help in
            Option<[V]>(
                wrappedValue: [], name: names, help: ArgumentHelp(help, valueName: word),
                transform: { try V(argument: $0) })
        }
    }

    static func word<V: ExpressibleByArgument>(
        _ word: String, parsing: SingleValueParsingStrategy = .next, isPath: Bool = false,
        completion: @escaping @autoclosure () -> CompletionKind? = nil
    ) -> Self where Value == V? {
        Self(
            isPath: isPath,
            value: { texts in
                try texts.map { text in
                    guard let value = V(argument: text) else { throw ValidationError("") }
                    return value
                }.last
            },
            declared: { names, help in
                Option<V?>(
                    name: names, parsing: parsing, help: ArgumentHelp(help, valueName: word), completion: completion())
            })
    }
}

extension OptionKind<String?> {
    static func path(_ word: String, _ completion: @escaping @autoclosure () -> CompletionKind = .file()) -> Self {
        Self.word(word, isPath: true, completion: completion())
    }
}

extension OptionKind<[String]> {
    static func texts(
        _ word: String, isPath: Bool = false, completion: @escaping @autoclosure () -> CompletionKind? = nil
    ) -> Self {
        Self(isRepeatable: true, isPath: isPath, value: { $0 }) { names, help in
            Option<[String]>(
                wrappedValue: [], name: names, help: ArgumentHelp(help, valueName: word), completion: completion())
        }
    }
}

extension OptionKind<Bool> {
    static var flag: Self {
        Self(isFlag: true, value: { !$0.isEmpty }) { names, help in
            Flag(wrappedValue: false, name: names, help: ArgumentHelp(help))
        }
    }
}

extension OptionKind<Int> {
    /// A flag that can be repeated.
    static var count: Self {
        Self(isFlag: true, isRepeatable: true, value: { $0.count }) { names, help in
            Flag(name: names, help: ArgumentHelp(help))
        }
    }
}

extension OptionKind {
    /// A flag and its opposite, of which the last one counts.
    static func pair<Pair: FlagPair>() -> Self where Value == Pair? {
        Self(
            isFlag: true, hasOpposite: true,
            value: { texts in texts.last.flatMap { $0.hasPrefix("no-") ? Pair.off : Pair.on } },
            declared: { _, _ in Flag<Pair?>(exclusivity: .chooseLast) })
    }
}

/// A flag, such as `--hsts`, and its opposite, `--no-hsts`. Both have their own texts in help, manual and completions.
protocol FlagPair: EnumerableFlag {
    static var texts: (on: String, off: String) { get }
}

extension FlagPair {
    static var on: Self? { allCases.first }
    static var off: Self? { allCases.dropFirst().first }

    var isOn: Bool { self == Self.on }

    static func help(for value: Self) -> ArgumentHelp? {
        ArgumentHelp(value.isOn ? texts.on : texts.off)
    }
}

/// A value that is read from the argument of an option.
protocol ParsedArgument: Sendable {
    /// - Throws: An error whose text says which values are possible. The parser puts the text at the end of its message.
    init(argument: String) throws
}

/// The declarations of options. `value` is the word for the option's value in the help.
extension Option {
    init<T: ExpressibleByArgument>(
        _ help: String, value: String, name: NameSpecification = .long, parsing: SingleValueParsingStrategy = .next,
        completion: CompletionKind? = nil
    ) where Value == T? {
        self.init(
            name: name, parsing: parsing, help: ArgumentHelp(help, valueName: value), completion: completion)
    }

    init<T: ParsedArgument>(
        _ help: String, value: String? = nil, name: NameSpecification = .long, completion: CompletionKind? = nil
    ) where Value == T? {
        self.init(
            name: name, help: ArgumentHelp(help, valueName: value), completion: completion,
            transform: { try T(argument: $0) })
    }

    init<T: ExpressibleByArgument>(
        wrappedValue: [T], _ help: String, value: String, name: NameSpecification = .long,
        parsing: ArrayParsingStrategy = .singleValue, completion: CompletionKind? = nil
    ) where Value == [T] {
        self.init(
            wrappedValue: wrappedValue, name: name, parsing: parsing, help: ArgumentHelp(help, valueName: value),
            completion: completion)
    }
}
