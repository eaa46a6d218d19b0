import Dispatch
import DownloadSystem
import DownloadTestSupport
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("PieceVerifier: hashes pieces behind the writes", .inTurn, .timeLimit(.minutes(1)))
struct PieceVerifierTests {
    private static let length: Int64 = 1 << 10
    private static let queue = DispatchQueue(label: "test.pieces")
    private static let bytes = [UInt8](repeating: 7, count: 2 << 10)

    private func verify(written: Int64, _ check: (PieceVerifier, Failed) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let file = try PartialFile.open(folder: folder.path, name: "a", mode: .create, followsLinks: true)
        Self.bytes.prefix(Int(written)).withUnsafeBytes { file.write($0, at: 0) }
        file.trust(written: ByteRanges([0..<2 * Self.length]), durable: ByteRanges())
        try folder.write(String(repeating: "\u{7}", count: 1 << 10), to: "b")
        // The digest of the first piece is right, and that of the second piece is wrong.
        let first = try await FileHash.of(folder("b"), .md5, on: Self.queue)
        let pieces = try #require(
            PieceHashes(
                algorithm: .md5, length: Self.length, digests: [first.digest, String(repeating: "0", count: 32)]))
        let failed = Failed()
        let verifier = PieceVerifier(of: file, pieces, total: 2 * Self.length, queue: Self.queue) { piece in
            failed.pieces.withLock { $0.append(piece) }
        }
        try await check(verifier, failed)
    }

    @Test("A wrong piece is reported, and a right one is not")
    func wrong() async throws {
        try await verify(written: 2 * Self.length) { verifier, failed in
            try await verifier.settle()
            #expect(failed.pieces.withLock { $0 } == [1])
        }
    }

    @Test("A piece that cannot be read is an error, not a right piece")
    func unreadable() async throws {
        try await verify(written: Self.length) { verifier, _ in
            await #expect(throws: DownloadError.self) { try await verifier.settle() }
        }
    }
}

private final class Failed: Sendable { let pieces = Mutex<[Int]>([]) }
