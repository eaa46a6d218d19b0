import DownloadCore
import Foundation
import DownloadTestSupport
import GRDB
import Testing

@testable import DownloadStorage

@Suite("SQLiteDownloadStore: knowledge about servers", .inTurn)
struct KnowledgeTests {
    private let now = Date(timeIntervalSince1970: 1_750_000_000.25)
    private let folder = TemporaryFolder()

    @Test("Knowledge is kept for the next process, by its kind, and newer knowledge replaces it")
    func kept() async throws {
        let first = try folder.open()
        let (place, pin) = ("https://a.example/b/", SignerKnowledge.Pin(key: "AB", since: now - 7))
        #expect(try await first.knowledge(of: place) as HostKnowledge? == nil)
        let host = HostKnowledge(best: 8, cap: nil, learned: now)
        let missing = FolderKnowledge(missing: ["SHA256SUMS", ".sha256"], learned: now)
        let signers = SignerKnowledge(pin: pin, listed: now - 9, learned: now)
        try await first.learn(of: place) { [now] _ in HostKnowledge(best: 3, cap: 3, learned: now - 60) }
        try await first.learn(of: place) { known in known?.cap == 3 ? host : nil }
        try await first.learn(of: place) { known in known == nil ? missing : nil }
        try await first.learn(of: place) { _ in signers }
        try await first.learn(of: place) { _ in nil as SignerKnowledge? }
        await first.close()
        let second = try folder.open()
        #expect(try await second.knowledge(of: place) == host)
        #expect(try await second.knowledge(of: place) == missing)
        #expect(try await second.knowledge(of: place) == signers)
        #expect(try await second.knowledge(of: "https://a.example/") as HostKnowledge? == nil)
        #expect(StoreCheck.knowledge(of: place, inStoreIn: folder.path) == host)
        #expect(StoreCheck.health(ofStoreIn: folder.path).signers == [place: signers])
        #expect(missing.isFresh(at: now) && missing.isFresh(at: now + 86_399) && !missing.isFresh(at: now + 86_400))
        #expect(!missing.isFresh(at: now - 1))
    }

    @Test("A store without the table can be read and written, and its own table of hosts is left alone")
    func older() async throws {
        await (try folder.open()).close()
        try folder.execute("DROP TABLE knowledge; CREATE TABLE host (origin TEXT PRIMARY KEY, best INTEGER)")
        let store = try folder.open()
        #expect(try await store.knowledge(of: "a") as HostKnowledge? == nil)
        #expect(StoreCheck.health(ofStoreIn: folder.path).error == nil)
        let knowledge = HostKnowledge(best: 4, cap: 4, learned: now)
        try await store.learn(of: "a") { _ in knowledge }
        #expect(try await store.knowledge(of: "a") == knowledge)
    }

    @Test("The number and the age of host profiles are limited, and those of signers only by their number")
    func bounded() async throws {
        let store = try folder.open()
        let old = now - 8 * 24 * 3600
        try await store.learn(of: "old") { _ in HostKnowledge(best: 2, cap: nil, learned: old) }
        try await store.learn(of: "old") { _ in SignerKnowledge(learned: old) }
        for number in 0..<520 {
            let time = now + Double(number)
            try await store.learn(of: "host \(number)") { _ in HostKnowledge(best: 2, cap: nil, learned: time) }
            try await store.learn(of: "host \(number)") { _ in SignerKnowledge(learned: time) }
        }
        for (place, isKept) in [("old", false), ("host 19", false), ("host 20", true), ("host 519", true)] {
            #expect((try await store.knowledge(of: place) as HostKnowledge? != nil) == isKept, "\(place)")
            #expect(try await store.knowledge(of: place) as SignerKnowledge? != nil, "\(place)")
        }
        #expect(SignerKnowledge.mostKept == 5000 && FolderKnowledge.mostKept == 500)
    }

    @Test(
        "Impossible knowledge is ignored, and can be replaced",
        arguments: [
            "$.best', 0", "$.best', -1", "$.best', 'many'", "$.cap', 0", "$.cap', 'x'", "$.best', 1 << 40",
            "$.learned', 'now'",
        ])
    func corrupt(change: String) async throws {
        let store = try folder.open()
        let knowledge = HostKnowledge(best: 4, cap: 4, learned: now)
        try await store.learn(of: "a") { _ in knowledge }
        try folder.execute("UPDATE knowledge SET value = json_set(value, '\(change))")
        #expect(try await store.knowledge(of: "a") as HostKnowledge? == nil)
        try await store.learn(of: "a") { _ in knowledge }
        #expect(try await store.knowledge(of: "a") == knowledge)
    }

    @Test("The memory of signers survives the rescue of a damaged store")
    func rescued() async throws {
        let store = try folder.open()
        let signers = SignerKnowledge(pin: .init(key: "AB", since: now), listed: now, learned: now)
        try await store.learn(of: "a") { _ in signers }
        await store.close()
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: folder.store))
        try handle.write(contentsOf: Data(repeating: 0xFF, count: 100))
        try handle.close()
        let rescued = try SQLiteDownloadStore(folder: folder.path, isAlive: { _ in true })
        #expect(try await rescued.knowledge(of: "a") == signers)
    }
}
