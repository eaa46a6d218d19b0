import CSystem
import Foundation
import Synchronization

/// What a remote file holds. Generated content costs no memory whatever its size, and every page of it differs from
/// every other page and from every other seed, so bytes at a wrong offset or of another version never go unnoticed.
package struct Content: Sendable, Equatable {
    private enum Source: Hashable {
        case generated(seed: UInt64)
        case literal([UInt8])
    }

    private let source: Source
    /// The one byte that is not as the source has it.
    private var flipped: Int64?
    package let size: Int64

    /// Pseudo-random bytes that depend on the seed and the offset alone.
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

    /// The same but for one byte.
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

    /// Writes the bytes from `offset` on into the whole of `buffer`.
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

    /// Hexadecimal SHA-256 of the whole, or of the bytes below `end`.
    package func sha256(upTo end: Int64? = nil) -> String { digest("sha256", upTo: end) }

    /// Hexadecimal, by the name that OpenSSL has for the algorithm. Digests of generated content are computed once.
    package func digest(_ algorithm: String, upTo end: Int64? = nil) -> String {
        let end = end ?? size
        guard case .generated = source else { return computedDigest(algorithm, upTo: end) }
        let key = DigestKey(source: source, flipped: flipped, end: end, algorithm: algorithm)
        if let known = Self.digests.withLock({ $0[key] }) { return known }
        let digest = computedDigest(algorithm, upTo: end)
        Self.digests.withLock { $0[key] = digest }
        return digest
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

    /// Writes the whole to a file, for servers that need one.
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

/// The generator: a page is 16 bytes that name it, then a slice of one random table at a place that depends on it.
/// Copying is as fast in a debug build as in a release one.
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

    /// The finalizer of SplitMix64.
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

/// A digest over pieces.
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

/// Hexadecimal SHA-256 of a file.
package func sha256(of path: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    var digest = StreamingDigest()
    while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty { digest.update(Array(piece)) }
    try file.close()
    return digest.finish()
}
