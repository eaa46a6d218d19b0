import DownloadCore
import DownloadTestSupport
import Testing

@Suite struct FileNamingServerTests {
    @Test(
        "A name that a server gives becomes one safe component",
        arguments: [
            // As it is.
            ("a.txt", "a.txt"), ("a", "a"), ("A file (1).tar.gz", "A file (1).tar.gz"), ("naïve.txt", "naïve.txt"),
            ("日本語.zip", "日本語.zip"), ("ملف.pdf", "ملف.pdf"), ("🎉.png", "🎉.png"), ("👍🏽.png", "👍🏽.png"),
            ("❤️.png", "❤️.png"), ("-rf", "-rf"), ("a.part", "a.part"), ("100%.txt", "100%.txt"), ("a~", "a~"),
            ("%2e%2e", "%2e%2e"), ("a:b*c?\"<>|", "a:b*c?\"<>|"), ("$(id);`id`", "$(id);`id`"), ("CON", "CON"),
            ("e\u{301}.txt", "e\u{301}.txt"), ("葛\u{E0100}.txt", "葛\u{E0100}.txt"), ("a\u{A0}b", "a\u{A0}b"),
            // Traversal.
            ("../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"), ("..\\..\\boot.ini", "boot.ini"),
            ("C:\\Windows\\a.dll", "a.dll"), ("a/..\\b", "b"), ("a/b/", "b"), ("a\\", "a"), ("/", nil), ("\\", nil),
            ("", nil), (".", nil), ("..", nil), ("...", nil), ("../..", nil), ("a/..", nil), ("a/.", nil),
            ("../\u{301}x", "\u{301}x"), ("x/\u{301}..", "\u{301}"), (".\u{200D}./x", "x"), ("a/ ", nil),
            // Hidden, and the shell's home.
            (".bashrc", "bashrc"), ("..hidden", "hidden"), (" .hidden", "hidden"), (". . .x", "x"),
            ("~root", "root"), ("~/.ssh", "ssh"), ("\u{200B}.bashrc", "bashrc"), (".\u{FEFF}.\u{AD}.x", "x"),
            ("\u{202E}.x", "x"), (".\u{301}x", "\u{301}x"), ("\u{3000}.x", "x"),
            // Controls.
            ("a\0b", "ab"), ("a\r\nb", "ab"), ("a\tb", "ab"), ("\u{1B}[31mred", "[31mred"), ("a\u{7F}b", "ab"),
            ("a\u{85}\u{9B}b", "ab"), ("a\u{2028}\u{2029}b", "ab"),
            // Bidirectional: evil‮gpj.exe shows as evilexe.jpg.
            ("evil\u{202E}gpj.exe", "evilgpj.exe"), ("\u{202A}a\u{202B}b\u{202C}c\u{202D}d", "abcd"),
            ("\u{2066}a\u{2067}b\u{2068}c\u{2069}", "abc"), ("a\u{200E}b\u{200F}c\u{61C}", "abc"),
            // Invisible.
            ("a\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}b", "ab"), ("a\u{AD}b", "ab"), ("a\u{180E}b", "ab"),
            ("a\u{115F}\u{1160}\u{3164}\u{FFA0}b", "ab"), ("a\u{34F}b", "ab"), ("a\u{E0041}\u{E007F}b", "ab"),
            ("a\u{FFF9}\u{FFFB}b", "ab"), ("a\u{2061}\u{2064}\u{206A}\u{206F}b", "ab"), ("\u{200B}", nil),
            // Ends.
            ("a.", "a"), ("a...", "a"), ("a ", "a"), (" a", "a"), ("a. . .", "a"), ("a.txt \u{3000}", "a.txt"),
            ("a.\u{200B}.", "a"), ("a.txt\u{A0}.", "a.txt"), ("   ", nil), (". .", nil), ("\n", nil),
        ] as [(String, String?)])
    func sanitized(_ text: String, _ expected: String?) {
        let name = FileNaming.sanitized(text)
        #expect(name.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        #expect(name.map(FileNaming.isUsable) ?? true)
        #expect(name.flatMap(FileNaming.sanitized) == name, "cleaning twice changes nothing")
    }

    @Test(
        "A long name is cut between characters, keeps its extension and leaves room for .part",
        arguments: [
            (long(250, "x"), long(250, "x")), (long(251, "x"), long(250, "x")), (long(9999, "x"), long(250, "x")),
            (long(300, "x") + ".iso", long(246, "x") + ".iso"), (long(246, "x") + ".iso", long(246, "x") + ".iso"),
            (long(300, "x") + ".tar.gz", long(243, "x") + ".tar.gz"),
            (long(300, "x") + ".part", long(245, "x") + ".part"),
            // 81 characters of three bytes and .iso are 247, one more would be 251.
            (String(repeating: "日", count: 100) + ".iso", String(repeating: "日", count: 82) + ".iso"),
            (String(repeating: "日", count: 100), String(repeating: "日", count: 83)),
            // One flag has eight bytes, one thumb with its colour eight, one e with its accent three.
            (String(repeating: "🇯🇵", count: 50) + ".png", String(repeating: "🇯🇵", count: 30) + ".png"),
            (String(repeating: "👍🏽", count: 50) + ".png", String(repeating: "👍🏽", count: 30) + ".png"),
            (String(repeating: "e\u{301}", count: 100), String(repeating: "e\u{301}", count: 83)),
            // One character that is too large alone is cut between its scalars.
            ("e" + String(repeating: "\u{301}", count: 200), "e" + String(repeating: "\u{301}", count: 124)),
            // Too long to be an extension.
            ("a." + long(300, "x"), "a." + long(248, "x")), ("a. " + long(300, "x"), "a. " + long(247, "x")),
            // What the cut lays bare at the end goes too.
            (long(249, "x") + "." + long(100, "y"), long(249, "x")),
            (long(249, "x") + " y" + long(99, "y"), long(249, "x")),
            (long(243, "x") + " . yyyyyyyy.iso", long(243, "x") + ".iso"),
        ])
    func limited(_ text: String, _ expected: String) {
        let name = FileNaming.sanitized(text)
        #expect(name == expected)
        #expect((name?.utf8.count ?? 0) <= 250)
        #expect(name.map { FileNaming.partial($0).utf8.count <= 255 } == true)
    }

    @Test(
        "The last segment of a URL path is decoded first and cleaned then",
        arguments: [
            ("/a.txt", "a.txt"), ("/d/a.txt", "a.txt"), ("/d/", "d"), ("/", nil), ("", nil), ("//", nil),
            ("/a%20b.txt", "a b.txt"), ("/na%C3%AFve", "naïve"), ("/%E6%97%A5", "日"), ("/a+b", "a+b"),
            ("/%2e%2e%2fetc%2fpasswd", "passwd"), ("/..%2F..%2Fx", "x"), ("/%2E%2E", nil), ("/..", nil), ("/%2F", nil),
            ("/%5C..%5Cx", "x"), ("/%00a", "a"), ("/a%00.txt", "a.txt"), ("/a%0D%0Ab", "ab"), ("/%2ebashrc", "bashrc"),
            ("/%E2%80%AEgpj.exe", "gpj.exe"), ("/a%2", "a%2"), ("/a%zz%20", "a%zz%20"), ("/100%", "100%"),
            ("/caf%E9.txt", "caf%E9.txt"), ("/%C0%AE%C0%AE%2f", "%C0%AE%C0%AE%2f"), ("/%ED%A0%80", "%ED%A0%80"),
            ("/%252e%252e", "%2e%2e"), ("/a%2Fb", "b"), ("/%20", nil), ("/a.tar.gz;v=1", "a.tar.gz;v=1"),
        ] as [(String, String?)])
    func fromPath(_ path: String, _ expected: String?) {
        #expect(FileNaming.name(fromPath: path) == expected)
    }

    @Test(
        "The name is filename*, else filename, else the last path segment, else download",
        arguments: [
            (nil, "/d/u.txt", "u.txt"), (nil, "/", "download"), (nil, "/..", "download"), ("", "/u.txt", "u.txt"),
            ("attachment", "/u.txt", "u.txt"), ("attachment; filename=p.txt", "/u.txt", "p.txt"),
            ("attachment; filename=p.txt; filename*=UTF-8''e.txt", "/u.txt", "e.txt"),
            ("attachment; filename=p.txt; filename*=UTF-8''..", "/u.txt", "p.txt"),
            ("attachment; filename=p.txt; filename*=bad", "/u.txt", "p.txt"),
            ("attachment; filename=..; filename*=UTF-8''%2F", "/u.txt", "u.txt"),
            ("attachment; filename=\"\u{202E}\"", "/", "download"),
            ("attachment; filename=\"../../a.txt\"", "/u.txt", "a.txt"),
            ("attachment; filename*=UTF-8''%2e%2e%2fa.txt", "/u.txt", "a.txt"),
        ] as [(String?, String, String)])
    func order(_ disposition: String?, _ path: String, _ expected: String) throws {
        let url = try SourceURL.parse("https://example.org\(path)").get().url
        #expect(FileNaming.name(contentDisposition: disposition, url: url) == expected)
    }

    @Test("No text whatever makes an unsafe name")
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
                && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.properties.generalCategory != .format }
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
