/// A bar in steps of half a column.
struct ProgressBar {
    var received: Int64
    /// Nil: the track alone.
    var total: Int64?
    var columns: Int

    func text(_ style: Style) -> String {
        let halves = halves
        let full = halves / 2
        let hasHalf = halves % 2 == 1
        let rest = columns - full - (hasHalf ? 1 : 0)
        let (line, half, track) = style.isUnicode ? ("━", "╸", "─") : ("=", "-", " ")
        let done = String(repeating: line, count: full) + (hasHalf ? half : "")
        let isComplete = full == columns
        return (isComplete ? style.good(done) : style.accent(done)) + style.dim(String(repeating: track, count: rest))
    }

    /// All of them only for all bytes.
    private var halves: Int {
        guard let total else { return 0 }
        if received >= total { return columns * 2 }
        return Int(max(0, min(Double(received) / Double(total) * Double(columns * 2), Double(columns * 2 - 1))))
    }
}
