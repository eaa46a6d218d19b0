import ArgumentParser

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
