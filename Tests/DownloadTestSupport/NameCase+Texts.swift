/// Names of any source, with the names on disk. Nil means that no character of the name is left.
extension NameCase {
    package static let texts: [(String, String?)] =
        [
            // Names that stay as they are, even if they are reserved on other systems or special in a shell.
            ("a.txt", "a.txt"), ("a", "a"), ("A file (1).tar.gz", "A file (1).tar.gz"), ("naïve.txt", "naïve.txt"),
            ("日本語.zip", "日本語.zip"), ("ملف.pdf", "ملف.pdf"), ("🎉.png", "🎉.png"), ("👍🏽.png", "👍🏽.png"),
            ("❤️.png", "❤️.png"), ("-rf", "-rf"), ("name.part", "name.part"), ("100%.txt", "100%.txt"), ("a~", "a~"),
            ("%2e%2e", "%2e%2e"), ("a:b*c?\"<>|", "a:b*c?\"<>|"), ("$(id);`id`", "$(id);`id`"), ("CON", "CON"),
            ("nul", "nul"), ("aux.txt", "aux.txt"), ("*", "*"), ("'a'", "'a'"), ("[a-z]{1,2}!#&", "[a-z]{1,2}!#&"),
            ("e\u{301}.txt", "e\u{301}.txt"), ("\u{E9}.txt", "\u{E9}.txt"), ("葛\u{E0100}.txt", "葛\u{E0100}.txt"),
            ("a\u{A0}b", "a\u{A0}b"), ("README", "README"), ("readme", "readme"), ("http://h/x.txt?y", "x.txt?y"),
            // Path traversal.
            ("../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"), ("..\\..\\boot.ini", "boot.ini"),
            ("C:\\Windows\\a.dll", "a.dll"), ("a/..\\b", "b"), ("a/b/", "b"), ("a\\", "a"), ("/", nil), ("\\", nil),
            ("", nil), (".", nil), ("..", nil), ("...", nil), ("../..", nil), ("a/..", nil), ("a/.", nil),
            ("....//....//x", "x"), ("../\u{301}x", "\u{301}x"), ("x/\u{301}..", "\u{301}"), (".\u{200D}./x", "x"),
            ("a/ ", nil), ("file:///etc/passwd", "passwd"), ("..%2F..%2Fx", "%2F..%2Fx"),
            // Characters that look like slashes. The kernel does not treat them as slashes.
            ("\u{2215}etc\u{2044}x", "\u{2215}etc\u{2044}x"), ("\u{FF0F}x", "\u{FF0F}x"),
            // Hidden names, and the shell's home.
            (".bashrc", "bashrc"), ("..hidden", "hidden"), (" .hidden", "hidden"), (". . .x", "x"),
            ("~root", "root"), ("~/.ssh", "ssh"), ("\u{200B}.bashrc", "bashrc"), (".\u{FEFF}.\u{AD}.x", "x"),
            ("\u{202E}.x", "x"), (".\u{301}x", "\u{301}x"), ("\u{3000}.x", "x"), (".part", "part"),
            // Control characters.
            ("a\0b", "ab"), ("a\r\nb", "ab"), ("a\tb", "ab"), ("\u{1B}[31mred", "[31mred"), ("a\u{7F}b", "ab"),
            ("a\u{85}\u{9B}b", "ab"), ("a\u{2028}\u{2029}b", "ab"), ("\u{1B}]0;owned\u{7}x", "]0;ownedx"),
            // Bidirectional marks: evil‮gpj.exe is displayed as evilexe.jpg.
            ("evil\u{202E}gpj.exe", "evilgpj.exe"), ("\u{202A}a\u{202B}b\u{202C}c\u{202D}d", "abcd"),
            ("\u{2066}a\u{2067}b\u{2068}c\u{2069}", "abc"), ("a\u{200E}b\u{200F}c\u{61C}", "abc"),
            // Invisible characters.
            ("a\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}b", "ab"), ("in\u{200C}voice", "invoice"),
            // Joiners between letters of scripts that write them, and between emoji.
            ("👩\u{200D}👩\u{200D}👧\u{200D}👦.png", "👩\u{200D}👩\u{200D}👧\u{200D}👦.png"),
            ("❤️\u{200D}🔥.png", "❤️\u{200D}🔥.png"), ("می\u{200C}خواهم.txt", "می\u{200C}خواهم.txt"),
            ("क्\u{200D}ष", "क्\u{200D}ष"), ("👩\u{200C}👩", "👩👩"), ("👩\u{200D}", "👩"),
            ("می\u{200C}\u{200C}\u{200D}خ", "می\u{200C}خ"), ("می\u{200C}.txt", "می.txt"), ("1\u{200D}2", "12"),
            ("ae" + filled(62, "\u{301}") + "b", "ae" + filled(60, "\u{301}") + "b"),
            (".\u{200D}می", "می"), ("a\u{AD}b", "ab"), ("a\u{180E}b", "ab"),
            ("a\u{115F}\u{1160}\u{3164}\u{FFA0}b", "ab"), ("a\u{34F}b", "ab"), ("a\u{E0041}\u{E007F}b", "ab"),
            ("a\u{FFF9}\u{FFFB}b", "ab"), ("a\u{2061}\u{2064}\u{206A}\u{206F}b", "ab"), ("\u{200B}", nil),
            // Variation selectors of a character that has forms, and the tags of a flag.
            ("a\u{FE0F}\u{FE0F}\u{FE0F}.txt", "a.txt"), ("a\u{180B}b", "ab"), ("a\u{E0100}b", "ab"),
            ("1\u{FE0F}\u{20E3}", "1\u{FE0F}\u{20E3}"), ("葛\u{E0100}\u{E0101}", "葛\u{E0100}"),
            ("ᠠ\u{180B}", "ᠠ\u{180B}"), ("∩\u{FE00}a\u{FE00}", "∩\u{FE00}a"),
            (
                "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}.png",
                "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}.png"
            ), ("🏴\u{E0067}\u{E0062}x", "🏴x"), ("🏴\u{E007F}", "🏴"),
            ("🏴" + filled(32, "\u{E0061}") + "\u{E007F}", "🏴"),
            // Names that show nothing, or nothing at their beginning.
            ("\u{FE0F}", nil), ("\u{2800}", nil), ("\u{FE0F}\u{180B}\u{E0100}", nil), ("\u{2800} .\u{FE0F}", nil),
            ("\u{FE0F}.txt", "txt"), ("a\u{2800}b", "a\u{2800}b"),
            // Dots and spaces at the ends.
            ("a.", "a"), ("a...", "a"), ("a ", "a"), (" a", "a"), ("a. . .", "a"), ("a.txt \u{3000}", "a.txt"),
            ("a.\u{200B}.", "a"), ("a.txt\u{A0}.", "a.txt"), ("   ", nil), (". .", nil), ("\n", nil),
        ]

    /// Long names. They are cut between characters, keep their extension, and leave room for `.part`. They have no
    /// quotes and no backslashes.
    package static let longTexts: [(String, String)] =
        [
            (filled(250, "x"), filled(250, "x")), (filled(251, "x"), filled(250, "x")),
            (filled(4096, "x"), filled(250, "x")), (filled(300, "x") + ".iso", filled(246, "x") + ".iso"),
            (filled(246, "x") + ".iso", filled(246, "x") + ".iso"),
            (filled(300, "x") + ".tar.gz", filled(243, "x") + ".tar.gz"),
            (filled(300, "x") + ".part", filled(245, "x") + ".part"),
            // 82 characters of three bytes and `.iso` are 250 bytes.
            (filled(300, "日") + ".iso", filled(246, "日") + ".iso"), (filled(300, "日"), filled(249, "日")),
            // One flag has eight bytes, one thumb with its colour eight, one e with its accent three.
            (filled(400, "🇯🇵") + ".png", filled(240, "🇯🇵") + ".png"),
            (filled(400, "👍🏽") + ".png", filled(240, "👍🏽") + ".png"),
            (filled(300, "e\u{301}"), filled(249, "e\u{301}")),
            // A letter keeps 30 marks.
            ("e" + filled(400, "\u{301}"), "e" + filled(60, "\u{301}")),
            (filled(300, "می\u{200C}"), filled(245, "می\u{200C}") + "م"),
            // These are too long to be extensions.
            ("a." + filled(300, "x"), "a." + filled(248, "x")), ("a. " + filled(300, "x"), "a. " + filled(247, "x")),
            // Characters that may not stand at the end are removed after the cut, too.
            (filled(249, "x") + "." + filled(100, "y"), filled(249, "x")),
            (filled(249, "x") + " y" + filled(99, "y"), filled(249, "x")),
            (filled(243, "x") + " . yyyyyyyy.iso", filled(243, "x") + ".iso"),
        ]
}
