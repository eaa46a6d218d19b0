/// The lines that are drawn over and over at the bottom of a terminal, with escape sequences. The cursor always rests
/// at the start of the line below the block and is never hidden. So nothing has to be restored when dlm ends, whatever
/// the reason is.
struct TerminalBlock {
    private var lines: [String] = []
    /// The lines that replace ``lines`` when the next text is printed above the block.
    private var next: [String]?
    private var columns = 0

    var isEmpty: Bool { lines.isEmpty }

    /// Returns the text that replaces the block. While the width of the terminal is the same, the old lines are
    /// overwritten in place, which does not flicker.
    mutating func draw(_ new: [String], columns: Int) -> String {
        var text = columns == self.columns ? moveUp(lines.count) : erase(columns: columns)
        for line in new { text += line + "\u{1B}[K\n" }
        if new.count < lines.count { text += "\u{1B}[J" }
        lines = new
        next = nil
        self.columns = columns
        return text
    }

    /// Returns what to send before and after a text that stays above the block.
    mutating func around(columns: Int) -> (before: String, after: String) {
        let block = next ?? lines
        return (erase(columns: columns), draw(block, columns: columns))
    }

    /// Sets lines that replace the outdated ones as soon as a text is printed above the block.
    mutating func outdate(by lines: [String]) { if !isEmpty { next = lines } }

    /// Returns the text that removes the block.
    mutating func erase(columns: Int) -> String {
        guard !lines.isEmpty else { return "" }
        let text = moveUp(rows(columns)) + "\u{1B}[J"
        lines = []
        next = nil
        return text
    }

    /// Returns the number of terminal rows that the lines take. A terminal that was made narrower breaks long lines.
    private func rows(_ columns: Int) -> Int {
        guard columns > 0, columns < self.columns else { return lines.count }
        return lines.reduce(0) { $0 + max(1, (DisplayWidth.of($1) + columns - 1) / columns) }
    }

    private func moveUp(_ rows: Int) -> String { rows == 0 ? "" : "\r\u{1B}[\(rows)A" }
}
