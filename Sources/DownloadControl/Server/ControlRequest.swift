import Foundation
import NIOCore
import NIOHTTP1

/// A request that has arrived whole.
package struct ControlRequest: Sendable {
    package let method: String
    /// The parts of the path between the slashes, percent-decoded.
    package let path: [String]
    package let query: [String: String]
    /// The version in the field `Dlm-Api`, as it was written.
    package let version: String?
    package let body: Data
    package let headers: HTTPHeaders
    /// The address of the client, as the kernel knows it; nil on a Unix socket.
    package let peer: SocketAddress?

    package init(
        method: String, target: String, version: String?, body: Data = Data(), headers: HTTPHeaders = [:],
        peer: SocketAddress? = nil
    ) {
        self.method = method
        self.version = version
        self.body = body
        self.headers = headers
        self.peer = peer
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

/// The answer to a request.
package struct ControlAnswer: Sendable {
    package enum Body: Sendable {
        case whole(Data)
        /// Written piece by piece, as fast as the client takes it.
        case stream(@Sendable (AnswerWriter) async throws -> Void)
    }

    package var status = 200
    package var contentType = "application/json"
    /// The methods that the path supports, for the field `Allow` of a 405 answer.
    var allow: String?
    /// Additional header fields.
    package var headers: HTTPHeaders = [:]
    /// Whether the answer lasts until the client or the service ends it.
    package var isEndless = false
    package let body: Body

    package init(
        status: Int = 200, contentType: String = "application/json", isEndless: Bool = false, body: Body
    ) {
        self.status = status
        self.contentType = contentType
        self.isEndless = isEndless
        self.body = body
    }

    static func json(_ document: some Encodable, status: Int = 200) -> ControlAnswer {
        do {
            return ControlAnswer(status: status, body: .whole(try WireCoder.encode(document)))
        } catch {
            return ControlAnswer(status: 500, body: .whole(Data(#"{"version":1}"#.utf8)))
        }
    }
}
