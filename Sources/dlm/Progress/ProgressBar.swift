/// A bar in steps of half a column.
struct ProgressBar {
    var received: Int64
    /// The total number of bytes; nil if unknown, which draws only the track.
    var total: Int64?
    var columns: Int

    /// Returns the bar as text.
    /// - Parameter isAtWork: whether the download is at work. Otherwise the bar is not coloured.
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

    /// The number of filled half columns. All of them are filled only if all bytes are there.
    private var halves: Int {
        guard let total else { return 0 }
        if received >= total { return columns * 2 }
        return Int(max(0, min(Double(received) / Double(total) * Double(columns * 2), Double(columns * 2 - 1))))
    }
}
