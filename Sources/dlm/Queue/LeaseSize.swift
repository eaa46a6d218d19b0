/// The rule for how many URLs a worker leases. After a lease, a worker holds about as many URLs as it finishes in four
/// seconds, but at least two for each running download and at most ``largest``. The next lease is due when half of them
/// have ended. So leases are rare if files are small, and a slow worker leaves most URLs to other workers.
struct LeaseSize: Equatable, Sendable {
    /// The time for which the leased URLs should last, in seconds.
    static let stock = 4.0
    static let largest = 2000

    let running: Int
    /// The number of URLs that the worker holds after a lease.
    private(set) var target: Int

    init(running: Int) {
        self.running = running
        target = 2 * running
    }

    /// Returns how many URLs to lease now; 0 if enough of the leased URLs have not ended.
    func wanted(held: Int) -> Int { held <= lowest ? target - held : 0 }

    /// The number of held URLs at which the next lease is due.
    var lowest: Int { target / 2 }

    /// Adapts ``target`` to how fast URLs ended since the last lease. ``target`` at most doubles.
    mutating func adapt(ended: Int, seconds: Double) {
        guard seconds > 0 else { return }
        let fitting = Double(ended) / seconds * Self.stock
        let most = min(2 * target, Self.largest)
        target = max(2 * running, Int(min(fitting, Double(most))))
    }
}
