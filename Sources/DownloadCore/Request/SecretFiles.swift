/// The files with secrets to which a request refers, by absolute path. They are read at the beginning of each attempt,
/// so that no secret is stored, and changed secrets are used. Nil stands for an absent file.
package struct SecretFiles: Codable, Sendable, Equatable {
    /// The netrc file, with names and passwords by host, as for ftp(1).
    package var netrc: String?
    /// The file with a token for the server of the request (RFC 6750).
    package var bearer: String?
    /// The program that prints the token for the server, instead of ``bearer``. The program is run at the beginning of
    /// each attempt.
    package var bearerCommand: String?
    /// The file with cookies, in the format of Netscape and curl.
    package var cookies: String?
    /// The file to which cookies are written at the end of each attempt.
    package var cookieJar: String?

    package init() {}

    package var isEmpty: Bool { self == SecretFiles() }

    /// Replaces the files that `other` names.
    mutating func take(_ other: SecretFiles) {
        replace(in: &self, with: other, \.netrc, \.cookies, \.cookieJar)
        bearer = other.bearer ?? (other.bearerCommand == nil ? bearer : nil)
        bearerCommand = other.bearerCommand ?? (other.bearer == nil ? bearerCommand : nil)
    }
}
