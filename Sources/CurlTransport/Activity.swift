/// The time of a transfer's last activity, in ms of loop time, and whether the transfer has a connection.
struct Activity {
    private(set) var last: Int64 = 0
    private(set) var isConnected = false

    mutating func observe(at now: Int64) { last = now }

    /// Records that a connection exists. The wait for the connection is not a stall.
    /// - Parameter earliest: The earliest time, in ms, at which the connection may have come.
    mutating func connect(since earliest: Int64) {
        isConnected = true
        last = max(last, earliest)
    }

    mutating func beginAgain() { isConnected = false }

    /// Returns whether nothing has happened for longer than `timeout` seconds.
    func isStalled(at now: Int64, after timeout: Double) -> Bool { Double(now - last) > timeout * 1000 }
}
