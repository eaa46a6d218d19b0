/// A session whose speed limit was changed (`dlm limit RATE`), or is shown (`dlm limit`).
struct LimitDocument: Document, Equatable {
    var version = 1
    var event = "changed"
    let session: String
    /// The speed limit in bytes per second; nil for no limit.
    let rateLimit: Int64?
}
