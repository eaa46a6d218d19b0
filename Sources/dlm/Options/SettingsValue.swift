import ArgumentParser

/// How the text of a setting is read where the option has no type of its own; errors say what is expected.
enum SettingsValue {
    static func number(_ text: String, in range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw ValidationError("give a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    static func positive(_ text: String) throws -> Seconds {
        let time = try Seconds(argument: text)
        guard time.value > 0 else { throw ValidationError("give a time of more than 0") }
        return time
    }

    /// 0 is refused: some would mean for ever by it, others not at all.
    static func age(_ text: String) throws -> Seconds? {
        if text.lowercased() == "none" { return nil }
        guard let age = try? Seconds(argument: text), age.value > 0 else {
            throw ValidationError("give an age such as 30d or 12h, or none to keep it for ever")
        }
        return age
    }
}
