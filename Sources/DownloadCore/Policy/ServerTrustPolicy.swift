/// How the server's certificate is judged.
public enum ServerTrustPolicy: String, Codable, Sendable {
    /// By the certificate authorities of this machine.
    case system
    /// Not at all (`--insecure`); recorded, and shown wherever the download is.
    case insecure
}
