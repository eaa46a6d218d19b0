import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("Hostile Metalink documents", .inTurn, .timeLimit(.minutes(1)))
struct HostileMetalinkTests {
    static let sha256 = String(repeating: "0a", count: 32)

    private func file(_ inside: String, root: String = "metalink") throws -> Metalink.File {
        let text = "<\(root)><file name=\"a\">\(inside)</file></\(root)>"
        return try #require(try Metalink(Array(text.utf8), name: "doc").files.first)
    }

    private func failure(_ text: String) -> String? {
        do throws(DownloadError) {
            _ = try Metalink(Array(text.utf8), name: "doc")
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("Control characters and references to invalid characters are refused")
    func controls() {
        for text in ["\u{1}", "<![CDATA[\u{1}]]>", "&#1;", "&#x0;", "<![CDATA[a\u{0}]]>", "&#xFFFFFFFFF;", "&#xD800;"] {
            #expect(failure("<metalink><file name='a'><size>\(text)</size></file></metalink>") != nil, "\(text)")
        }
    }

    @Test(
        "A character reference may only have digits",
        arguments: ["&#+65;", "&#x+41;", "&#-65;", "&#;", "&#x;", "&#6A;", "&#x4G;", "&# 65;"])
    func references(text: String) {
        #expect(failure("<metalink><file name='\(text)'/></metalink>")?.contains("entity") == true)
    }

    @Test("Another encoding is refused, however it is declared", arguments: [" ", "\t", "\n", "\r\n"])
    func encodings(space: String) {
        let rest = "<metalink><file name='a'/></metalink>"
        let declared = "<?xml\(space)version='1.0'\(space)encoding\(space)=\(space)"
        #expect(failure("\(declared)'utf-7'?>\(rest)")?.contains("encoding utf-7") == true)
        #expect(failure("\(declared)'UTF-8'?>\(rest)") == nil)
    }

    @Test("Elements and attributes of other namespaces are ignored")
    func namespaces() throws {
        let read = try file("<size>5</size><x:size>6</x:size><x:url>http://evil/</x:url><url>http://a/</url>")
        #expect(read.size == 5 && read.sources.map(\.url.string) == ["http://a/"])
        let text = "<m:metalink xmlns:m='urn:x'><m:file x:name='../b' name='a'><m:size>5</m:size></m:file></m:metalink>"
        let own = try Metalink(Array(text.utf8), name: "doc").files
        #expect(own.map(\.name) == ["a"] && own.first?.size == 5)
    }

    @Test("Long text is permitted in ignored elements only")
    func longTexts() throws {
        let long = String(repeating: "x", count: 100_000)
        #expect(try file("<signature>\(long)</signature><description>\(long)</description>").isSigned)
        #expect(failure("<metalink><file name='a'><url>\(long)</url></file></metalink>")?.contains("too long") == true)
        #expect(
            failure("<metalink><file name='a'><size>\(long)</size></file></metalink>")?.contains("too long") == true)
    }

    @Test("Sixty thousand equal digests are read")
    func manyDigests() throws {
        let hashes = String(repeating: "<hash type='sha-256'>\(Self.sha256)</hash>", count: 60_000)
        #expect(try file(hashes).checksum?.digest == Self.sha256)
    }

    @Test("Contradictory digests or sizes, and digests of wrong length, are errors")
    func contradictions() {
        let (other, short) = (String(repeating: "1", count: 64), "1234")
        for (hash, why) in [(other, "two sha256"), (short, "no sha256"), (Self.sha256 + "00", "no sha256")] {
            let inside = "<hash type='sha-256'>\(Self.sha256)</hash><hash type='SHA256'>\(hash)</hash>"
            #expect(failure("<metalink><file name='a'>\(inside)</file></metalink>")?.contains(why) == true, "\(hash)")
        }
        #expect(
            failure("<metalink><file name='a'><size>1</size><size>2</size></file></metalink>")?.contains("two sizes")
                == true)
    }

    @Test(
        "A size that is not a number of bytes is skipped with a message",
        arguments: ["-1", "+1", "1.0", "0x10", "1e3", "9223372036854775808", "99999999999999999999", "１"])
    func sizes(text: String) throws {
        let document = "<metalink><file name='a'>\n<size>\(text)</size><url>http://h/</url></file></metalink>"
        let metalink = try Metalink(Array(document.utf8), name: "doc")
        #expect(metalink.files.map(\.size) == [nil] && metalink.files[0].sources.count == 1)
        #expect(metalink.skipped == ["line 2: the <size> '\(text)' of 'a' is skipped"])
    }

    @Test(
        "Pieces that do not fit the file are ignored, and the rest of the document is used",
        arguments: [
            ("1024", 1, 2000), ("1024", 3, 2048), ("0", 1, 1), ("-5", 1, 1), ("99999999999999999999", 1, 1),
            ("1", 5, 5),
            ("9223372036854775807", 1, 5), ("1024", 1, 0), ("x", 1, 5),
        ] as [(String, Int, Int64)])
    func pieces(length: String, count: Int, size: Int64) throws {
        let hashes = String(repeating: "<hash>\(Self.sha256)</hash>", count: count)
        let read = try file("<size>\(size)</size><pieces length='\(length)' type='sha-256'>\(hashes)</pieces>")
        #expect(read.pieces == nil && read.size == size)
    }

    @Test(
        "Pieces of the greatest permitted number and length are accepted only if they fit the size of the file",
        arguments: [
            (Int64.max, false), ((1 << 57) + 1, false), (1 << 57, true), ((1 << 57) - (1 << 40) + 1, true),
            ((1 << 57) - (1 << 40), false),
        ] as [(Int64, Bool)])
    func largestPieces(size: Int64, isFitting: Bool) throws {
        let hashes = String(repeating: "<hash>\(String(repeating: "0", count: 32))</hash>", count: 4)
        let read = try file("<size>\(size)</size><pieces length='\(1 << 40)' type='md5'>\(hashes)</pieces>")
        #expect(read.pieces == nil && read.size == size)
        let pieces = try #require(
            PieceHashes(
                algorithm: .md5, length: 1 << 40,
                digests: [String](repeating: String(repeating: "0", count: 32), count: 1 << 17)))
        #expect(pieces.fits(size: size) == isFitting)
        if isFitting { #expect(pieces.range(pieces.count - 1, size: size) == (1 << 57) - (1 << 40)..<size) }
    }

    @Test(
        "Pieces with an invalid digest are ignored",
        arguments: ["", "0a", "zz", String(repeating: "g", count: 64)])
    func pieceDigests(text: String) throws {
        let hashes = "<hash>\(Self.sha256)</hash><hash>\(text)</hash>"
        #expect(try file("<size>2000</size><pieces length='1024' type='sha-256'>\(hashes)</pieces>").pieces == nil)
    }

    @Test(
        "Names with invisible characters are refused",
        arguments: [
            "a\u{202E}b", "a\u{2066}b", "a\u{200F}b", "a\u{061C}b", "a\u{200B}b", "a\u{2028}b", "a\u{85}b", "a\u{7F}b",
            "a\u{FEFF}b", "a\u{E0041}b", "a\nb", "a\tb", " a", "a ", "a/ /b", "\u{2060}a",
        ])
    func names(name: String) {
        #expect(throws: DownloadError.self) { try Metalink.File(name: name).path() }
    }

    @Test(
        "Unsafe names are refused even if they are written with character references",
        arguments: ["..&#47;b", "&#46;&#46;/b", "&#x2f;etc/passwd", "&#126;/b", "a/&#x2e;ssh/b"])
    func writtenNames(name: String) throws {
        let text = "<metalink><file name='\(name)'/></metalink>"
        let read = try #require(try Metalink(Array(text.utf8), name: "doc").files.first)
        #expect(throws: DownloadError.self) { try read.path() }
    }

    @Test("A deep, wide or long document is refused or read, and nothing overflows")
    func shapes() throws {
        #expect(failure(String(repeating: "<metalink>", count: 100_000))?.contains("deep") == true)
        let attributes = (0..<1000).map { "a\($0)='x'" }.joined(separator: " ")
        #expect(failure("<metalink \(attributes)><file name='a'/></metalink>")?.contains("malformed") == true)
        let value = String(repeating: "x", count: 1 << 20)
        #expect(failure("<metalink a='\(value)'><file name='a'/></metalink>") == nil)
        #expect(failure("<!--" + String(repeating: "-", count: 1 << 18)) != nil)
        #expect(failure("<metalink><file name='a' name='b'/></metalink>")?.contains("twice") == true)
        let urls = (0..<5000).map { "<url>http://h\($0)/</url>" }.joined()
        #expect(try file(urls).sources.count == Metalink.mostSources)
    }
}
