import DownloadCore

/// A running transfer for a display. The speed is measured between two looks, so the transfer itself has no work.
struct LiveConnection {
    let segment: SegmentWriter
    private let origin: String
    private var last: (position: Int64, time: ContinuousClock.Instant)
    private var speed: Double?

    /// The seconds between two looks that give a new speed.
    private static let leastTime = 0.5

    init(_ segment: SegmentWriter, origin: String, at now: ContinuousClock.Instant) {
        (self.segment, self.origin) = (segment, origin)
        last = (segment.position, now)
    }

    mutating func look(at now: ContinuousClock.Instant) -> ConnectionProgress {
        let (position, seconds) = (segment.position, (now - last.time) / .seconds(1))
        if seconds >= Self.leastTime || speed == nil && seconds > 0 {
            // An answer may begin before the range that was asked for.
            speed = Double(max(0, position - last.position)) / seconds
            last = (position, now)
        }
        return ConnectionProgress(origin: origin, position: position, speed: speed ?? 0)
    }
}
