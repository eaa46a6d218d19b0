import Foundation
import Testing

@testable import dlm

@Suite("Escaping")
struct EscapingTests {
    @Test(
        "What could move the cursor, hide text or turn it around becomes visible",
        arguments: [
            ("a\u{1B}[31mb", "a\\x1b[31mb"), ("line\nbreak\r", "line\\x0abreak\\x0d"), ("\u{7F}\u{9B}", "\\x7f\\x9b"),
            ("\u{85}", "\\x85"), ("photo\u{202E}gpj.exe", "photo\\u202egpj.exe"),
            ("\u{2066}x\u{2069}", "\\u2066x\\u2069"),
            ("\u{61C}", "\\u061c"), ("\u{2028}", "\\u2028"), ("\r\n", "\\x0d\\x0a"),
        ])
    func dangerous(text: String, escaped: String) {
        #expect(Escaping.line(text) == escaped)
    }

    @Test("Ordinary text stays as it is", arguments: ["", "a b-c_d.txt", "Über 東京 👩‍👩‍👧", "back\\slash"])
    func ordinary(text: String) {
        #expect(Escaping.line(text) == text)
    }

    @Test("In JSON the characters stay the same, but none of them is raw")
    func json() throws {
        struct Name: Document {
            var version = 1
            var name = "a\u{1B}b\u{9B}c\u{202E}d\u{7F}\n"
        }
        let text = Name().json
        #expect(text.unicodeScalars.allSatisfy { $0.isASCII && $0.value >= 0x20 && $0.value < 0x7F })
        let decoded = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        #expect(decoded?["name"] as? String == Name().name)
    }
}

@Suite("Redaction")
struct RedactionTests {
    @Test(
        "What stands before the @ of a URL is hidden",
        arguments: [
            ("http://me:pw@host/x: why", "http://***@host/x: why"), ("http://token@host", "http://***@host"),
            ("https://host/a@b", "https://host/a@b"), ("https://host/?q=a@b", "https://host/?q=a@b"),
            ("no url @ all", "no url @ all"),
        ])
    func hidden(text: String, result: String) {
        #expect(Redaction.hidingUserInformation(text) == result)
    }
}
