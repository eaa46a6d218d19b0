/// The limit for requests of one attempt that make no progress. Each of them uses up a part of the budget, whatever
/// part of the file it asks for. Each request that makes progress gives one part back. So a server that answers with
/// too few bytes, or with none, gets a few requests and not hundreds.
package struct RequestBudget: Sendable, Equatable {
    private let limit: Int
    private var spent = 0

    /// The progress in bytes that a request must make, unless it asked for less.
    package static let leastProgress: Int64 = 16 << 10

    package init(limit: Int) { self.limit = max(1, limit) }

    /// Returns the limit for a download with this number of retries. It is at least 3, because even without retries a
    /// server may answer in short parts (RFC 9110 section 15.3.7). It is at most 20, because endless retries must not
    /// become endless requests without a pause.
    package static func limit(retries: Int) -> Int { min(max(3, retries), 20) }

    /// Whether the budget is spent. Then no connection is opened or duplicated any more, and a stream gets no further
    /// request.
    package var isExhausted: Bool { spent >= limit }

    package static func isProgress(_ brought: Int64, of asked: Int64) -> Bool { brought >= min(asked, leastProgress) }

    /// Records the end of a request. Returns false if the request made no progress.
    @discardableResult
    package mutating func ended(brought: Int64, of asked: Int64) -> Bool {
        let isFruitful = Self.isProgress(brought, of: asked)
        spent = isFruitful ? max(0, spent - 1) : min(limit, spent + 1)
        return isFruitful
    }
}
