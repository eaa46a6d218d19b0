/// Text in the man(7) language.
struct Roff {
    private(set) var text: String

    init(title: String, version: String) {
        text = ".TH \"\(title.uppercased())\" 1 \"\" \"\(version)\" \"dlm manual\"\n"
    }

    mutating func begin(_ section: String) { text += ".SH \(section)\n" }

    mutating func section(_ name: String, _ body: String) {
        begin(name)
        text += body + "\n"
    }

    /// Of a section.
    mutating func part(_ name: String, _ body: String) { text += ".SS \(name)\n\(body)\n" }

    mutating func entry(_ heading: String, _ body: String) { text += ".TP\n\(heading)\n\(body)\n" }

    mutating func examples(_ examples: [(command: String, meaning: String)]) {
        begin("EXAMPLES")
        for example in examples {
            text += ".PP\n\(Self.escaped(example.meaning))\n.PP\n.RS\n.nf\n\(Self.escaped(example.command))\n.fi\n.RE\n"
        }
    }

    /// Plain text as it must be written: no accidental macro, hyphens that can be copied.
    static func escaped(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
