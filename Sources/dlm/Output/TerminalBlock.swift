/// The lines that are drawn over and over at the bottom of a terminal, as escape sequences. The cursor always rests at
/// the start of the line below them and is never hidden, so that there is nothing to restore however dlm ends.
struct TerminalBlock {
    private var lines: [String] = []
    /// What is drawn in their place when something is said above them.
    private var next: [String]?
    private var columns = 0

    var isEmpty: Bool { lines.isEmpty }

    /// Replaces the block; lines that have not moved are written over in place, which does not flicker.
    mutating func draw(_ new: [String], columns: Int) -> String {
        var text = columns == self.columns ? moveUp(lines.count) : erase(columns: columns)
        for line in new { text += line + "\u{1B}[K\n" }
        if new.count < lines.count { text += "\u{1B}[J" }
        lines = new
        next = nil
        self.columns = columns
        return text
    }

    /// What to send before and after a text that stays above the block.
    mutating func around(columns: Int) -> (before: String, after: String) {
        let block = next ?? lines
        return (erase(columns: columns), draw(block, columns: columns))
    }

    /// The lines are no longer true: they are replaced by these as soon as something is said above them.
    mutating func outdate(by lines: [String]) { if !isEmpty { next = lines } }

    /// Takes the block away.
    mutating func erase(columns: Int) -> String {
        guard !lines.isEmpty else { return "" }
        let text = moveUp(rows(columns)) + "\u{1B}[J"
        lines = []
        next = nil
        return text
    }

    /// Rows that the lines take since a narrower terminal broke them.
    private func rows(_ columns: Int) -> Int {
        guard columns > 0, columns < self.columns else { return lines.count }
        return lines.reduce(0) { $0 + max(1, (DisplayWidth.of($1) + columns - 1) / columns) }
    }

    private func moveUp(_ rows: Int) -> String { rows == 0 ? "" : "\r\u{1B}[\(rows)A" }
}
