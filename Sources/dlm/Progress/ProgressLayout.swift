/// The columns there is room for, beside the percentage: name, bar, size, speed, time.
struct ProgressLayout: Equatable {
    static let percent = 4
    static let size = 13
    static let speed = 10
    static let time = 7
    static let gap = 2
    /// A longer bar tells nothing more.
    private static let longestBar = 40
    private static let shortestBar = 16

    private(set) var name = 0
    private(set) var bar = 0
    /// Columns that stay free.
    private(set) var spare = 0
    private(set) var hasSize = true
    private(set) var hasSpeed = true
    private(set) var hasTime = true

    /// - Parameters:
    ///   - width: of the terminal; one column stays free, since a full line breaks on some.
    ///   - widest: columns of the longest name.
    init(width: Int, widest: Int) {
        let room = max(1, width - 1)
        let tiers = [
            Self(hasBar: true), Self(), Self(hasSize: false), Self(hasSize: false, hasTime: false),
            Self(hasSize: false, hasSpeed: false, hasTime: false),
        ]
        self = tiers.first { room - $0.fixed >= min(widest, $0.bar > 0 ? 16 : 12) } ?? tiers[tiers.count - 1]
        let free = room - fixed + bar
        if bar == 0 {
            name = max(0, min(widest, free))
        } else {
            name = min(widest, max(16, free * 3 / 5, free - Self.longestBar), free - Self.shortestBar)
            bar = min(Self.longestBar, free - name)
        }
        spare = free - name - bar
    }

    private init(hasBar: Bool = false, hasSize: Bool = true, hasSpeed: Bool = true, hasTime: Bool = true) {
        bar = hasBar ? Self.shortestBar : 0
        self.hasSize = hasSize
        self.hasSpeed = hasSpeed
        self.hasTime = hasTime
    }

    /// Of size, speed and time together.
    var details: Int { (hasSize ? Self.gap + Self.size : 0) + note }

    /// Of speed and time together.
    var note: Int { (hasSpeed ? Self.gap + Self.speed : 0) + (hasTime ? Self.gap + Self.time : 0) }

    private var fixed: Int { Self.gap + Self.percent + details + (bar > 0 ? Self.gap + bar : 0) }
}
