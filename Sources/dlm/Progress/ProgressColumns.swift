/// The columns of a progress line that there is room for, and their widths. Pure.
struct ProgressColumns: Equatable {
    static let percent = 4
    static let size = 13
    static let speed = 10
    static let left = 7
    static let gap = 2

    private(set) var name = 0
    private(set) var bar = 0
    private(set) var hasSize = false
    private(set) var hasSpeed = false
    private(set) var hasLeft = false

    /// Of size, speed and time left together, each with the gap before it.
    var details: Int {
        (hasSize ? Self.gap + Self.size : 0) + (hasSpeed ? Self.gap + Self.speed : 0)
            + (hasLeft ? Self.gap + Self.left : 0)
    }

    private static let shortestBar = 10
    private static let longestBar = 40

    /// From all to nothing but name and percent.
    private static let tiers = [
        ProgressColumns(bar: shortestBar, hasSize: true, hasSpeed: true, hasLeft: true),
        ProgressColumns(hasSize: true, hasSpeed: true, hasLeft: true),
        ProgressColumns(hasSpeed: true, hasLeft: true),
        ProgressColumns(hasSpeed: true),
        ProgressColumns(),
    ]

    private init(bar: Int = 0, hasSize: Bool = false, hasSpeed: Bool = false, hasLeft: Bool = false) {
        self.bar = bar
        self.hasSize = hasSize
        self.hasSpeed = hasSpeed
        self.hasLeft = hasLeft
    }

    /// - Parameters:
    ///   - room: of the whole line.
    ///   - widest: of all names.
    init(room: Int, widest: Int) {
        self =
            Self.tiers.first { tier in
                let bar = tier.bar > 0 ? Self.gap + tier.bar : 0
                let rest = room - Self.gap - Self.percent - tier.details - bar
                return rest >= min(widest, tier.bar > 0 ? 16 : 10)
            } ?? Self()
        let free = room - Self.gap - Self.percent - details
        if bar == 0 {
            name = max(0, min(widest, free))
        } else {
            name = min(widest, max(16, min(free / 2, free - Self.gap - 20)))
            bar = min(Self.longestBar, free - Self.gap - name)
        }
    }
}
