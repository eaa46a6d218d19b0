import ArgumentParser

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
