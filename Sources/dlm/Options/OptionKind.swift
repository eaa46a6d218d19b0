import ArgumentParser

/// The form of an option on the command line, and the reading of its value.
struct OptionKind<Value> {
    /// Whether the option has no value.
    var isFlag = false
    var isRepeatable = false
    /// Whether the value is the name of a file or a folder.
    var isPath = false
    /// The value after an error.
    let none: Value
    /// Returns the value of an option from the texts in the order of the command line: none if the option was not given.
    let value: (_ texts: [String]) throws -> Value

    static func value<V>(_ read: @escaping (String) throws -> V) -> Self where Value == V? {
        Self(none: nil) { try $0.map(read).last }
    }

    static func value<V: ParsedArgument>() -> Self where Value == V? { value(V.init(argument:)) }

    static func values<V: ParsedArgument>() -> Self where Value == [V] {
        Self(isRepeatable: true, none: []) { try $0.map(V.init(argument:)) }
    }

    static func word<V: ExpressibleByArgument>() -> Self where Value == V? {
        value { text in
            guard let value = V(argument: text) else { throw ValidationError("") }
            return value
        }
    }
}

extension OptionKind<String?> {
    static var text: Self { Self(none: nil) { $0.last } }
    static var path: Self { Self(isPath: true, none: nil) { $0.last } }
}

extension OptionKind<[String]> {
    static var texts: Self { Self(isRepeatable: true, none: []) { $0 } }
    static var paths: Self { Self(isRepeatable: true, isPath: true, none: []) { $0 } }
}

extension OptionKind<Bool> {
    static var flag: Self { Self(isFlag: true, none: false) { !$0.isEmpty } }
}

extension OptionKind<Int> {
    /// A flag that can be repeated.
    static var count: Self { Self(isFlag: true, isRepeatable: true, none: 0) { $0.count } }
}
