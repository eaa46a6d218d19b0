import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Escaping", .inTurn, .serialized)
struct EscapingTests {
    @Test(
        "Characters become visible if they could move the cursor, hide text or reverse text",
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

    @Test("In JSON, control characters are escaped, and the decoded text is the same as before")
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

@Suite("Redaction", .inTurn, .serialized)
struct RedactionTests {
    @Test(
        "The login and the secret parameters of a URL are hidden",
        arguments: [
            ("http://me:pw@host/x: why", "http://***@host/x: why"), ("http://token@host", "http://***@host"),
            ("https://host/a@b", "https://host/a@b"), ("https://host/?q=a@b", "https://host/?q=a@b"),
            ("no url @ all", "no url @ all"), ("http://h/?a=1&token=s%20x&b=2#f", "http://h/?a=1&token=***&b=2#f"),
            ("http://h/?X-Amz-Signature=s: 403 Forbidden", "http://h/?X-Amz-Signature=***: 403 Forbidden"),
            ("http://h/#access_token=s", "http://h/#access_token=***"),
            ("http://h/?sig=s;key=t", "http://h/?sig=***;key=***"),
            ("http://h/?token=&x=1", "http://h/?token=&x=1"), ("http://h/token=s", "http://h/token=s"),
            ("http://h/?next=http://a:b@c/&key=s", "http://h/?next=http://a:b@c/&key=***"),
            ("a http://a:b@h/ and http://h/?sig=s.", "a http://***@h/ and http://h/?sig=***."),
            ("?token=s", "?token=s"),
            ("http://h/?design=x&sign=y", "http://h/?design=x&sign=y"), ("http://", "http://"),
            ("://?token=s", "://?token=***"),
        ])
    func hidden(text: String, result: String) {
        #expect(Redaction.hidden(text) == result)
    }
}

@Suite("Secrets among the arguments", .inTurn, .serialized)
struct ArgumentSecretsTests {
    private func shown(_ words: [String]) -> [String] {
        let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count + 2)
        defer { pointers.deallocate() }
        for (index, word) in (["dlm"] + words).enumerated() { pointers[index] = strdup(word) }
        pointers[words.count + 1] = nil
        ArgumentSecrets.hide(in: pointers)
        return words.indices.map { index in
            defer { free(pointers[index + 1]) }
            return pointers[index + 1].map { String(cString: $0) } ?? ""
        }
    }

    @Test(
        "Secrets are overwritten in place, and nothing else is",
        arguments: [
            (["get", "-H", "Cookie: a=b", "http://h/x"], ["get", "-H", "Cookie:****", "http://h/x"]),
            (["get", "-vH", "X-Token:s", "-H", "Accept: */*"], ["get", "-vH", "X-Token:*", "-H", "Accept: */*"]),
            (["--header=Authorization: Bearer s", "-HX-Key: s"], ["--header=Authorization:*********", "-HX-Key:**"]),
            (["-qHX-Key: s", "-kuann:pw"], ["-qHX-Key:**", "-kuann:**"]), (["-oHA:b"], ["-oHA:b"]),
            (["--header", "no field : s", "-o", "a: b"], ["--header", "no field :**", "-o", "a: b"]),
            (
                ["http://me:pw@h/?token=abc&x=y", "-d", "Cookie: x"],
                ["http://*****@h/?token=***&x=y", "-d", "Cookie: x"]
            ),
            (["-H"], ["-H"]), ([], []), (["set-url", "1", "http://é:ü@h/"], ["set-url", "1", "http://*****@h/"]),
        ])
    func hidden(words: [String], result: [String]) {
        #expect(shown(words) == result)
    }
}
