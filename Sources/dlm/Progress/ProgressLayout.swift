/// The columns there is room for, beside the percentage: name, bar, size, speed, time.
struct ProgressLayout: Equatable {
    static let percent = 4
    static let size = 13
    static let speed = 10
    static let time = 7
    static let gap = 2
    /// A longer bar tells nothing more.
    private static let longestBar = 40
    /// Names are not cut below this while something else can go.
    private static let shortestName = 16

    private(set) var name = 0
    private(set) var bar = 0
    /// Columns that stay free.
    private(set) var spare = 0
    private(set) var hasSize = false
    private(set) var hasSpeed = false
    private(set) var hasTime = true

    /// What is shown, from all to the least.
    private static let tiers = [
        Self(bar: 16, hasSize: true, hasSpeed: true), Self(bar: 10, hasSpeed: true), Self(bar: 8),
        Self(hasSpeed: true), Self(), Self(hasTime: false),
    ]

    /// - Parameters:
    ///   - width: of the terminal; one column stays free, since a full line breaks on some.
    ///   - widest: columns of the longest name.
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

    private init(bar: Int = 0, hasSize: Bool = false, hasSpeed: Bool = false, hasTime: Bool = true) {
        self.bar = bar
        self.hasSize = hasSize
        self.hasSpeed = hasSpeed
        self.hasTime = hasTime
    }

    /// Of all behind the name but the bar and what is free.
    private var fixed: Int { Self.gap + Self.percent + details + (bar > 0 ? Self.gap + bar : 0) }

    /// Of size, speed and time together.
    private var details: Int { (hasSize ? Self.gap + Self.size : 0) + numbers }

    /// Of speed and time together.
    private var numbers: Int { (hasSpeed ? Self.gap + Self.speed : 0) + (hasTime ? Self.gap + Self.time : 0) }

    /// Columns for a note in place of speed and time, of these and the size, and of all behind the name.
    var noteRooms: (short: Int, long: Int, all: Int) {
        (max(0, numbers - Self.gap) + spare, max(0, details - Self.gap) + spare, fixed - Self.gap + spare)
    }
}
