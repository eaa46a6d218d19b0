/// A user name and password for the server. The password is never stored.
public struct Credential: Sendable, Equatable {
    public let user: String
    /// Nil: it was not stored and must be given again.
    public let password: String?

    public init(user: String, password: String?) {
        self.user = user
        self.password = password
    }
}

extension Credential: Codable {
    private enum Key: String, CodingKey { case user }

    public init(from decoder: any Decoder) throws {
        user = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .user)
        password = nil
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(user, forKey: .user)
    }
}

/// Keeps the password out of everything that prints a request.
extension Credential: CustomStringConvertible, CustomReflectable {
    public var description: String { user }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
