/// The text of `dlm doctor`: the findings with their advice, and the number of problems and warnings at the end.
struct FindingText {
    let style: Style

    func lines(_ findings: [Finding]) -> [String] {
        let width = findings.map { DisplayWidth.of($0.name) }.max() ?? 0
        var lines: [String] = []
        var section: Finding.Section?
        for finding in findings {
            if finding.section != section {
                if section != nil { lines.append("") }
                lines.append(Self.title(finding.section))
                section = finding.section
            }
            let name = DisplayWidth.padded(finding.name, to: width)
            lines.append("  \(mark(finding.result))  \(name)  \(Escaping.line(finding.detail))")
            if let advice = finding.advice {
                let indent = String(repeating: " ", count: Self.markWidth + width + 6)
                lines.append(indent + style.dim("-> ") + Escaping.line(advice))
            }
        }
        return lines + ["", sum(findings)]
    }

    private static let markWidth = 7

    private func mark(_ result: Finding.Result) -> String {
        let word = DisplayWidth.padded(result.rawValue, to: Self.markWidth)
        return switch result {
        case .ok: style.good(word)
        case .warning: style.accent(word)
        case .problem: style.bad(word)
        }
    }

    private func sum(_ findings: [Finding]) -> String {
        let warnings = findings.count { $0.result == .warning }
        let problems = findings.count { $0.result == .problem }
        let counts = [(problems, "problem"), (warnings, "warning")].filter { $0.0 > 0 }
            .map { Units.count($0, $1) }
        return counts.isEmpty ? style.good("all is well") : counts.joined(separator: ", ")
    }

    private static func title(_ section: Finding.Section) -> String {
        switch section {
        case .transfers: "Transfers"
        case .settings: "Settings"
        case .folders: "Folders"
        case .files: "File systems"
        case .sessions: "Sessions and store"
        case .request: "Request"
        }
    }
}
