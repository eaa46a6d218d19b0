import Foundation

/// The place of a queue: a connection URI of libpq without a password.
package struct QueueLocation: Equatable, Sendable {
    /// The reason why a text is not the place of a queue. The messages repeat nothing of the text, because it may
    /// contain a password.
    package enum Failure: Error, Equatable, Sendable {
        case otherScheme
        /// The URL contains a password, which other users of the machine could see.
        case holdsPassword
    }

    /// The connection URI.
    package let uri: String

    /// The URI without its parameters, for messages.
    package var name: String { String(uri.prefix { $0 != "?" }) }

    private static let schemes = ["postgres://", "postgresql://"]
    private static let secretParameters: Set<String> = ["password", "sslpassword"]

    package init(_ text: String) throws(Failure) {
        guard let scheme = Self.schemes.first(where: { text.hasPrefix($0) }) else { throw .otherScheme }
        let rest = text.dropFirst(scheme.count)
        let query = rest.firstIndex(of: "?")
        // A password may hold a slash or a question mark. For libpq, the user and the password end at the first at sign
        // before a slash. This check is stricter: it treats everything before the last at sign as user and password,
        // and refuses a colon there.
        for place in [rest[..<(query ?? rest.endIndex)], rest.prefix { $0 != "/" }] {
            if let at = place.lastIndex(of: "@"), place[..<at].contains(":") { throw .holdsPassword }
        }
        for parameter in query.map({ rest[$0...].dropFirst().split(separator: "&") }) ?? [] {
            let name = String(parameter.prefix { $0 != "=" })
            let plain = name.removingPercentEncoding ?? name
            if Self.secretParameters.contains(plain.lowercased()) { throw .holdsPassword }
        }
        uri = text
    }
}
