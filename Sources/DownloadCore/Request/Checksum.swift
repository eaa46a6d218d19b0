/// What the whole file must hash to: `sha256:HEX`.
public struct Checksum: Codable, Sendable, Equatable {
    public enum Algorithm: String, Codable, Sendable, CaseIterable {
        case md5, sha1, sha224, sha256, sha384, sha512

        /// Hexadecimal digits of a digest.
        var digits: Int {
            switch self {
            case .md5: 32
            case .sha1: 40
            case .sha224: 56
            case .sha256: 64
            case .sha384: 96
            case .sha512: 128
            }
        }
    }

    public let algorithm: Algorithm
    /// Lower-case hexadecimal.
    public let digest: String

    public init(algorithm: Algorithm, digest: String) {
        self.algorithm = algorithm
        self.digest = digest.lowercased()
    }

    /// Reads `ALGO:HEX`, also `ALGO=HEX` and `sha-256` as aria2 writes them; nil when it is neither.
    public init?(_ text: String) {
        guard let separator = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return nil }
        let name = text[..<separator].lowercased().replacing("-", with: "")
        let hex = text[text.index(after: separator)...].lowercased()
        guard let algorithm = Algorithm(rawValue: name), hex.utf8.count == algorithm.digits,
            hex.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        self.init(algorithm: algorithm, digest: hex)
    }
}

extension Checksum: CustomStringConvertible {
    public var description: String { "\(algorithm.rawValue):\(digest)" }
}
