import Foundation

/// A request that has arrived whole.
struct ControlRequest: Sendable {
    let method: String
    /// The parts between the slashes, percent-decoded.
    let path: [String]
    let query: [String: String]
    /// The version in the field `Dlm-Api`, as it was written.
    let version: String?
    let body: Data

    init(method: String, target: String, version: String?, body: Data = Data()) {
        self.method = method
        self.version = version
        self.body = body
        let halves = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = halves[0].split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        var query: [String: String] = [:]
        for field in halves.dropFirst().first?.split(separator: "&") ?? [] {
            let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding ?? String($0)
            }
            query[pair[0]] = pair.count > 1 ? pair[1] : ""
        }
        self.query = query
    }
}

/// What goes back.
struct ControlAnswer: Sendable {
    enum Body: Sendable {
        case whole(Data)
        /// Written piece by piece, as fast as the client takes it.
        case stream(@Sendable (AnswerWriter) async throws -> Void)
    }

    var status = 200
    var contentType = "application/json"
    /// Methods that a path knows, for 405.
    var allow: String?
    /// Lasts until the client or the service ends it.
    var isEndless = false
    let body: Body

    static func json(_ document: some Encodable, status: Int = 200) -> ControlAnswer {
        do {
            return ControlAnswer(status: status, body: .whole(try WireCoder.encode(document)))
        } catch {
            return ControlAnswer(status: 500, body: .whole(Data(#"{"version":1}"#.utf8)))
        }
    }
}
