/// The delivery of a transfer's body to its sink. When a transfer is suspended within a piece of the body, the sink may
/// have taken a part of the piece already. libcurl delivers the whole piece again later, perhaps split differently.
struct BodyDelivery {
    /// The reason why a transfer is suspended. Each piece is offered first to the rate limits and then to the sink,
    /// so only one of them suspends the transfer at a time.
    enum Hold { case sink, limit }

    private(set) var hold: Hold?
    /// The number of bytes that the sink has already taken of the piece that libcurl will deliver again.
    private(set) var ahead = 0
    /// The number of bytes that the sink has taken.
    private(set) var received: Int64 = 0
    /// Whether the transfer is a member of the rate limiter.
    var isKnownToLimiter = false

    /// Returns how many bytes of a piece the sink has already taken.
    func taken(of count: Int) -> Int { min(ahead, count) }

    mutating func add(_ count: Int) { received += Int64(count) }

    /// Records that the transfer is suspended within a piece, after `taken` bytes of the piece.
    mutating func suspend(_ hold: Hold, after taken: Int) {
        self.hold = hold
        ahead = taken
    }

    mutating func resume() { hold = nil }

    /// Records that the sink has taken the whole piece.
    mutating func endPiece(_ count: Int) { ahead = max(0, ahead - count) }

    /// Records that libcurl will deliver the body from its beginning.
    mutating func beginAgain() { ahead = 0 }
}

/// The limits for a body that is not used. Such a body is read for a while, to keep its connection usable.
struct DiscardedBody {
    /// The loop time in ms until which the body is read.
    let deadline: Int64
    private var count = 0

    /// The maximum number of bytes that are read of an unused body.
    private static let limit = 64 << 10
    /// The maximum time for which an unused body is read, in ms.
    private static let patience: Int64 = 1000

    init(at now: Int64) { deadline = now + Self.patience }

    /// Counts a piece of the body. Returns false if the body is too long to be read.
    mutating func take(_ piece: Int) -> Bool {
        count += piece
        return count <= Self.limit
    }
}
