import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// The digest that a file must have, even after a process has died or the request has changed.
@Suite("Verified downloads", .inTurn, .timeLimit(.minutes(2)))
struct VerificationTests {
    static let content = CrashTests.content
    static let right = Checksum(algorithm: .sha256, digest: content.sha256)
    static let wrong = Checksum(algorithm: .sha256, digest: String(repeating: "0", count: 64))

    @Test(
        "The verification by a dead process does not count for a new request with another checksum",
        arguments: [CrashTests.Point.whole, .finishing, .renamed, .renamedToAlternative, .linkedTwice])
    func askedAnew(point: CrashTests.Point) async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let request = try bench.request {
            $0.checksum = Self.wrong
            if point == .renamedToAlternative { $0.destination.ifExists = .rename }
        }
        let id = try await bench.takeOver(request) { record in
            try CrashTests.leave(point, &record, in: bench.folder)
            record.resume.verified = VerifiedChecksum(Self.right, by: .server)
        }
        let record = try await bench.ending(of: id)
        #expect(
            record.state
                == .failed(.verificationFailed(.checksum(expected: Self.wrong, actual: Self.right.digest))))
        #expect(record.completed == nil)
        #expect(bench.ranges.isEmpty)
    }

    @Test("The server's digest is kept with the bytes, and checked when the file is whole", arguments: [true, false])
    func keptDigest(isRight: Bool) async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let digest = isRight ? Self.right : Self.wrong
        let id = try await bench.takeOver(try bench.request()) { record in
            try CrashTests.leave(.half, &record, in: bench.folder)
            record.resume.digest = digest
        }
        let record = try await bench.ending(of: id)
        if isRight {
            #expect(record.state == .completed)
            #expect(record.completed?.verified == VerifiedChecksum(digest, by: .server))
            return
        }
        let failure = VerificationFailure.serverDigest(expected: digest, actual: Self.right.digest)
        #expect(record.state == .failed(.verificationFailed(failure)))
        #expect(bench.folder.names() == ["file.bin.part"])
        #expect(record.resume.mismatched == digest)
        // A new start forgets the digest together with the bytes.
        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        let second = try await bench.ending(of: id, times: 2)
        #expect(second.state == .completed)
        #expect(second.completed?.verified == nil)
        #expect(try bench.holds("file.bin", Self.content))
    }

    @Test("A completed file counts as verified only by the requested checksum")
    func completedBefore() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let id = try await bench.add { $0.checksum = Self.right }
        #expect(try await bench.ending(of: id).completed?.verified == VerifiedChecksum(Self.right, by: .user))
        _ = try await bench.add { $0.checksum = Self.right }
        #expect(try await bench.ending(of: id, times: 2).completed?.wasCurrent == true)
        _ = try await bench.add { $0.checksum = Self.wrong }
        #expect(try await bench.ending(of: id, times: 3).failure?.reason == "exists")
        let lines = "\(Self.right.digest)  file.bin\n"
        let list = try ChecksumList(Array(lines.utf8), source: "SUMS")
        _ = try await bench.add { $0.checksums = list }
        #expect(try await bench.ending(of: id, times: 4).completed?.wasCurrent == true)
    }

    @Test("A completed file is hashed again for a checksum of another algorithm, and is kept if the digest differs")
    func completedOtherwise() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let id = try await bench.add()
        #expect(try await bench.ending(of: id).completed?.verified == nil)
        let wrong = Checksum(algorithm: .md5, digest: String(repeating: "0", count: 32))
        _ = try await bench.add { $0.checksum = wrong }
        let failed = try await bench.ending(of: id, times: 2)
        #expect(failed.failure?.reason == "exists")
        #expect(failed.completed?.mismatched == wrong)
        let right = Checksum(algorithm: .md5, digest: Self.content.digest("md5"))
        _ = try await bench.add { $0.checksum = right }
        let completed = try await bench.ending(of: id, times: 3).completed
        #expect(completed?.wasCurrent == true)
        #expect(completed?.verified == VerifiedChecksum(right, by: .user))
    }

    @Test("An answer with another digest is another version, whatever its validators are")
    func judged() throws {
        var judge = ResponseJudge(start: 10, end: nil, asksRange: true)
        judge.known = ResponseJudge.Version(
            validators: Validators(etag: EntityTag(opaque: "a")), total: 100, contentType: nil, digest: Self.right)
        let same = ("ETag", "\"a\"")
        let other = ("Digest", "SHA-256=\(Data(repeating: 7, count: 32).base64EncodedString())")
        guard case .changed(let why) = judge.judge(.part(10..<100, of: 100, [same, other])) else {
            Issue.record("not changed")
            return
        }
        #expect(why.hasPrefix("its digest was sha256:"))
        guard case .newVersion = judge.judge(.whole(100, [same, other])) else {
            Issue.record("no new version")
            return
        }
        #expect(judge.judge(.part(10..<100, of: 100, [same])) == .body(offset: 10, end: 100, total: 100))
        let unknown = ("Digest", "MD5=\(Data(repeating: 7, count: 16).base64EncodedString())")
        #expect(judge.judge(.part(10..<100, of: 100, [same, unknown])) == .body(offset: 10, end: 100, total: 100))
    }
}
