import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadSystem

@Suite("SignatureFinding", .inTurn)
struct SignatureFindingTests {
    private static let key = String(repeating: "A", count: 40)
    private static let subkey = String(repeating: "B", count: 40)
    private static let signer = Signer(key: key, time: Date(timeIntervalSince1970: 1_795_961_405))

    private static func valid(digest: Int = 8, kind: String = "00", by primary: String = key) -> String {
        "VALIDSIG \(primary == key ? subkey : primary) 2026-11-29 1795961405 0 4 0 22 \(digest) \(kind) \(primary)"
    }

    private static func finding(
        _ lines: [String], code: Int32 = 0, fingerprint: String? = nil, isDetached: Bool = true
    ) -> SignatureFinding {
        let status = lines.map { "[GNUPG:] \($0)\n" }.joined()
        return SignatureFinding(gpgv: "\n" + status, code, fingerprint: fingerprint, isDetached: isDetached)
    }

    @Test("A good signature: by any key, by a primary key, by a subkey, beside the signature of a stranger")
    func good() {
        let lines = ["NEWSIG", "GOODSIG B me", Self.valid()]
        for fingerprint in [nil, Self.key, Self.subkey] {
            #expect(Self.finding(lines, fingerprint: fingerprint) == .good([Self.signer]))
        }
        let stranger = ["NEWSIG", "ERRSIG C 22 8 00 1795961407 9 C", "NO_PUBKEY C"]
        #expect(Self.finding(lines + stranger, code: 2) == .good([Self.signer]))
        #expect(Self.finding(stranger + lines, code: 2) == .good([Self.signer]))
        let text = ["NEWSIG", "GOODSIG B me", Self.valid(kind: "01")]
        #expect(Self.finding(text, isDetached: false) == .good([Self.signer]))
    }

    @Test("The time of a signature is in seconds, or in the form of ISO 8601; all good keys are told, in order")
    func times() {
        let other = String(repeating: "C", count: 40)
        let later = Self.valid(by: other).replacingOccurrences(of: " 1795961405 ", with: " 20261129T141006 ")
        let lines = ["NEWSIG", "GOODSIG B me", Self.valid(), "NEWSIG", "GOODSIG C me", later]
        let second = Signer(key: other, time: Date(timeIntervalSince1970: 1_795_961_406))
        #expect(Self.finding(lines) == .good([Self.signer, second]))
        #expect(Self.finding(lines, fingerprint: other) == .good([second]))
        let odd = Self.valid().replacingOccurrences(of: " 1795961405 ", with: " soon ")
        #expect(Self.finding(["NEWSIG", "GOODSIG B me", odd]) == .good([Signer(key: Self.key, time: nil)]))
    }

    private static let hollow: [(lines: [String], code: Int32)] = [
        ([], 0), (["NODATA 2"], 2), (["NEWSIG", "GOODSIG B me"], 0), (["NEWSIG", valid()], 0),
        (["NEWSIG", "BADSIG B me"], 1), (["NEWSIG", "EXPKEYSIG B me", valid()], 0),
        (["NEWSIG", "REVKEYSIG B me", valid()], 0), (["NEWSIG", "EXPSIG B me", valid()], 0),
        (["NEWSIG", "GOODSIG B me", "NEWSIG", valid()], 0), (["NEWSIG", "GOODSIG B me", valid(digest: 1)], 0),
        (["NEWSIG", "GOODSIG B me", valid(digest: 2)], 0), (["NEWSIG", "GOODSIG B me", valid(kind: "10")], 0),
        (["NEWSIG", "GOODSIG B me", valid(kind: "01")], 0),
        (["NEWSIG", "GOODSIG B me", valid(), "NEWSIG", "BADSIG B me"], 1),
        (["NEWSIG", "GOODSIG B me", valid(), "NEWSIG", "ERRSIG B 22 1 00 1 5 B"], 2),
        (["NEWSIG", "GOODSIG B me", valid(), "ERROR proc_pkt.plaintext 89_BAD_DATA"], 2),
        (["NEWSIG", "GOODSIG B me", valid()], 2), (["NEWSIG", "GOODSIG B me", "VALIDSIG A"], 0),
        (["NEWSIG", "ERRSIG C 22 8 00 1795961407 9 C", "NO_PUBKEY C", valid()], 2),
    ]

    @Test("Status lines that prove nothing", arguments: hollow.indices)
    func bad(index: Int) {
        let (lines, code) = Self.hollow[index]
        guard case .bad = Self.finding(lines, code: code) else {
            Issue.record("\(lines)")
            return
        }
    }

    @Test("Another fingerprint does not count, and text of people is not read")
    func others() {
        let lines = ["NEWSIG", "GOODSIG B me", Self.valid()]
        let other = Self.finding(lines, fingerprint: String(repeating: "C", count: 40))
        // A valid signature by another key of the keyring does no harm.
        let twice = lines + ["NEWSIG", "GOODSIG C me", Self.valid(by: String(repeating: "C", count: 40))]
        #expect(Self.finding(twice, fingerprint: Self.key) == .good([Self.signer]))
        #expect(other == .bad("was made by another key, \(Self.subkey)"))
        let text = "gpgv: GOODSIG B me\ngpgv: \(Self.valid())\n"
        #expect(SignatureFinding(gpgv: text, 0, fingerprint: nil, isDetached: true) == .bad("is no signature"))
    }

    @Test("A file is a key by its content; a fingerprint is for OpenPGP only")
    func keys() throws {
        let line = Data("Ed".utf8 + [UInt8](0..<40)).base64EncodedString()
        func key(isMinisign: Bool) -> SigningKey {
            .ed25519(number: [UInt8](0..<8), key: [UInt8](8..<40), isMinisign: isMinisign)
        }
        #expect(try GivenKey(line).key == key(isMinisign: true))
        #expect(SigningKey(Array(line.utf8)) == key(isMinisign: true))
        for comment in ["minisign public key AB", "signify public key"] {
            for end in ["\n", "\r\n"] {
                let text = "untrusted comment: \(comment)\(end)\(line)\(end)"
                #expect(SigningKey(Array(text.utf8)) == key(isMinisign: comment.hasPrefix("minisign")))
            }
        }
        #expect(SigningKey(Array(line.utf8), fingerprint: Self.key) == nil)
        let ring: [UInt8] = [0x98, 1, 2]
        #expect(SigningKey(ring, fingerprint: Self.key) == .openPGP(ring: ring, fingerprint: Self.key))
        let block =
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\nComment: a\n\n\(Data(ring).base64EncodedString())\n=abcd\n"
            + "-----END PGP PUBLIC KEY BLOCK-----\n"
        let two = SigningKey(Array(("my keys\n" + block + block).utf8))
        #expect(two == .openPGP(ring: ring + ring, fingerprint: nil))
        for text in ["", "RWQ", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n???\n", "<html>"] {
            #expect(SigningKey(Array(text.utf8)) == nil)
        }
    }
}
