/// The lines at the bottom of a terminal that are drawn again and again, with escape sequences. The cursor always stays
/// at the start of the line below the block, and is never hidden. So nothing has to be restored when dlm ends, even if
/// dlm is killed.
struct TerminalBlock {
    private var lines: [String] = []
    /// The lines that replace ``lines`` when the next text is printed above the block.
    private var next: [String]?
    private var columns = 0

    var isEmpty: Bool { lines.isEmpty }

    /// Returns the text that replaces the block. If the width has not changed, overwriting in place does not flicker.
    mutating func draw(_ new: [String], columns: Int) -> String {
        var text = columns == self.columns ? moveUp(lines.count) : erase(columns: columns)
        for line in new { text += line + "\u{1B}[K\n" }
        if new.count < lines.count { text += "\u{1B}[J" }
        lines = new
        next = nil
        self.columns = columns
        return text
    }

    /// Returns the texts to send before and after a text that is printed above the block.
    mutating func around(columns: Int) -> (before: String, after: String) {
        let block = next ?? lines
        return (erase(columns: columns), draw(block, columns: columns))
    }

    mutating func outdate(by lines: [String]) { if !isEmpty { next = lines } }

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
