import DownloadCore
import DownloadTestSupport
import HTTPTypes
import Testing

@Suite(.inTurn) struct FileNamingServerTests {
    @Test("A file name from a server becomes one safe path component", arguments: NameCase.texts)
    func sanitized(_ text: String, _ expected: String?) {
        let name = FileNaming.sanitized(text)
        #expect(name.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        #expect(name.map(FileNaming.isUsable) ?? true)
        #expect(name.flatMap(FileNaming.sanitized) == name, "cleaning twice changes nothing")
    }

    @Test(
        "A long name is cut between characters, keeps its extension and leaves room for .part",
        arguments: NameCase.longTexts)
    func limited(_ text: String, _ expected: String) {
        let name = FileNaming.sanitized(text)
        #expect(name == expected)
        #expect((name?.utf8.count ?? 0) <= 250)
        #expect(name.map { FileNaming.partial($0).utf8.count <= 255 } == true)
    }

    @Test(
        "The name is filename*, else filename, else the last path segment (decoded, then cleaned), else 'download'",
        arguments: NameCase.all)
    func order(_ example: NameCase) throws {
        let url = try SourceURL.parse(example.url.replacing("HOST", with: "example.org")).get().url
        let field = example.fields.first.map { bytes in
            let text =
                String(validating: bytes, as: UTF8.self)
                ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
            // The field as the transport delivers it: unfolded, and with spaces for most control characters.
            return HTTPField(name: .contentDisposition, value: text.replacing(/\r\n[ \t]+/, with: " ")).value
        }
        let name = FileNaming.name(contentDisposition: field, url: url)
        #expect(Array(name.utf8) == Array(example.name.utf8))
        #expect(FileNaming.isUsable(name))
    }

    @Test("No text of a server results in an unsafe name")
    func random() {
        var generator = SplitMix64(seed: 7)
        let pieces: [String] = [
            ".", "..", "/", "\\", " ", "\0", "\n", "~", "a", "é", "日", "🎉", "\u{301}", "\u{200D}", "\u{202E}",
            "\u{FEFF}", ".tar", ".gz", ".part", "\u{3000}", "%2f", "\u{1F1EF}", "\u{600}", long(120, "z"),
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...12, using: &generator))
                .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            guard let name = FileNaming.sanitized(text) else { continue }
            let isSafe =
                FileNaming.isUsable(name) && !name.utf8.contains(UInt8(ascii: "\\"))
                && name.unicodeScalars.first != "." && name.unicodeScalars.last != "."
                && name.unicodeScalars.allSatisfy {
                    $0.value >= 0x20 && ($0.properties.generalCategory != .format || $0 == "\u{200D}")
                }
                && FileNaming.sanitized(name) == name
            let partial = FileNaming.partial(name)
            let alternative = FileNaming.alternative(name, 1)
            if !isSafe || partial == name || partial.utf8.count > 255 || !FileNaming.isUsable(alternative)
                || alternative == name
            {
                Issue.record("\(text.debugDescription) became \(name.debugDescription)")
                return
            }
        }
    }
}
