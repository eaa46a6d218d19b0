/// The digests of the pieces of a file. All pieces but the last have the same length.
package struct PieceHashes: Codable, Sendable, Equatable {
    package let algorithm: Checksum.Algorithm
    /// The length of a piece in bytes.
    package let length: Int64
    /// The digests, one after the other, in lower-case hexadecimal.
    private let digests: String

    static let possibleLengths: ClosedRange<Int64> = 1 << 10...1 << 40
    static let most = 1 << 17

    /// Returns nil if these cannot be the pieces of a file.
    package init?(algorithm: Checksum.Algorithm, length: Int64, digests: [String]) {
        guard Self.possibleLengths.contains(length), (1...Self.most).contains(digests.count),
            digests.allSatisfy({ algorithm.accepts($0.utf8) })
        else { return nil }
        self.algorithm = algorithm
        self.length = length
        self.digests = digests.joined().utf8.lowercasedASCII
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let algorithm = try values.decode(Checksum.Algorithm.self, forKey: .algorithm)
        let text = Array(try values.decode(String.self, forKey: .digests).utf8)
        let digests = stride(from: 0, to: text.count, by: algorithm.digits).map { start in
            String(decoding: text[start..<min(text.count, start + algorithm.digits)], as: UTF8.self)
        }
        let length = try values.decode(Int64.self, forKey: .length)
        guard let read = PieceHashes(algorithm: algorithm, length: length, digests: digests) else {
            throw decoder.failure("no pieces")
        }
        self = read
    }

    /// The approximate size in bytes of the digests in a message between processes.
    package var carriedSize: Int { digests.utf8.count + 100 }
    /// The greatest ``carriedSize`` of digests that are sent to the background session. If the digests are larger, the
    /// session verifies only the file as a whole.
    package static let longestCarried = 9 << 20

    package var count: Int { digests.utf8.count / algorithm.digits }

    package func fits(size: Int64) -> Bool { size > 0 && (size - 1) / length == Int64(count) - 1 }

    package func digest(_ index: Int) -> Substring {
        let start = digests.utf8.index(digests.startIndex, offsetBy: index * algorithm.digits)
        return digests[start..<digests.utf8.index(start, offsetBy: algorithm.digits)]
    }

    package func range(_ index: Int, size: Int64) -> Range<Int64> {
        Int64(index) * length..<min(size, Int64(index + 1) * length)
    }
}
