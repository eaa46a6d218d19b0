/// Limits the requests of one attempt that bring nothing. Each of them counts as an attempt would, whatever part of the
/// file it asks for; each request that brings something gives one back. So a server that answers with too little, or
/// with nothing, is asked a few times and not hundreds of times.
package struct RequestBudget: Sendable, Equatable {
    private let limit: Int
    private var spent = 0

    /// Bytes. A request that brings less, and less than it asked for, has made no progress.
    package static let leastProgress: Int64 = 16 << 10

    /// - Parameter limit: how many requests without progress are one too many; at least 1.
    package init(limit: Int) { self.limit = max(1, limit) }

    /// Returns the limit for a download that is tried again so often. Even without retries a server may answer in short
    /// parts (RFC 9110 section 15.3.7), and retries without end do not mean requests without pause.
    package static func limit(retries: Int) -> Int { min(max(3, retries), 20) }

    /// Nothing more is asked for without need.
    package var isExhausted: Bool { spent >= limit }

    /// Records the end of a request. Returns false if the request made no progress.
    @discardableResult
    package mutating func ended(brought: Int64, of asked: Int64) -> Bool {
        let isFruitful = brought >= min(asked, Self.leastProgress)
        spent = isFruitful ? max(0, spent - 1) : min(limit, spent + 1)
        return isFruitful
    }
}
