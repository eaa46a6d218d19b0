/// A line that the user types into a display that reads keys one by one.
enum TypedLine {
    /// Returns the line after a key, or nil if the key does not edit the line. Of a paste, the first line is used.
    static func edited(_ text: String, _ key: Key) -> String? {
        switch key {
        case .character(let character): text + String(character)
        case .backspace: String(text.dropLast())
        case .deleteLine: ""
        case .paste(let pasted):
            text + pasted.prefix { !$0.isNewline }.filter { Escaping.line(String($0)) == String($0) }
        default: nil
        }
    }

    /// Returns a line of at most `room` columns. Of a long text, the end is shown, where the user types.
    static func shown(_ label: String, _ text: String, room: Int, _ style: Style) -> String {
        let label = DisplayWidth.cutEnd(label, to: room / 2)
        // Each character takes a column at least, or is part of a character that does.
        var text = Escaping.line(String(text.suffix(room)))
        while DisplayWidth.of(text) > room - DisplayWidth.of(label) - 1 { text.removeFirst() }
        return label + text + style.selected(" ")
    }
}
