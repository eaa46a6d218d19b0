import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine
@testable import DownloadSystem

/// Signatures by real programs, of the file or of a list beside it.
@Suite("Signatures beside the file", .inTurn, .timeLimit(.minutes(3)))
struct SignatureTests {
    static let file = Content(seed: 890, size: 300_000)
    static let other = Content(seed: 891, size: 300_000)
    static var bytes: [UInt8] { file.bytes(0..<file.size) }
    static var otherBytes: [UInt8] { other.bytes(0..<other.size) }
    static let list = "\(file.sha256)  file.bin\n"

    /// A folder of a server, and the key that the user gives.
    struct Row {
        let why: String
        let key: String
        let documents: [String: FaultReply]

        init(_ why: String, _ key: String, _ documents: [String: [UInt8]]) {
            self.init(why, key, replies: documents.mapValues { FaultReply(Content($0)) })
        }

        init(_ why: String, _ key: String, replies: [String: FaultReply]) {
            (self.why, self.key, documents) = (why, key, replies)
        }
    }

    /// Downloads the file, and returns the record.
    private static func end(_ row: Row) async throws -> (DownloadRecord, SessionBench) {
        let bench = try await SessionBench { request, _ in
            let path = request.url.path
            if path == "/iso/file.bin" { return .reply(FaultReply(file, etag: "\"a\"")) }
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            return .reply(row.documents[path] ?? row.documents[name] ?? FaultReply(status: 404))
        }
        let id = try await bench.add("/iso/file.bin") { $0.signedBy = [row.key] }
        return (try await bench.ending(of: id), bench)
    }

    private static func expectSigned(_ rows: [Row]) async throws {
        for row in rows {
            let (record, bench) = try await end(row)
            #expect(record.state == .completed, "\(row.why): \(record.state)")
            #expect(record.resume.signature?.asked == row.key, "\(row.why)")
            #expect(try bench.holds("file.bin", file), "\(row.why)")
        }
    }

    private static func expectRefused(_ rows: [Row], status: Int32 = 9) async throws {
        for row in rows {
            let (record, bench) = try await end(row)
            #expect(record.failure?.exitStatus == status, "\(row.why): \(record.state)")
            #expect(bench.folder.names() == ["file.bin.part"], "\(row.why)")
            #expect(record.resume.signature == nil, "\(row.why)")
        }
    }

    @Test("Good signatures of gpg: of the file, of a list, inside of a list; keyrings, armoured keys, fingerprints")
    func openPGP() async throws {
        try await SigningKit.with { kit in
            let (good, both) = (kit.folder("good"), kit.folder("both"))
            let binary = try await kit.sign(Self.bytes, as: "good", with: ["--detach-sign"])
            let armoured = try await kit.sign(Self.bytes, as: "good", with: ["--detach-sign", "--armor"])
            let two = try await kit.sign(Self.bytes, as: "good", "other", with: ["--detach-sign"])
            let ofList = try await kit.sign(Array(Self.list.utf8), as: "good", with: ["--detach-sign"])
            let inside = try await kit.sign(Array(("a comment\n" + Self.list).utf8), as: "good", with: ["--clearsign"])
            let fingerprint = try await kit.fingerprint("good")
            let list = Array(Self.list.utf8)
            try await Self.expectSigned([
                Row("armoured", good, ["file.bin.asc": armoured]), Row("binary", good, ["file.bin.sig": binary]),
                Row(".gpg", good, ["file.bin.gpg": binary]), Row("Debian", good, ["file.bin.sign": armoured]),
                Row("an armoured key", kit.folder("armoured"), ["file.bin.asc": armoured]),
                Row("the keyring of gpg", kit.folder("home/pubring.kbx"), ["file.bin.asc": armoured]),
                Row("a fingerprint", both + "#" + fingerprint, ["file.bin.asc": armoured]),
                Row("in lower case", both + "#" + fingerprint.lowercased(), ["file.bin.asc": armoured]),
                Row("beside a stranger's signature", good, ["file.bin.sig": two]),
                Row("Ubuntu's list", good, ["SHA256SUMS": list, "SHA256SUMS.gpg": ofList]),
                Row("Debian's list", good, ["SHA256SUMS": list, "SHA256SUMS.sign": ofList]),
                Row("Fedora's list", good, ["CHECKSUM": inside]),
                Row("the kernel's list", good, ["sha256sums.asc": inside]),
                Row("a signed copy of the list", good, ["SHA256SUMS": list, "SHA256SUMS.asc": inside]),
                Row("a bad signature, and a good list", good, ["file.bin.asc": ofList, "CHECKSUM": inside]),
            ])
        }
    }

    @Test("Good signatures of minisign and signify: of the file, of a list, inside of a list; a key as text")
    func ed25519() async throws {
        try await SigningKit.with { kit in
            let (mini, signify) = (kit.folder("a.pub"), kit.folder("signify-a.pub"))
            let list = Array(Self.list.utf8)
            let text = try kit.folder.read("a.pub").split(separator: "\n")[1]
            let ofFile = try await kit.minisign(Self.bytes)
            try await Self.expectSigned([
                Row("minisign", mini, ["file.bin.minisig": ofFile]),
                Row("a key as text", String(text), ["file.bin.minisig": ofFile]),
                Row("minisign's list", mini, ["SHA256SUMS": list, "SHA256SUMS.minisig": try await kit.minisign(list)]),
                Row("signify", signify, ["file.bin.sig": try await kit.signify(Self.bytes)]),
                Row("signify's list", signify, ["SHA256SUMS": list, "SHA256SUMS.sig": try await kit.signify(list)]),
                Row("OpenBSD's list", signify, ["SHA256.sig": try await kit.signify(list, "-e")]),
            ])
        }
    }

    @Test("Forged and sloppy OpenPGP signatures: the file gets no name, its bytes are kept")
    func forgedOpenPGP() async throws {
        try await SigningKit.with { kit in
            let (good, list) = (kit.folder("good"), Array(Self.list.utf8))
            let right = try await kit.sign(Self.bytes, as: "good", with: ["--detach-sign"])
            let wrong = try await kit.sign(Self.otherBytes, as: "good", with: ["--detach-sign"])
            let stranger = try await kit.sign(Self.bytes, as: "other", with: ["--detach-sign", "--armor"])
            let inside = try await kit.sign(
                Array("\(Self.other.sha256)  other.bin\n".utf8), as: "good", with: ["--clearsign"])
            let insideRight = try await kit.sign(list, as: "good", with: ["--clearsign"])
            let ofOther = try await kit.sign(list + list, as: "good", with: ["--detach-sign"])
            func clear(_ text: String) async throws -> [UInt8] {
                try await kit.sign(Array(text.utf8), as: "good", with: ["--clearsign"])
            }
            var rows = [
                Row("no signature", good, [:]),
                Row(
                    "of text", good,
                    ["file.bin.sig": try await kit.sign(Self.bytes, as: "good", with: ["--detach-sign", "--textmode"])]),
                Row("a list after other bytes", good, ["SHA256SUMS": Array("x\n".utf8) + insideRight]),
                Row("of another file", good, ["file.bin.asc": wrong]),
                Row("by a key that is not in the ring", good, ["file.bin.asc": stranger]),
                Row(
                    "by another key of the ring", kit.folder("both") + "#" + (try await kit.fingerprint("good")),
                    ["file.bin.asc": stranger]),
                Row("a good one and a bad one", good, ["file.bin.sig": right + wrong]),
                Row("cut off", good, ["file.bin.sig": Array(right.dropLast(20))]),
                Row("empty", good, ["file.bin.sig": [], "SHA256SUMS": list, "SHA256SUMS.gpg": []]),
                Row("HTML", good, ["file.bin.asc": Array("<html>no</html>".utf8), "SHA256SUMS": Array("<html>".utf8)]),
                Row("a list without a signature", good, ["SHA256SUMS": list]),
                Row("a signature of another list", good, ["SHA256SUMS": list, "SHA256SUMS.gpg": ofOther]),
                Row("a line after the signed part", good, ["SHA256SUMS": inside + list]),
                Row("a line before the signed part", good, ["SHA256SUMS": list + inside]),
                Row("a signed part after another", good, ["SHA256SUMS": inside + insideRight]),
                Row(
                    "a name in a comment of the armour", good,
                    [
                        "SHA256SUMS": Array(
                            String(decoding: inside, as: UTF8.self).replacingOccurrences(
                                of: "Hash: ", with: "Comment: \(Self.list)Hash: "
                            ).utf8)
                    ]),
                Row(
                    "a changed line", good,
                    [
                        "SHA256SUMS": Array(
                            String(decoding: inside, as: UTF8.self)
                                .replacingOccurrences(of: "other.bin", with: "file.bin").utf8)
                    ]),
                Row(
                    "a signed list of MD5", good,
                    ["SHA256SUMS": try await clear("\(Self.file.digest("md5"))  file.bin\n")]),
                Row(
                    "two digests", good, ["SHA256SUMS": try await clear(Self.list + "\(Self.other.sha256)  file.bin\n")]
                ),
                Row("another folder", good, ["SHA256SUMS": try await clear("\(Self.file.sha256)  old/file.bin\n")]),
                Row(
                    "a look-alike name", good, ["SHA256SUMS": try await clear("\(Self.file.sha256)  fіle.bin\n")]),
                Row(
                    "the digest of another file", good,
                    ["SHA256SUMS": try await clear("\(Self.other.sha256)  file.bin\n")]),
                Row(
                    "a signed message", good,
                    ["file.bin.gpg": try await kit.sign(Self.bytes, as: "good", with: ["--sign"])]),
                Row(
                    "SHA-1", good,
                    [
                        "file.bin.sig": try await kit.sign(
                            Self.bytes, as: "good", with: ["--digest-algo", "SHA1", "--detach-sign"])
                    ]),
                Row(
                    "an expired key", kit.folder("old"),
                    [
                        "file.bin.sig": try await kit.sign(
                            Self.bytes, as: "old", with: SigningKit.inThePast + ["--detach-sign"])
                    ]),
                Row(
                    "an expired signature", good,
                    [
                        "file.bin.sig": try await kit.sign(
                            Self.bytes, as: "good",
                            with: SigningKit.inThePast + ["--default-sig-expire", "1d", "--detach-sign"])
                    ]),
                Row(
                    "minisign's, not gpg's", good, ["file.bin.minisig": try await kit.minisign(Self.bytes)]),
                Row("1 GB", good, replies: ["file.bin.asc": FaultReply(Content(seed: 892, size: 1 << 30))]),
                Row(
                    "a redirect to another host", good,
                    replies: [
                        "/iso/file.bin.sig": .redirect(to: "http://mirror.example.net/file.bin.sig"),
                        "/file.bin.sig": FaultReply(Content(right)),
                    ]),
            ]
            let revoked = try await kit.sign(Self.bytes, as: "revoked", with: ["--detach-sign"])
            try await kit.revoke()
            rows.append(Row("a revoked key", kit.folder("revoked"), ["file.bin.sig": revoked]))
            try await Self.expectRefused(rows)
            // The server may have the signature later, so this is a failure that is repeated.
            let failing = FaultReply(Content(right)).with { $0.status = 500 }
            try await Self.expectRefused([Row("an error", good, replies: ["file.bin.sig": failing])], status: 8)
        }
    }

    @Test("Forged and sloppy signatures of minisign and signify: the file gets no name, its bytes are kept")
    func forgedEd25519() async throws {
        try await SigningKit.with { kit in
            let (mini, signify, list) = (kit.folder("a.pub"), kit.folder("signify-a.pub"), Array(Self.list.utf8))
            let right = try await kit.minisign(Self.bytes, "-t", "version 1")
            let lines = String(decoding: right, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            func changed(_ line: Int, _ text: String) -> [UInt8] {
                var lines = lines.map(String.init)
                lines[line] = text
                return Array(lines.joined(separator: "\n").utf8)
            }
            // The number of the key is not signed.
            var renumbered = [UInt8](try #require(Data(base64Encoded: String(lines[1]))))
            renumbered[3] ^= 1
            let embedded = try await kit.signify(list, "-e")
            let second = Data(repeating: 7, count: 64).base64EncodedString()
            try await Self.expectRefused([
                Row("by another key", kit.folder("b.pub"), ["file.bin.minisig": right]),
                Row(
                    "the number of another key", mini,
                    [
                        "file.bin.minisig": changed(1, Data(renumbered).base64EncodedString())
                    ]),
                Row("another comment", mini, ["file.bin.minisig": changed(2, "trusted comment: version 2")]),
                Row("another signature of the comment", mini, ["file.bin.minisig": changed(3, second)]),
                Row("no comment", mini, ["file.bin.minisig": Array(lines[..<2].joined(separator: "\n").utf8) + [10]]),
                Row("minisign's as signify's", mini, ["file.bin.sig": try await kit.signify(Self.bytes)]),
                Row("the old format", mini, ["file.bin.minisig": try await kit.minisign(Self.bytes, "-l")]),
                Row("of another file", mini, ["file.bin.minisig": try await kit.minisign(Self.otherBytes)]),
                Row("cut off", mini, ["file.bin.minisig": Array(right.prefix(90))]),
                Row(
                    "signify's by another key", kit.folder("signify-b.pub"),
                    [
                        "file.bin.sig": try await kit.signify(Self.bytes)
                    ]),
                Row("signify's of another file", signify, ["file.bin.sig": try await kit.signify(Self.otherBytes)]),
                Row("a line after signify's list", signify, ["SHA256.sig": embedded + Array("\n".utf8)]),
                Row("a list by another key", kit.folder("signify-b.pub"), ["SHA256.sig": embedded]),
                Row(
                    "gpg's, with a key of minisign", mini,
                    [
                        "file.bin.sig": try await kit.sign(Self.bytes, as: "good", with: ["--detach-sign"])
                    ]),
            ])
        }
    }

    @Test("The message says what was asked and what was found; keys that cannot be used end the attempt at once")
    func messages() async throws {
        try await SigningKit.with { kit in
            let (mini, pub) = (try await kit.minisign(Self.otherBytes), kit.folder("a.pub"))
            let (record, _) = try await Self.end(Row("", pub, ["file.bin.minisig": mini]))
            #expect(
                record.failure.map { "\($0)" }
                    == "no good signature by \(pub), so the file does not get its name; its bytes are kept: "
                    + "http://example.org/iso/file.bin.minisig is a signature of other bytes")
            for (key, status) in [(kit.folder("missing"), Int32(3)), (kit.folder("a.key"), 9)] {
                let (record, bench) = try await Self.end(Row("", key, [:]))
                #expect(record.failure?.exitStatus == status, "\(record.state)")
                #expect(bench.transport.requests.isEmpty)
            }
        }
    }

    @Test("A file on disk that lacks the signature is not taken as signed, whatever was signed before")
    func kept() async throws {
        try await SigningKit.with { kit in
            let row = Row("", kit.folder("a.pub"), ["file.bin.minisig": try await kit.minisign(Self.bytes)])
            let (record, bench) = try await Self.end(row)
            #expect(record.state == .completed)
            let path = bench.folder("file.bin")
            try Data(Self.otherBytes).write(to: URL(fileURLWithPath: path))
            let id = try await bench.add("/iso/file.bin") {
                $0.signedBy = [row.key]
                $0.destination.ifExists = .skip
            }
            #expect(try await bench.ending(of: id, times: 2).failure?.exitStatus == 9)
            try Data(Self.bytes).write(to: URL(fileURLWithPath: path))
            _ = try await bench.add("/iso/file.bin") {
                $0.signedBy = [row.key]
                $0.destination.ifExists = .skip
            }
            #expect(try await bench.ending(of: id, times: 3).state == .completed)
        }
    }

    @Test("A file that was renamed before a kill is checked again, because it may have been changed since")
    func renamed() async throws {
        try await SigningKit.with { kit in
            let bench = try await SessionBench { _, _ in .reply(FaultReply(status: 404)) }
            var request = try bench.request()
            request.signedBy = [kit.folder("a.pub")]
            let id = try await bench.takeOver(request) { record in
                try CrashTests.leave(.renamed, &record, in: bench.folder)
                let key = try GivenKey(kit.folder("a.pub"))
                record.resume.signature = FileSignature(
                    asked: key.asked, key: "1", keyDigest: key.digest, document: "http://a.example/file.bin.minisig")
            }
            #expect(try await bench.ending(of: id).failure?.exitStatus == 9)
        }
    }
}
