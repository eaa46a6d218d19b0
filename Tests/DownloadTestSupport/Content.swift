import CSystem
import Foundation
import Synchronization

/// The content of a remote file. Generated content needs no memory, whatever its size. Each page differs from every
/// other page and from the pages of every other seed. So bytes at a wrong offset, or of another version, are always
/// noticed.
package struct Content: Sendable, Equatable {
    private enum Source: Hashable {
        case generated(seed: UInt64)
        case literal([UInt8])
    }

    private let source: Source
    /// The offset of the one byte that differs from the source.
    private var flipped: Int64?
    package let size: Int64

    /// Creates pseudo-random bytes that depend on the seed and the offset alone.
    package init(seed: UInt64, size: Int64) {
        source = .generated(seed: seed)
        self.size = size
    }

    package init(_ text: String) { self.init(Array(text.utf8)) }

    package init(_ bytes: [UInt8]) {
        source = .literal(bytes)
        size = Int64(bytes.count)
    }

    package static let empty = Content("")

    /// Returns the same content with one byte changed.
    package func flipping(_ offset: Int64) -> Content {
        var other = self
        other.flipped = offset
        return other
    }

    package func bytes(_ range: Range<Int64>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            fill(UnsafeMutableRawBufferPointer(buffer), from: range.lowerBound)
            count = range.count
        }
    }

    /// Fills the whole of `buffer` with the bytes from `offset` on.
    package func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int64) {
        precondition(offset >= 0 && offset + Int64(buffer.count) <= size, "outside of the content")
        switch source {
        case .literal(let bytes): buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + buffer.count])
        case .generated(let seed): Self.generate(seed: seed, offset: Int(offset), into: buffer)
        }
        if let flipped, (offset..<offset + Int64(buffer.count)).contains(flipped) {
            buffer[Int(flipped - offset)] ^= 0xFF
        }
    }

    /// Returns the hexadecimal SHA-256 digest of the whole content, or of the bytes below `end`.
    package func sha256(upTo end: Int64? = nil) -> String { digest("sha256", upTo: end) }

    /// Returns a hexadecimal digest. `algorithm` is OpenSSL's name. Digests of generated content are computed once.
    package func digest(_ algorithm: String, upTo end: Int64? = nil) -> String {
        let end = end ?? size
        guard case .generated = source else { return computedDigest(algorithm, upTo: end) }
        let key = DigestKey(source: source, flipped: flipped, end: end, algorithm: algorithm)
        if let known = Self.digests.withLock({ $0[key] }) { return known }
        let digest = computedDigest(algorithm, upTo: end)
        Self.digests.withLock { $0[key] = digest }
        return digest
    }

    /// Returns the digest of the whole content in base64, as in `Repr-Digest` (RFC 9530).
    package func base64Digest(_ algorithm: String) -> String {
        let digits = Array(digest(algorithm))
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
        return Data(bytes).base64EncodedString()
    }

    private struct DigestKey: Hashable {
        let source: Source
        let flipped: Int64?
        let end: Int64
        let algorithm: String
    }

    private static let digests = Mutex<[DigestKey: String]>([:])

    private func computedDigest(_ algorithm: String, upTo end: Int64) -> String {
        var digest = StreamingDigest(algorithm)
        var offset: Int64 = 0
        while offset < end {
            let next = min(end, offset + 1 << 20)
            digest.update(bytes(offset..<next))
            offset = next
        }
        return digest.finish()
    }

    package var sha256: String { sha256() }

    /// Writes the whole content to a file, for servers that need a file.
    package func write(to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw SystemError("create \(path)") }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        var offset: Int64 = 0
        while offset < size {
            let next = min(size, offset + 1 << 20)
            try file.write(contentsOf: Data(bytes(offset..<next)))
            offset = next
        }
        try file.close()
    }
}

/// The generator. A page begins with 16 bytes that identify it. The rest is copied from one random table; the number of
/// the page and the seed decide from which offset of the table. Copying is as fast in a debug build as in a
/// release build.
extension Content {
    private static let pageSize = 4096
    private static let tableSpan = 1 << 16

    private static let table: [UInt8] = {
        var state: UInt64 = 42
        return (0..<(tableSpan + pageSize) / 8).flatMap { _ -> [UInt8] in
            state &+= 1
            return withUnsafeBytes(of: mix(state)) { Array($0) }
        }
    }()

    /// Mixes the bits of a number with the finalizer of SplitMix64.
    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private static func generate(seed: UInt64, offset: Int, into buffer: UnsafeMutableRawBufferPointer) {
        var done = 0
        while done < buffer.count {
            let page = (offset + done) / pageSize
            let start = (offset + done) % pageSize
            let count = min(pageSize - start, buffer.count - done)
            let name = mix(mix(seed) ^ UInt64(page))
            let place = Int(name >> 16) % tableSpan
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + count])
            table.withUnsafeBytes { target.copyBytes(from: $0[place + start..<place + start + count]) }
            if start < 16 {
                withUnsafeBytes(of: (name, UInt64(page))) {
                    target.copyBytes(from: $0[start..<min(16, start + count)])
                }
            }
            done += count
        }
    }
}

/// A digest that is computed piece by piece.
package struct StreamingDigest: ~Copyable {
    private let handle: OpaquePointer?

    package init(_ algorithm: String = "sha256") { handle = dlm_digest_create(algorithm) }

    package mutating func update(_ bytes: [UInt8]) {
        let status = bytes.withUnsafeBytes { dlm_digest_update(handle, $0.baseAddress, $0.count) }
        precondition(status == 0, "the digest failed")
    }

    package consuming func finish() -> String {
        var out = [UInt8](repeating: 0, count: 64)
        let count = dlm_digest_finish(handle, &out)
        return out[..<count].map { String(format: "%02x", $0) }.joined()
    }

    deinit { dlm_digest_free(handle) }
}

/// Returns the hexadecimal SHA-256 digest of a file.
package func sha256(of path: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    var digest = StreamingDigest()
    while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty { digest.update(Array(piece)) }
    try file.close()
    return digest.finish()
}
