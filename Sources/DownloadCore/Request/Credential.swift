/// A user name and password for the server. The password is never stored.
public struct Credential: Sendable, Equatable {
    /// The user name.
    public let user: String
    /// The password. Nil if the password was not stored and must be given again.
    public let password: String?

    /// Makes a credential.
    public init(user: String, password: String?) {
        self.user = user
        self.password = password
    }
}

extension Credential: Codable {
    /// An empty password is not a secret, so it is stored, as a flag. The flag means that the user need not give a
    /// password again, because an SSH key needs none, or a netrc file contains the password.
    private enum Key: String, CodingKey { case user, isWithoutPassword }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        user = try values.decode(String.self, forKey: .user)
        password = try values.decodeIfPresent(Bool.self, forKey: .isWithoutPassword) == true ? "" : nil
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(user, forKey: .user)
        if password == "" { try values.encode(true, forKey: .isWithoutPassword) }
    }
}

/// Descriptions without the password, for all text that prints a request.
extension Credential: CustomStringConvertible, CustomReflectable {
    public var description: String { user }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
