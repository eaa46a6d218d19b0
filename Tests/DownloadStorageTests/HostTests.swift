import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import DownloadStorage

@Suite("SQLiteDownloadStore: hosts", .inTurn)
struct HostTests {
    private let now = Date(timeIntervalSince1970: 1_750_000_000)

    @Test("A host profile is kept for the next process, and a newer one replaces it")
    func kept() async throws {
        let folder = TemporaryFolder()
        let first = try folder.open()
        #expect(try await first.knowledge(ofOrigin: "https://a.example:443") == nil)
        let knowledge = HostKnowledge(best: 8, cap: nil, learned: now)
        try await first.learn(HostKnowledge(best: 3, cap: 3, learned: now - 60), ofOrigin: "https://a.example:443")
        try await first.learn(knowledge, ofOrigin: "https://a.example:443")
        await first.close()
        let second = try folder.open()
        #expect(try await second.knowledge(ofOrigin: "https://a.example:443") == knowledge)
        #expect(try await second.knowledge(ofOrigin: "http://a.example:80") == nil)
    }

    @Test("The number and the age of host profiles are limited")
    func bounded() async throws {
        let folder = TemporaryFolder()
        let store = try folder.open()
        try await store.learn(HostKnowledge(best: 2, cap: nil, learned: now - 8 * 24 * 3600), ofOrigin: "old")
        for number in 0..<520 {
            let knowledge = HostKnowledge(best: 2, cap: nil, learned: now + Double(number))
            try await store.learn(knowledge, ofOrigin: "host \(number)")
        }
        #expect(try await store.knowledge(ofOrigin: "old") == nil)
        #expect(try await store.knowledge(ofOrigin: "host 19") == nil)
        #expect(try await store.knowledge(ofOrigin: "host 20")?.best == 2)
        #expect(try await store.knowledge(ofOrigin: "host 519")?.best == 2)
    }

    @Test(
        "An impossible host profile is ignored, and can be replaced",
        arguments: [
            "best = 0", "best = -1", "best = 'many'", "cap = 0", "cap = 'x'", "best = 1 << 40", "learned = 'now'",
        ])
    func corrupt(change: String) async throws {
        let folder = TemporaryFolder()
        let store = try folder.open()
        let knowledge = HostKnowledge(best: 4, cap: 4, learned: now)
        try await store.learn(knowledge, ofOrigin: "a")
        try folder.execute("UPDATE host SET \(change)")
        #expect(try await store.knowledge(ofOrigin: "a") == nil)
        try await store.learn(knowledge, ofOrigin: "a")
        #expect(try await store.knowledge(ofOrigin: "a") == knowledge)
    }

    @Test("The documents that a folder does not have are kept for the next process, in stores of older programs, too")
    func folders() async throws {
        let folder = TemporaryFolder()
        let first = try folder.open()
        #expect(try await first.knowledge(ofFolder: "https://a.example/b/") == nil)
        let knowledge = FolderKnowledge(missing: ["SHA256SUMS", ".sha256"], learned: now)
        try await first.learn(FolderKnowledge(missing: [], learned: now - 60), ofFolder: "https://a.example/b/")
        try await first.learn(knowledge, ofFolder: "https://a.example/b/")
        await first.close()
        let second = try folder.open()
        #expect(try await second.knowledge(ofFolder: "https://a.example/b/") == knowledge)
        #expect(knowledge.isFresh(at: now + 86_399) && !knowledge.isFresh(at: now + 86_400))
        #expect(!knowledge.isFresh(at: now - 1))
        for number in 0..<502 {
            let other = FolderKnowledge(missing: ["a"], learned: now + 1 + Double(number))
            try await second.learn(other, ofFolder: "\(number)")
        }
        #expect(try await second.knowledge(ofFolder: "https://a.example/b/") == nil)
        #expect(try await second.knowledge(ofFolder: "1") == nil)
        #expect(try await second.knowledge(ofFolder: "2") != nil)
    }
}
