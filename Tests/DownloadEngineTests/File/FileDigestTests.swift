import Dispatch
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("FileDigest: hashing behind the writes", .inTurn, .timeLimit(.minutes(1)))
struct FileDigestTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let content = Content(seed: 1, size: 5_000_000)
    private static let right = Checksum(algorithm: .sha256, digest: content.sha256)
    private let queue = DispatchQueue(label: "digest")

    private func write(_ range: Range<Int64>, _ file: PartialFile) {
        Self.content.bytes(range).withUnsafeBytes { file.write($0, at: range.lowerBound) }
    }

    @Test(
        "The whole file is hashed, in whatever order its bytes arrived and whenever the digest read them",
        arguments: [true, false])
    func outOfOrder(looksOften: Bool) async throws {
        let file = try PartialFile.open(folder: folder.path, name: "a", mode: .create, followsLinks: true)
        let digest = try FileDigest(of: file, checksum: Self.right, queue: queue)
        if looksOften { file.notifyWrites { [weak digest] in digest?.advance() } }
        for start in [3, 0, 4, 1, 2] as [Int64] { write(start * 1_000_000..<(start + 1) * 1_000_000, file) }
        #expect(try await digest.verify(total: 5_000_000))
    }

    @Test("One different byte is a wrong checksum, and the error has the actual digest")
    func mismatch() async throws {
        let file = try PartialFile.open(folder: folder.path, name: "a", mode: .create, followsLinks: true)
        write(0..<4_999_999, file)
        [UInt8](arrayLiteral: 1).withUnsafeBytes { file.write($0, at: 4_999_999) }
        let digest = try FileDigest(of: file, checksum: Self.right, queue: queue)
        do {
            _ = try await digest.verify(total: 5_000_000)
            Issue.record("the checksum matched")
        } catch {
            guard case .verificationFailed(.checksum(Self.right, let actual)) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(actual.count == 64 && actual != Self.right.digest)
        }
    }

    @Test(
        "Every algorithm gives the known digest of the text abc",
        arguments: [
            "md5:900150983cd24fb0d6963f7d28e17f72", "sha1:a9993e364706816aba3e25717850c26c9cd0d89d",
            "sha224:23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "sha384:cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
            "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
                + "454d4423643ce80e2a9ac94fa54ca49f",
            "crc32:352441c2", "crc32c:364b3fb7", "crc64nvme:05e5cabb3fc1faeb",
        ])
    func algorithms(text: String) async throws {
        let file = try PartialFile.open(folder: folder.path, name: "a", mode: .create, followsLinks: true)
        Array("abc".utf8).withUnsafeBytes { file.write($0, at: 0) }
        let parts = text.split(separator: ":").map(String.init)
        let checksum = Checksum(algorithm: try #require(Checksum.Algorithm(rawValue: parts[0])), digest: parts[1])
        let digest = try FileDigest(of: file, checksum: checksum, queue: queue)
        #expect(try await digest.verify(total: 3))
    }

    @Test("An empty file has the digest of no bytes")
    func empty() async throws {
        let file = try PartialFile.open(folder: folder.path, name: "a", mode: .create, followsLinks: true)
        let checksum = Checksum(algorithm: .sha256, digest: Content.empty.sha256)
        let digest = try FileDigest(of: file, checksum: checksum, queue: queue)
        #expect(try await digest.verify(total: 0))
    }

    @Test("A stop ends the hashing without a verdict")
    func unwanted() async throws {
        let file = try PartialFile.open(folder: folder.path, name: "a", mode: .create, followsLinks: true)
        write(0..<5_000_000, file)
        let digest = try FileDigest(of: file, checksum: Self.right, queue: queue)
        let asked = Observed(0)
        let isDone = try await digest.verify(total: 5_000_000) {
            asked.update { count in
                count += 1
                return count > 2
            }
        }
        #expect(!isDone)
        #expect(asked.value == 3)
        let other = try FileDigest(of: file, checksum: Self.right, queue: queue)
        other.abandon()
        #expect(try await !other.verify(total: 5_000_000))
    }

    @Test("Hashing fails if the file is shorter than expected")
    func unreadable() async throws {
        let file = try PartialFile.open(folder: folder.path, name: "a", mode: .create, followsLinks: true)
        write(0..<1000, file)
        let digest = try FileDigest(of: file, checksum: Self.right, queue: queue)
        await #expect(throws: DownloadError.self) { try await digest.verify(total: 5_000_000) }
    }
}
