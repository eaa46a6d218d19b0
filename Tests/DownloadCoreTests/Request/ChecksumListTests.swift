import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

/// Returns a digest that consists of one digit, by which tests tell digests apart.
private func hex(_ digit: Character, _ count: Int = 64) -> String { String(repeating: digit, count: count) }

@Suite("ChecksumList", .inTurn)
struct ChecksumListTests {
    static func list(_ text: String, source: String = "SHA256SUMS") throws -> ChecksumList {
        try ChecksumList(Array(text.utf8), source: source)
    }

    /// Returns the entries of a text as `folder/name algorithm:digit`.
    static func entries(_ text: String) -> [String] {
        guard let list = try? Self.list(text) else { return [] }
        return list.entries.map { entry in
            let path = entry.folder.isEmpty ? entry.name : "\(entry.folder)/\(entry.name)"
            return "\(path) \(entry.checksum.algorithm.rawValue):\(entry.checksum.digest.prefix(1))"
        }
    }

    @Test(
        "Every format is read",
        arguments: [
            ("\(hex("a"))  x.iso", "x.iso sha256:a"), ("\(hex("a")) *x.iso", "x.iso sha256:a"),
            ("\(hex("a")) x.iso", "x.iso sha256:a"), ("\(hex("a"))\tx.iso", "x.iso sha256:a"),
            ("\(hex("A"))  x.iso\r", "x.iso sha256:a"), ("  \(hex("a"))  x.iso", "x.iso sha256:a"),
            ("\(hex("a"))  ./x.iso", "x.iso sha256:a"), ("\(hex("a"))  a/./b//x.iso", "a/b/x.iso sha256:a"),
            ("\(hex("a"))  /abs/x.iso", "/abs/x.iso sha256:a"), ("\(hex("a"))  two  words", "two  words sha256:a"),
            ("\(hex("1", 32))  x", "x md5:1"), ("\(hex("1", 40))  x", "x sha1:1"), ("\(hex("1", 56))  x", "x sha224:1"),
            ("\(hex("1", 96))  x", "x sha384:1"), ("\(hex("1", 128))  x", "x sha512:1"),
            ("\(hex("a"))", " sha256:a"), ("\(hex("a"))  \t", " sha256:a"), ("\(hex("a"))  -", " sha256:a"),
            ("\(hex("a")) *-", " sha256:a"), ("SHA256 (x.iso) = \(hex("a"))", "x.iso sha256:a"),
            ("SHA256(x.iso)= \(hex("a"))", "x.iso sha256:a"), ("SHA2-256(a/x)= \(hex("A"))", "a/x sha256:a"),
            ("MD5 (a (1).txt) = \(hex("1", 32))", "a (1).txt md5:1"), ("SHA1 (-) = \(hex("1", 40))", " sha1:1"),
            ("SHA512 (x) =\(hex("1", 128))\r", "x sha512:1"), ("\\\(hex("a"))  a\\\\b", "a\\b sha256:a"),
            ("\\\(hex("a"))  a\\nb", "a\nb sha256:a"), ("\\SHA256 (a\\rb) = \(hex("a"))", "a\rb sha256:a"),
            ("\u{FEFF}\(hex("a"))  x", "x sha256:a"), ("# by hand\n\n\(hex("a"))  x\n", "x sha256:a"),
            ("nonsense\n\(hex("a"))  x\nSHA256 (y) = zz", "x sha256:a"), ("\(hex("a"))  x\u{0}y", "x\u{0}y sha256:a"),
        ])
    func formats(_ text: String, _ entry: String) {
        #expect(Self.entries(text) == [entry])
    }

    @Test(
        "A text without a valid line is refused",
        arguments: [
            "", "\n\n", "# \(hex("a"))  x", hex("a", 63), hex("a", 65), "\(hex("g"))  x", "\(hex("a"))x",
            "\(hex("a")),x", "x  \(hex("a"))", "SHA256 (x) = \(hex("1", 40))", "SHA256 (x) \(hex("a"))",
            "SHA256 x = \(hex("a"))", "SHA256 )x( = \(hex("a"))", "BLAKE2b (x) = \(hex("a", 128))",
            "SHA3-256 (x) = \(hex("a"))", "SHA512/256 (x) = \(hex("a"))", "\\\(hex("a"))  a\\tb", "\\\(hex("a"))  a\\",
            "<html>\(hex("a"))</html>", "\(hex("a"))  /", "\(hex("a"))  ./", "\(hex("a"))  x/", "\u{0}\(hex("a"))  x",
            "\(hex("\u{FF11}"))  x",
            "-----BEGIN PGP SIGNED MESSAGE-----\n\(hex("a"))  x\n-----BEGIN PGP SIGNATURE-----\n\n\(hex("b"))  y",
        ])
    func refuses(_ text: String) {
        #expect(throws: DownloadError.verificationFailed(.unverifiable("SHA256SUMS: no checksum in it"))) {
            try Self.list(text)
        }
    }

    @Test("Only the signed lines of a signed file count")
    func signed() {
        let text = """
            \(hex("1"))  before
            -----BEGIN PGP SIGNED MESSAGE-----
            Hash: SHA256
            \(hex("2"))  head

            \(hex("a"))  x
            - \(hex("b"))  - y
            -----BEGIN PGP SIGNATURE-----

            \(hex("3"))  armour
            -----END PGP SIGNATURE-----
            \(hex("4"))  after

            """
        let expected = ["- y sha256:b", "x sha256:a"]
        #expect(Self.entries(text) == expected)
        #expect(Self.entries(text.replacing("\n", with: "\r\n")) == expected)
    }

    @Test(
        "A list whose name contains an unsupported algorithm is refused",
        arguments: ["B2SUMS", "b2sums.txt", "x.iso.b2", "a/x.blake3", "x.sha3", "https://e.org/x.b2sum", "B3SUMS"])
    func foreign(_ source: String) {
        #expect(throws: DownloadError.self) { try Self.list("\(hex("a"))  x", source: source) }
    }

    @Test(
        "A list is accepted if its name only resembles a name with an unsupported algorithm",
        arguments: ["b2.txt", "x.b2b", "ab2", "sha3sum.iso.sha256", "b2"])
    func notForeign(_ source: String) throws {
        #expect(try Self.list("\(hex("a"))  x", source: source).entries.count == 1)
    }

    @Test("The size of a list is limited, and a large list is read")
    func large() throws {
        #expect(throws: DownloadError.self) {
            try ChecksumList([UInt8](repeating: 0x61, count: ChecksumList.largest + 1), source: "x")
        }
        let line = "\(hex("a"))  n"
        let text = (0..<13_000).map { "\(line)\($0)\n" }.joined()
        let list = try Self.list(text)
        #expect(list.entries.count == 13_000)
        #expect(try list.checksum(for: "n12999")?.digest == hex("a"))
        #expect(try list.checksum(for: "n13000") == nil)
        let hostile = [UInt8](repeating: UInt8(ascii: "\n"), count: ChecksumList.largest)
        #expect(throws: DownloadError.self) { try ChecksumList(hostile, source: "x") }
    }

    @Test("A file's line is found by its last path component, and then by its folders")
    func lookup() throws {
        let list = try Self.list(
            """
            \(hex("a"))  ./netboot/mini.iso
            \(hex("b"))  ./netboot/gtk/mini.iso
            \(hex("c"))  gtk/other.iso
            \(hex("d"))  twice
            \(hex("d"))  twice
            \(hex("e"))  two
            \(hex("f"))  two
            \(hex("1", 32))  both
            \(hex("1", 128))  both
            \(hex("2"))  both
            """)
        func digest(_ path: String) throws -> String? { try list.checksum(for: path).map { "\($0.digest.prefix(1))" } }
        #expect(try digest("/debian/netboot/mini.iso") == "a")
        #expect(try digest("/debian/netboot/gtk/mini.iso") == "b")
        #expect(try digest("elsewhere/other.iso") == "c")
        #expect(try digest("other.iso") == "c")
        #expect(try digest("./twice") == "d")
        #expect(try list.checksum(for: "both") == Checksum(algorithm: .sha256, digest: hex("2")))
        #expect(try digest("none") == nil)
        #expect(try digest("") == nil)
        #expect(try digest("gtk") == nil)
        #expect(throws: DownloadError.self) { try digest("two") }
        #expect(throws: DownloadError.self) { try digest("mini.iso") }
    }

    private func settled(
        _ text: String, _ url: String, name: String? = nil, isOnly: Bool = true
    ) throws -> DownloadRequest {
        var request = DownloadRequest(
            url: try SourceURL.parse(url).get().url, destination: Destination(folder: "/f", fileName: name))
        try Self.list(text).settle(&request, isOnly: isOnly)
        return request
    }

    @Test("A request finds its line by URL or name, else it keeps the whole list")
    func settle() throws {
        let text = "\(hex("a"))  x y.iso\n\(hex("b"))  b\n"
        #expect(try settled(text, "http://e.org/x%20y.iso?v=1").checksum?.digest == hex("a"))
        #expect(try settled(text, "http://e.org/x%20y.iso", name: "other").checksum?.digest == hex("a"))
        #expect(try settled(text, "http://e.org/latest", name: "b").checksum?.digest == hex("b"))
        #expect(throws: DownloadError.self) { try settled(text, "http://e.org/x%20y.iso", name: "b") }
        let open = try settled(text, "http://e.org/latest", name: "c", isOnly: false)
        #expect(open.checksum == nil)
        #expect(open.checksums?.entries.count == 2)
        let stored = try JSONDecoder().decode(DownloadRequest.self, from: JSONEncoder().encode(open))
        #expect(stored == open)
    }

    @Test("If a list is too long to keep and does not have the file, it is refused before anything is fetched")
    func tooLong() throws {
        let text = (0...ChecksumList.longestCarried).map { "\(hex("a"))  n\($0)\n" }.joined()
        #expect(try settled(text, "http://e.org/n7").checksum != nil)
        let failure = DownloadError.verificationFailed(.unverifiable("SHA256SUMS: it has no checksum for x or y"))
        #expect(throws: failure) { try settled(text, "http://e.org/x", name: "y") }
    }

    @Test("A digest without a name is used for a single download only")
    func bare() throws {
        #expect(try settled("\(hex("a"))\n", "http://e.org/x").checksum?.digest == hex("a"))
        #expect(try settled("\(hex("a"))\n\(hex("1", 32))\n", "http://e.org/x").checksum?.algorithm == .sha256)
        #expect(throws: DownloadError.self) { try settled("\(hex("a"))\n", "http://e.org/x", isOnly: false) }
        #expect(throws: DownloadError.self) { try settled("\(hex("a"))\n\(hex("b"))\n", "http://e.org/x") }
        #expect(try settled("\(hex("a"))\n\(hex("b"))  x\n", "http://e.org/x").checksum?.digest == hex("b"))
        #expect(try settled("\(hex("a"))\n\(hex("b"))  y\n", "http://e.org/x").checksum == nil)
    }

    @Test("Random bytes are read or refused")
    func random() {
        var generator = SplitMix64(seed: 4)
        let alphabet = Array("0123456789abcdef ()=*\\/-.\r\n#SHA256MD5".utf8) + [0, 0xEF, 0xFF]
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            let list = try? ChecksumList(bytes, source: "s")
            #expect((list?.entries.count ?? 0) <= 4)
        }
    }
}
