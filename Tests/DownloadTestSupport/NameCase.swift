/// A file name from a server or a URL, and the name that the file must get on disk. The parsers and the program are
/// tested with the same table.
package struct NameCase: Sendable, CustomStringConvertible {
    /// The URL. `HOST` stands for a server, and `CASE` in the query for the number of the case.
    package var url: String
    /// The values of `Content-Disposition` fields as bytes, which may be other than UTF-8.
    package var fields: [[UInt8]] = []
    package var name: String

    package var description: String {
        let texts = fields.isEmpty ? [url] : fields.map { String(decoding: $0, as: UTF8.self) }
        return texts.map { $0.unicodeScalars.prefix(120).map { $0.escaped(asASCII: true) }.joined() }
            .joined(separator: " and ")
    }

    /// Whether the URL can be fetched, because it is on the server of the test.
    package var canBeFetched: Bool { url.contains("HOST") }

    package static let all: [NameCase] = {
        var all = urls.map { NameCase(url: $0.0, name: $0.1) }
        // If the field has no usable name, the name comes from the URL.
        func add(_ fields: [[UInt8]], _ name: String?) {
            let own = "url-\(all.count).bin"
            all.append(NameCase(url: "http://HOST/\(own)?CASE", fields: fields, name: name ?? own))
        }
        for (text, name) in texts { add([Array("attachment; filename*=UTF-8''\(percentEncoded(text))".utf8)], name) }
        for (text, name) in longTexts { add([Array("attachment; filename=\"\(text)\"".utf8)], name) }
        for (field, parsed, name) in plainFields { add([Array(field.utf8)], name ?? parsed) }
        for (field, parsed, name) in extendedFields { add([Array(field.utf8)], name ?? parsed) }
        for value in malformedExtendedValues {
            add([Array("attachment; filename*=\(value); filename=plain.txt".utf8)], "plain.txt")
        }
        for field in namelessFields { add([Array(field.utf8)], nil) }
        for (field, name) in preferredFields { add([Array(field.utf8)], name) }
        for (fields, name) in oddFields { add(fields, name) }
        return all
    }()

    static func percentEncoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

// MARK: URLs

extension NameCase {
    package static let urls: [(String, String)] =
        [
            // URLs without a name. The host, the query and the fragment are never used.
            ("http://HOST?CASE", "download"), ("http://HOST/?CASE", "download"), ("http://HOST//?CASE", "download"),
            ("http://HOST/?CASE&file=x.txt", "download"), ("http://HOST/?CASE#x.txt", "download"),
            ("https://[::1]:8443/", "download"), ("https://xn--bcher-kva.example/", "download"),
            ("http://bücher.example", "download"), ("http://name:pass@example.org:81/", "download"),
            // Query, fragment and parameters.
            ("http://HOST/a.txt?CASE", "a.txt"), ("http://HOST/a.txt?CASE#b.txt", "a.txt"),
            ("http://HOST/a.txt?CASE&b=../../c.txt", "a.txt"), ("http://HOST/a.txt?CASE/d.txt", "a.txt"),
            ("http://HOST/a.tar.gz;v=1?CASE", "a.tar.gz;v=1"), ("http://HOST/a;b=c/d;e=f?CASE", "d;e=f"),
            // Slashes.
            ("http://HOST/d/a.txt?CASE", "a.txt"), ("http://HOST/d/?CASE", "d"), ("http://HOST/d//?CASE", "d"),
            ("http://HOST//a.txt?CASE", "a.txt"),
            // Escapes, decoded once.
            ("http://HOST/a%20b.txt?CASE", "a b.txt"), ("http://HOST/a b.txt?CASE", "a b.txt"),
            ("http://HOST/na%C3%AFve?CASE", "naïve"), ("http://HOST/naïve.txt?CASE", "naïve.txt"),
            ("http://HOST/%E6%97%A5?CASE", "日"), ("http://HOST/a+b?CASE", "a+b"), ("http://HOST/a%2Bb?CASE", "a+b"),
            ("http://HOST/%61%2E%74%78%74?CASE", "a.txt"), ("http://HOST/a%3Fb%23c?CASE", "a?b#c"),
            ("http://HOST/%252e%252e%252fx?CASE", "%2e%2e%2fx"), ("http://HOST/a%252Fb?CASE", "a%2Fb"),
            // Invalid escapes, and bytes that are not UTF-8, stay unchanged.
            ("http://HOST/a%2?CASE", "a%2"), ("http://HOST/a%zz%20?CASE", "a%zz"), ("http://HOST/100%?CASE", "100%"),
            ("http://HOST/caf%E9.txt?CASE", "caf%E9.txt"), ("http://HOST/%C0%AE%C0%AE%2f?CASE", "%C0%AE%C0%AE%2f"),
            ("http://HOST/%ED%A0%80?CASE", "%ED%A0%80"), ("http://HOST/%FF%FE.x?CASE", "%FF%FE.x"),
            // Traversal.
            ("http://HOST/..?CASE", "download"), ("http://HOST/a/..?CASE", "download"),
            ("http://HOST/../../a.txt?CASE", "a.txt"), ("http://HOST/%2E%2E?CASE", "download"),
            ("http://HOST/%2e%2e%2fetc%2fpasswd?CASE", "passwd"), ("http://HOST/..%2F..%2Fx?CASE", "x"),
            ("http://HOST/a%2Fb?CASE", "b"), ("http://HOST/%2F?CASE", "download"), ("http://HOST/%5C..%5Cx?CASE", "x"),
            ("http://HOST/a\\b?CASE", "b"), ("http://HOST/%2ebashrc?CASE", "bashrc"),
            // Invisible characters.
            ("http://HOST/%00?CASE", "download"), ("http://HOST/%00a?CASE", "a"),
            ("http://HOST/a%00.txt?CASE", "a.txt"), ("http://HOST/a%0D%0Ab?CASE", "ab"),
            ("http://HOST/%1B%5D0;owned%07?CASE", "]0;owned"), ("http://HOST/%C2%9B31mred?CASE", "31mred"),
            ("http://HOST/%E2%80%AEgpj.exe?CASE", "gpj.exe"), ("http://HOST/%20?CASE", "download"),
            // Long names.
            ("http://HOST/" + filled(4096, "x") + ".iso?CASE", filled(246, "x") + ".iso"),
            ("http://HOST/" + String(repeating: "%E6%97%A5", count: 500) + ".iso?CASE", filled(246, "日") + ".iso"),
        ]

    /// Returns `piece` repeated as often as it fits in this number of bytes.
    package static func filled(_ bytes: Int, _ piece: String) -> String {
        String(repeating: piece, count: bytes / piece.utf8.count)
    }
}
