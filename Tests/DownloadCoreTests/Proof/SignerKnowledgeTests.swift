import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("SignerKnowledge: older lists and other keys", .inTurn)
struct SignerKnowledgeTests {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static let earlier = Date(timeIntervalSince1970: 1_700_000_000)

    struct Row: Sendable {
        let why: String
        /// The pinned key and the time of the last list, and what is to be known then; nil if nothing new.
        var known: (pin: String?, listed: Double?)?
        var signers: [(key: String, time: Double?)]
        var isList = true
        var options: Set<String> = []
        var expected: (pin: String?, listed: Double?)?
        var counts = "A"
        var refusal: String?
    }

    static let rows: [Row] = [
        Row(why: "a first list", signers: [("A", -9)], expected: (nil, -9)),
        Row(why: "a newer list", known: (nil, -9), signers: [("B", -8)], expected: (nil, -8), counts: "B"),
        Row(why: "the same list", known: (nil, -9), signers: [("A", -9)]),
        Row(why: "an older list", known: (nil, -9), signers: [("A", -10)], refusal: "olderList"),
        Row(why: "older, by another key", known: (nil, -9), signers: [("B", -10)], refusal: "olderList"),
        Row(
            why: "older, and allowed", known: (nil, -9), signers: [("A", -10)], options: ["rollback"],
            expected: (nil, -10)),
        Row(
            why: "newer, and allowed", known: (nil, -9), signers: [("A", -1)], options: ["rollback"],
            expected: (nil, -1)),
        Row(why: "an older file", known: (nil, -9), signers: [("A", -10)], isList: false),
        Row(why: "a first file", signers: [("A", -9)], isList: false),
        Row(why: "signify", known: (nil, -9), signers: [("A", nil)]),
        Row(why: "a first list of signify", signers: [("A", nil)]),
        Row(why: "a fast clock", signers: [("A", 86_400)], expected: (nil, 86_400)),
        Row(why: "the future", signers: [("A", 86_401)]),
        Row(why: "the future, later", known: (nil, -9), signers: [("A", 1e9)]),
        Row(why: "a first key", signers: [("A", nil)], isList: false, options: ["first"], expected: ("A", nil)),
        Row(why: "a first key of a list", signers: [("A", -9)], options: ["first"], expected: ("A", -9)),
        Row(why: "the first key is not recorded unasked", signers: [("A", -9)], options: ["one"], expected: (nil, -9)),
        Row(why: "the pinned key", known: ("A", nil), signers: [("A", nil)], isList: false, options: ["first"]),
        Row(why: "another key", known: ("B", nil), signers: [("A", nil)], isList: false, refusal: "otherSigner"),
        Row(
            why: "another key, of a new list", known: ("B", -9), signers: [("A", -8)], options: ["first", "rollback"],
            refusal: "otherSigner"),
        Row(why: "the only key", known: ("B", -9), signers: [("A", -8)], options: ["one"], expected: ("B", -8)),
        Row(
            why: "the only key, to be recorded", known: ("B", -9), signers: [("A", -8)], options: ["one", "first"],
            expected: ("A", -8)),
        Row(
            why: "the only key, of an old list", known: ("B", -9), signers: [("A", -10)], options: ["one"],
            refusal: "olderList"),
        Row(why: "the pinned key is the second", known: ("B", -9), signers: [("A", -10), ("B", -9)], counts: "B"),
        Row(why: "two other keys", known: ("C", nil), signers: [("A", -10), ("B", -9)], refusal: "otherSigner"),
        Row(why: "the first of two", signers: [("A", -10), ("B", -9)], options: ["first"], expected: ("A", -10)),
    ]

    private static func knowledge(_ row: (pin: String?, listed: Double?)?, _ time: Date) -> SignerKnowledge? {
        guard let row else { return nil }
        return SignerKnowledge(
            pin: row.pin.map { SignerKnowledge.Pin(key: $0, since: time) }, listed: row.listed.map { now + $0 },
            learned: time)
    }

    @Test(
        "A document with good signatures is accepted or refused, and what is new is remembered", arguments: rows.indices
    )
    func verdict(index: Int) throws {
        let row = Self.rows[index]
        let url = try SourceURL.parse("http://h/d/f").get().url
        var request = DownloadRequest(url: url, destination: Destination(folder: "/"))
        request.allowsRollback = row.options.contains("rollback")
        request.trustsFirstUse = row.options.contains("first")
        let verdict = SignerKnowledge.verdict(
            on: row.signers.map { Signer(key: $0.key, time: $0.time.map { Self.now + $0 }) }, of: "http://h/d/L",
            isList: row.isList, SignerKnowledge.Rules(request, isKeyChosen: row.options.contains("one")),
            known: Self.knowledge(row.known, Self.earlier), at: Self.now)
        switch verdict {
        case .failure(let error): #expect(error.reason == row.refusal, "\(row.why)")
        case .success(let accepted):
            #expect(row.refusal == nil && accepted.signer.key == row.counts, "\(row.why)")
            #expect(accepted.knowledge?.learned ?? Self.now == Self.now, "\(row.why)")
            #expect((accepted.knowledge != nil) == (row.expected != nil), "\(row.why): \(accepted)")
            #expect(accepted.knowledge?.pin?.key == row.expected?.pin, "\(row.why)")
            #expect(accepted.knowledge?.listed == row.expected?.listed.map { Self.now + $0 }, "\(row.why)")
        }
    }

    @Test("A new key is pinned from now on; the time of a pin stays; a clock that was set back makes nothing unusable")
    func times() throws {
        let url = try SourceURL.parse("http://h/d/f").get().url
        var request = DownloadRequest(url: url, destination: Destination(folder: "/"))
        request.trustsFirstUse = true
        let rules = SignerKnowledge.Rules(request, isKeyChosen: true)
        func knowledge(_ key: String, _ known: SignerKnowledge, at now: Date) throws -> SignerKnowledge? {
            try SignerKnowledge.verdict(
                on: [Signer(key: key, time: known.listed)], of: "u", isList: true, rules, known: known, at: now
            ).get().knowledge
        }
        let known = try #require(Self.knowledge(("A", -1), Self.now))
        let later = try #require(try knowledge("B", known, at: Self.now + 60))
        #expect(later.pin == SignerKnowledge.Pin(key: "B", since: Self.now + 60) && later.learned == Self.now + 60)
        #expect(try knowledge("B", later, at: Self.now + 90) == nil)
        let before = try #require(try knowledge("A", later, at: Self.earlier))
        #expect(before.isBelievable && before.learned == later.learned && before.listed == known.listed)
        var damaged = known
        damaged.listed = Self.now + 86_401
        #expect(!damaged.isBelievable)
    }
}
