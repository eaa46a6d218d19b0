/// The columns for which there is room beside the percentage: name, bar, size, speed, time.
struct ProgressLayout: Equatable {
    static let percent = 4
    static let size = 13
    static let speed = 10
    static let time = 7
    static let gap = 2
    /// The greatest width of the bar. A longer bar would not show more.
    private static let longestBar = 40
    /// The shortest width to which names are cut. Before names become shorter, other columns are left out.
    private static let shortestName = 16

    private(set) var name = 0
    private(set) var bar = 0
    private(set) var spare = 0
    private(set) var hasSize = false
    private(set) var hasSpeed = false
    private(set) var hasTime = true

    /// The sets of columns that can be shown, from the largest to the smallest.
    private static let tiers = [
        Self(bar: 16, hasSize: true, hasSpeed: true), Self(bar: 10, hasSpeed: true), Self(bar: 8),
        Self(hasSpeed: true), Self(), Self(hasTime: false),
    ]

    /// The width of everything after the name, with the smallest width of the bar and without free columns.
    private var fixed: Int { Self.gap + Self.percent + details + (bar > 0 ? Self.gap + bar : 0) }

    private var details: Int { (hasSize ? Self.gap + Self.size : 0) + numbers }

    private var numbers: Int { (hasSpeed ? Self.gap + Self.speed : 0) + (hasTime ? Self.gap + Self.time : 0) }

    /// The space for a note in place of other columns: of speed and time (`short`), of size, speed and time (`long`),
    /// or of everything after the name (`all`).
    var noteRooms: (short: Int, long: Int, all: Int) {
        (max(0, numbers - Self.gap) + spare, max(0, details - Self.gap) + spare, fixed - Self.gap + spare)
    }
}

extension ProgressLayout {
    /// One column of the terminal stays free, because some terminals break a line that fills all columns.
    init(width: Int, widest: Int) {
        let room = max(1, width - 1)
        let shortest = min(widest, Self.shortestName)
        self = Self.tiers.first { room - $0.fixed >= shortest } ?? Self.tiers[Self.tiers.count - 1]
        let free = room - fixed + bar
        if bar == 0 {
            name = max(0, min(widest, free))
        } else {
            name = min(widest, max(Self.shortestName, free * 3 / 5, free - Self.longestBar), free - bar)
            bar = min(Self.longestBar, free - name)
        }
        spare = free - name - bar
    }
}
