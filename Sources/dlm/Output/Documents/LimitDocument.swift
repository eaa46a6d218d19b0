/// A session whose speed limit was changed (`dlm limit RATE`), or is shown (`dlm limit`).
struct LimitDocument: Document, Equatable {
    var version = 1
    var event = "changed"
    let session: String
    let rateLimit: Int64?
}
