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

    /// Adds a part of a section.
    mutating func part(_ name: String, body: String = "") {
        text += ".SS \(name)\n"
        if !body.isEmpty { text += body + "\n" }
    }

    mutating func append(_ section: ManualSection) {
        begin(section.title)
        for (index, part) in section.parts.enumerated() {
            switch part {
            case .text(let body) where index == 0: text += Self.escaped(body) + "\n"
            case .text(let body): paragraph(Self.escaped(body))
            case .block(let lines): block(lines)
            case .entry(let name, let meaning): entry("\\fB\(Self.escaped(name))\\fR", Self.escaped(meaning))
            }
        }
    }

    mutating func entry(_ heading: String, _ body: String) { text += ".TP\n\(heading)\n\(body)\n" }

    mutating func examples(_ examples: [(command: String, meaning: String)]) {
        begin("EXAMPLES")
        for (index, example) in examples.enumerated() {
            // The first example needs no `.PP`, because a section heading starts a paragraph.
            if index > 0 { text += ".PP\n" }
            text += Self.escaped(example.meaning) + "\n"
            block(example.command)
        }
    }

    /// Adds lines, such as commands or the lines of a file, that are shown with exactly these line breaks.
    mutating func block(_ lines: String) {
        let escaped = lines.split(separator: "\n", omittingEmptySubsequences: false).map { Self.escaped(String($0)) }
        text += ".PP\n.RS\n.nf\n\(escaped.joined(separator: "\n"))\n.fi\n.RE\n"
    }

    mutating func paragraph(_ body: String) { text += ".PP\n\(body)\n" }

    /// Returns plain text in the man(7) language, without accidental macros and with hyphens that can be copied.
    static func escaped(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
