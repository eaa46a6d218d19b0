/// The digest that the whole file must have, such as `sha256:HEX`.
public struct Checksum: Codable, Sendable, Equatable {
    /// A digest algorithm.
    public enum Algorithm: String, Codable, Sendable, CaseIterable {
        /// An algorithm that OpenSSL has.
        case md5, sha1, sha224, sha256, sha384, sha512
        /// A cyclic redundancy check, which storage services state. It finds accidental changes, but anyone can make
        /// another file with the same value.
        case crc32, crc32c, crc64nvme

        /// The number of hexadecimal digits of a digest.
        var digits: Int {
            switch self {
            case .crc32, .crc32c: 8
            case .crc64nvme: 16
            case .md5: 32
            case .sha1: 40
            case .sha224: 56
            case .sha256: 64
            case .sha384: 96
            case .sha512: 128
            }
        }

        /// Returns whether the text is a digest of this algorithm in hexadecimal.
        func accepts(_ hex: some Collection<UInt8>) -> Bool {
            hex.count == digits && hex.allSatisfy { $0.hexadecimalDigit != nil }
        }

        /// Whether the algorithm is a cyclic redundancy check, and no proof against a forger.
        package var isCRC: Bool { digits < 32 }

        /// The order in which one of several digests is chosen. Strong algorithms come first. SHA-256 comes before
        /// SHA-512, because processors have instructions for SHA-256 (measured: four times as fast).
        package static let preferred: [Algorithm] = [
            .sha256, .sha512, .sha384, .sha224, .sha1, .md5, .crc64nvme, .crc32c, .crc32,
        ]

        /// Finds the algorithm by a name that programs or servers use, such as `SHA-256`, `sha2-256` or `SHA`. Nil if
        /// the name is unknown, and for a CRC, because lists and documents are made as proof.
        init?(name: some Collection<UInt8>) {
            let plain = name.lowercasedASCII.replacing("-", with: "")
            guard let known = Self.aliases[plain] ?? Self(rawValue: plain), !known.isCRC else { return nil }
            self = known
        }

        private static let aliases: [String: Algorithm] = [
            "sha": .sha1, "sha2224": .sha224, "sha2256": .sha256, "sha2384": .sha384, "sha2512": .sha512,
        ]
    }

    /// The algorithm.
    public let algorithm: Algorithm
    /// The digest in lower-case hexadecimal.
    public let digest: String
    /// The field of the answer that stated the checksum, such as `x-goog-hash`, or the URL of the document that stated
    /// it. Nil for any other source.
    package var field: String?

    /// Makes a checksum from hexadecimal digits.
    public init(algorithm: Algorithm, digest: String) {
        self.algorithm = algorithm
        self.digest = digest.lowercased()
    }

    /// Makes a checksum of hexadecimal digits alone. Nil if no algorithm but a CRC has this number of digits, or if
    /// a character is not a digit.
    init?(hex: some Collection<UInt8>) {
        guard let algorithm = Algorithm.allCases.first(where: { !$0.isCRC && $0.accepts(hex) }) else { return nil }
        self.init(algorithm: algorithm, digest: hex.lowercasedASCII)
    }

    /// Makes a checksum of the bytes of a digest. Nil if the number of bytes does not fit the algorithm.
    package init?(algorithm: Algorithm, bytes: some Collection<UInt8>) {
        guard bytes.count * 2 == algorithm.digits else { return nil }
        self.init(algorithm: algorithm, digest: bytes.hexadecimal)
    }

    /// Compares the algorithms and digests. The fields that stated them do not matter.
    public static func == (left: Checksum, right: Checksum) -> Bool {
        left.algorithm == right.algorithm && left.digest == right.digest
    }

    /// Reads `ALGO:HEX`, and also `ALGO=HEX` and `sha-256`, which aria2 writes. Nil for any other text.
    public init?(_ text: String) {
        guard let separator = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return nil }
        let name = text[..<separator].lowercased().replacing("-", with: "")
        let hex = text[text.index(after: separator)...]
        guard let algorithm = Algorithm(rawValue: name), !algorithm.isCRC, algorithm.accepts(hex.utf8) else {
            return nil
        }
        self.init(algorithm: algorithm, digest: String(hex))
    }
}

/// The source of an expected checksum.
public enum ChecksumSource: String, Codable, Sendable {
    /// The user who asked for the download, with a checksum or a checksum file.
    case user
    /// The server, in its answer.
    case server
}

/// A checksum that a whole file was found to have.
public struct VerifiedChecksum: Codable, Sendable, Equatable {
    /// The digest.
    public var checksum: Checksum
    /// The source of the digest.
    public var source: ChecksumSource

    package init(_ checksum: Checksum, by source: ChecksumSource) {
        self.checksum = checksum
        self.source = source
    }
}

extension Checksum: CustomStringConvertible {
    public var description: String { "\(algorithm.rawValue):\(digest)" }
}
