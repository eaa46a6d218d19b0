import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Signatures by real programs, beside what earlier downloads of the folder have seen.
@Suite("Signatures, and what was signed before", .inTurn, .timeLimit(.minutes(3)))
struct SignerTests {
    private static let list = Array(SignatureTests.list.utf8)

    /// A server whose documents change, and one session after another with the same store.
    private final class World {
        private(set) var bench: SessionBench?
        private var count = 0
        let notices = Observed<[String]>([])
        private let store: (any DownloadStore)?

        init(store: (any DownloadStore)? = nil) { self.store = store }

        /// Downloads the file in a new session, and returns its end. An error is told by its reason.
        func end(
            _ documents: [String: [UInt8]], _ keys: [String], _ change: (inout DownloadRequest) -> Void = { _ in }
        ) async throws -> (end: String, record: DownloadRecord) {
            await bench?.manager.close()
            count += 1
            let bench = try await SessionBench(
                after: bench, store: store, session: "s\(count)",
                notice: { [notices] text in notices.update { $0.append(text) } }
            ) { request, _ in
                let name = request.url.path.split(separator: "/").last.map(String.init) ?? ""
                if name == "file.bin" { return .reply(FaultReply(SignatureTests.file, etag: "\"a\"")) }
                return .reply(documents[name].map { FaultReply(Content($0)) } ?? FaultReply(status: 404))
            }
            self.bench = bench
            let id = try await bench.add("/iso/file.bin") {
                $0.signedBy = keys
                $0.destination.fileName = "file\(count)"
                change(&$0)
            }
            let record = try await bench.ending(of: id)
            let isThere = bench.folder.names().contains(
                record.state == .completed ? "file\(count)" : "file\(count).part")
            #expect(isThere, "\(bench.folder.names())")
            return (record.failure?.reason ?? record.state.kind.rawValue, record)
        }
    }

    private static func signed(
        _ kit: SigningKit, _ time: String?, as user: String = "good", _ words: String = "--detach-sign"
    ) async throws -> [UInt8] {
        try await kit.sign(list, as: user, with: (time.map { ["--faked-system-time", $0] } ?? []) + [words])
    }

    @Test(
        "gpg: an older list is refused, whatever its name and key; an equal, newer or allowed one counts"
    )
    func openPGP() async throws {
        try await SigningKit.with { kit in
            let (world, ring) = (World(), [kit.folder("both")])
            func end(_ time: String, _ change: (inout DownloadRequest) -> Void = { _ in }) async throws -> String {
                let signature = try await Self.signed(kit, time)
                return try await world.end(["SHA256SUMS": Self.list, "SHA256SUMS.gpg": signature], ring, change).end
            }
            #expect(try await end("20210101T000000") == "completed")
            #expect(try await end("20210101T000000") == "completed")
            #expect(try await end("20201231T235959") == "olderList")
            #expect(try await end("20220101T000000") == "completed")
            #expect(try await end("20210101T000000") == "olderList")
            let inside = try await Self.signed(kit, "20210601T000000", as: "other", "--clearsign")
            let (other, record) = try await world.end(["sha256sums.asc": inside], ring)
            #expect(other == "olderList" && record.failure?.exitStatus == 9)
            let text = "\(record.failure.map { "\($0)" } ?? "")"
            #expect(text.contains("2021-06-01T00:00:00Z") && text.contains("2022-01-01T00:00:00Z"), "\(text)")
            #expect(record.resume.signature == nil && record.received == SignatureTests.file.size)
            #expect(try await end("20210301T000000") { $0.allowsRollback = true } == "completed")
            #expect(try await end("20210401T000000") == "completed")
            #expect(try await end("20210301T000000") == "olderList")
            // Beside an older list, a newer one counts.
            let newer = try await Self.signed(kit, "20220101T000000", "--clearsign")
            let older = try await Self.signed(kit, "20210101T000000")
            let both = ["SHA256SUMS": Self.list, "SHA256SUMS.gpg": older, "sha256sums.asc": newer]
            #expect(try await world.end(both, ring).end == "completed")
            // A signature of the file is no list.
            let ofFile = try await kit.sign(
                SignatureTests.bytes, as: "good", with: SigningKit.inThePast + ["--detach-sign"])
            #expect(try await world.end(["file.bin.sig": ofFile], ring).end == "completed")
            #expect(world.notices.value.isEmpty)
        }
    }

    @Test("minisign: the time in the trusted comment counts; signify has none, so nothing is compared")
    func ed25519() async throws {
        try await SigningKit.with { kit in
            let world = World()
            func end(_ comment: String) async throws -> String {
                let signature = try await kit.minisign(Self.list, "-t", comment)
                return try await world.end(
                    ["SHA256SUMS": Self.list, "SHA256SUMS.minisig": signature], [kit.folder("a.pub")]
                ).end
            }
            #expect(try await end("timestamp:1700000000\tfile:SHA256SUMS\thashed") == "completed")
            #expect(try await end("timestamp:1699999999\tfile:SHA256SUMS\thashed") == "olderList")
            #expect(try await end("timestamp:1700000000") == "completed")
            // A clock that is years ahead does not lock the folder.
            #expect(try await end("timestamp:9000000000") == "completed")
            #expect(try await end("a comment without a time") == "completed")
            #expect(try await end("timestamp:1700000001") == "completed")
            #expect(try await end("timestamp:1700000000") == "olderList")
            let signify = ["SHA256.sig": try await kit.signify(Self.list, "-e")]
            #expect(try await world.end(signify, [kit.folder("signify-a.pub")]).end == "completed")
        }
    }

    @Test(
        "The first key of a keyring that signs is the only one that counts, until another one alone is given to be recorded"
    )
    func firstUse() async throws {
        try await SigningKit.with { kit in
            let (world, both) = (World(), kit.folder("both"))
            let (good, other) = (try await kit.fingerprint("good"), try await kit.fingerprint("other"))
            func document(_ users: String) async throws -> [String: [UInt8]] {
                ["file.bin.sig": try await kit.sign(SignatureTests.bytes, as: users, with: ["--detach-sign"])]
            }
            let (ofGood, ofOther) = (try await document("good"), try await document("other"))
            let ofTwo = [
                "file.bin.sig": try await kit.sign(SignatureTests.bytes, as: "other", "good", with: ["--detach-sign"])
            ]
            #expect(try await world.end(ofOther, [both]).end == "completed")
            #expect(try await world.end(ofGood, [both]) { $0.trustsFirstUse = true }.end == "completed")
            #expect(try await world.end(ofGood, [both]).end == "completed")
            let (end, record) = try await world.end(ofOther, [both])
            #expect(end == "otherSigner" && record.failure?.exitStatus == 9)
            let text = "\(record.failure.map { "\($0)" } ?? "")"
            #expect(text.contains(good) && text.contains(other), "\(text)")
            #expect(try await world.end(ofOther, [both]) { $0.trustsFirstUse = true }.end == "otherSigner")
            #expect(try await world.end(ofOther, [kit.folder("other"), both]).end == "otherSigner")
            #expect(try await world.end(ofTwo, [both]).record.resume.signature?.key == good)
            let chosen = [both + "#" + other]
            #expect(try await world.end(ofOther, chosen).end == "completed")
            #expect(try await world.end(ofOther, [both]).end == "otherSigner")
            #expect(try await world.end(ofOther, chosen) { $0.trustsFirstUse = true }.end == "completed")
            #expect(try await world.end(ofGood, [both]).end == "otherSigner")
            #expect(try await world.end(ofTwo, [both]).record.resume.signature?.key == other)
            // The key of minisign is the only one of this request.
            let mini = ["file.bin.minisig": try await kit.minisign(SignatureTests.bytes)]
            #expect(try await world.end(mini, [both, kit.folder("a.pub")]).end == "otherSigner")
            #expect(try await world.end(mini, [kit.folder("a.pub")]) { $0.trustsFirstUse = true }.end == "completed")
            #expect(try await world.end(ofGood, [both]).end == "otherSigner")
        }
    }

    /// A store that remembers nothing about servers.
    private final class ForgetfulStore: ForwardingStore {
        let inner: any DownloadStore = GatedStore()

        func learn<Knowledge: ServerKnowledge>(
            of place: String, _ change: @escaping @Sendable (Knowledge?) -> Knowledge?
        ) async throws {
            throw DownloadError.unexpected("full")
        }
    }

    @Test("If the store cannot be written, a good signature counts, and one line says that nothing is remembered")
    func unwritable() async throws {
        try await SigningKit.with { kit in
            let world = World(store: ForgetfulStore())
            let documents = ["SHA256SUMS": Self.list, "SHA256SUMS.gpg": try await Self.signed(kit, nil)]
            #expect(try await world.end(documents, [kit.folder("good")]).end == "completed")
            let folder = "http://example.org/iso/"
            #expect(world.notices.value.filter { $0.hasPrefix(folder) }.count == 1, "\(world.notices.value)")
        }
    }
}
