import Foundation
import NIOCore
import NIOHTTP1

/// A request that has arrived whole.
package struct ControlRequest: Sendable {
    package let method: String
    /// The target as it was sent, without its query.
    package let target: String
    /// The parts of the path between the slashes, percent-decoded.
    package let path: [String]
    package let query: [String: String]
    /// The authority of a target in absolute form, such as `http://host/path` (RFC 9112 section 3.2.2); else nil.
    package let authority: String?
    package var body: Data
    package let headers: HTTPHeaders
    /// The address of the client, as the kernel knows it; nil on a Unix socket.
    package let peer: SocketAddress?
    /// Whether the request is of HTTP/1.0, in which `Upgrade` is ignored (RFC 9110 section 7.8).
    package let isOld: Bool

    package init(
        method: String, target: String, body: Data = Data(), headers: HTTPHeaders = [:], peer: SocketAddress? = nil,
        isOld: Bool = false
    ) {
        self.isOld = isOld
        self.method = method
        self.target = String(target.prefix { $0 != "?" })
        self.body = body
        self.headers = headers
        self.peer = peer
        var target = Substring(target)
        if target.lowercased().hasPrefix("http://") {
            let authority = target.dropFirst(7).prefix { $0 != "/" && $0 != "?" }
            self.authority = String(authority)
            target = target[authority.endIndex...]
        } else {
            authority = nil
        }
        let halves = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = (halves.first ?? "").split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
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

/// The answer to a request.
package struct ControlAnswer: Sendable {
    package enum Body: Sendable {
        case whole(Data)
        /// Written piece by piece, as fast as the client takes it.
        case stream(@Sendable (AnswerWriter) async throws -> Void)
    }

    package var status = 200
    package var contentType = "application/json"
    package var headers: HTTPHeaders = [:]
    /// Whether the answer lasts until the client or the service ends it.
    package var isEndless = false
    /// Whether the connection is closed after the answer.
    package var endsConnection = false
    var gzip: Gzip?
    package let body: Body

    package init(
        status: Int = 200, contentType: String = "application/json", isEndless: Bool = false, body: Body
    ) {
        self.status = status
        self.contentType = contentType
        self.isEndless = isEndless
        self.body = body
    }

    /// Compresses the answer if the client accepts it (RFC 9110 section 12.5.3), and if that is worth it.
    package mutating func compress(for request: ControlRequest) {
        if isEndless || request.method == "HEAD" { return }
        if case .whole(let bytes) = body, bytes.count < 1024 { return }
        headers.add(name: "Vary", value: "Accept-Encoding")
        let accepted = request.headers["accept-encoding"].joined(separator: ",").lowercased().split(separator: ",")
        let isAccepted = accepted.contains { coding in
            let parts = coding.split(separator: ";").map { $0.filter { $0 != " " } }
            return parts.first == "gzip"
                && !parts.dropFirst().contains { ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains($0) }
        }
        guard isAccepted, let gzip = Gzip() else { return }
        headers.add(name: "Content-Encoding", value: "gzip")
        self.gzip = gzip
    }

    static func json(_ document: some Encodable, status: Int = 200) -> ControlAnswer {
        do {
            return ControlAnswer(status: status, body: .whole(try WireCoder.encode(document)))
        } catch {
            return ControlAnswer(status: 500, body: .whole(Data(#"{"version":1}"#.utf8)))
        }
    }
}
