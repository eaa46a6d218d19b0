/// Files that a request refers to for its secrets, by absolute path: read at the beginning of each attempt, so that
/// nothing of them is stored and what is renewed counts. Nil is what was not asked for.
package struct SecretFiles: Codable, Sendable, Equatable {
    /// Names and passwords by host, as for ftp(1).
    package var netrc: String?
    /// A token for the server of the request (RFC 6750).
    package var bearer: String?
    /// A program that prints such a token; it is run at the beginning of each attempt.
    package var bearerCommand: String?
    /// Cookies in the format of Netscape and curl.
    package var cookies: String?
    /// Where the cookies go at the end of each attempt.
    package var cookieJar: String?

    package init() {}

    var isEmpty: Bool { self == SecretFiles() }

    /// What the other one names counts.
    mutating func take(_ other: SecretFiles) {
        netrc = other.netrc ?? netrc
        bearer = other.bearer ?? (other.bearerCommand == nil ? bearer : nil)
        bearerCommand = other.bearerCommand ?? (other.bearer == nil ? bearerCommand : nil)
        cookies = other.cookies ?? cookies
        cookieJar = other.cookieJar ?? cookieJar
    }
}
