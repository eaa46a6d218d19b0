/// A bar in steps of half a column.
struct ProgressBar {
    var received: Int64
    var total: Int64?
    var columns: Int

    /// - Parameter isAtWork: Whether the download is running. Otherwise an incomplete bar is dim.
    func text(_ style: Style, isAtWork: Bool = true) -> String {
        let halves = halves
        let full = halves / 2
        let hasHalf = halves % 2 == 1
        let rest = columns - full - (hasHalf ? 1 : 0)
        let (line, half, track) = style.isUnicode ? ("━", "╸", "─") : ("=", "-", " ")
        let done = String(repeating: line, count: full) + (hasHalf ? half : "")
        let isComplete = full == columns
        let filled = isComplete ? style.good(done) : isAtWork ? style.accent(done) : style.dim(done)
        return filled + style.dim(String(repeating: track, count: rest))
    }

    /// The number of filled half columns. All half columns are filled only if all bytes were received.
    private var halves: Int {
        guard let total else { return 0 }
        if received >= total { return columns * 2 }
        return Int(max(0, min(Double(received) / Double(total) * Double(columns * 2), Double(columns * 2 - 1))))
    }
}
