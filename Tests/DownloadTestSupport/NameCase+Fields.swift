/// `Content-Disposition` fields (RFC 6266, RFC 8187): the name in the field, and the name on disk if it differs.
extension NameCase {
    package static let plainFields: [(String, String, name: String?)] =
        [
            (#"attachment; filename="a.txt""#, "a.txt", nil), (#"attachment; filename=a.txt"#, "a.txt", nil),
            (#"inline; filename="a.txt""#, "a.txt", nil), (#"ATTACHMENT; FILENAME="A.txt""#, "A.txt", nil),
            (#"form-data; name="field"; filename="a.txt""#, "a.txt", nil),
            (#"attachment;filename="a.txt""#, "a.txt", nil), (#"attachment;filename=a.txt;"#, "a.txt", nil),
            (#"attachment; filename="a.txt";"#, "a.txt", nil),
            (#"attachment; filename="a.txt" ; size=3"#, "a.txt", nil),
            (#"attachment ; filename = "a.txt""#, "a.txt", nil),
            ("attachment;\tfilename\t=\ta.txt\t", "a.txt", nil), (#"attachment; ; ;filename="a.txt""#, "a.txt", nil),
            (#"; filename="a.txt""#, "a.txt", nil), (#"filename="a.txt""#, "a.txt", nil),
            (#"filename=a.txt"#, "a.txt", nil), (#"attachment; filename=a file.txt"#, "a file.txt", nil),
            (#"attachment; filename=a file.txt ; x=y"#, "a file.txt", nil),
            (#"attachment; filename=a,b.txt"#, "a,b.txt", nil),
            (#"attachment; filename=a[1](2).txt"#, "a[1](2).txt", nil),
            (#"attachment; filename="a;b=c.txt""#, "a;b=c.txt", nil),
            (#"attachment; filename="a \"b\".txt""#, #"a "b".txt"#, nil),
            (#"attachment; filename="a\\b.txt""#, #"a\b.txt"#, name: "b.txt"),
            (#"attachment; filename="\a\b.txt""#, "ab.txt", nil),
            (#"attachment; filename="a.txt"#, "a.txt", nil), (#"attachment; filename="a.txt\"#, #"a.txt\"#, "a.txt"),
            (#"attachment; filename="a.txt"junk; size=3"#, "a.txt", nil),
            (#"attachment; filename=a"b.txt"#, #"a"b.txt"#, nil),
            (#"attachment; filename="100%20.txt""#, "100%20.txt", nil),
            (#"attachment; filename="..%2F..%2Fa.txt""#, "..%2F..%2Fa.txt", "%2F..%2Fa.txt"),
            (#"attachment; filename='a.txt'"#, "'a.txt'", nil),
            // Browsers decode words of RFC 2047, although they do not apply here (RFC 6266, appendix C.1).
            (#"attachment; filename="=?UTF-8?Q?a=2Etxt?=""#, "a.txt", nil),
            (#"attachment; filename="=?utf-8?B?5Lit5paH?= =?UTF-8?b?LnR4dA==?=""#, "中文.txt", nil),
            (#"attachment; filename="=?UTF-8?B?5Lg=?= =?UTF-8?B?rQ==?=.txt""#, "中.txt", nil),
            (
                #"attachment; filename="=?UTF-8?B?5Lit?= =?ISO-8859-1?Q?=E9?= =?UTF-8?Q?z?= =?UTF-8?Q?!?= b""#,
                "中éz! b", nil
            ),
            (#"attachment; filename==?ISO-8859-1?Q?na=EFve_1?=.txt"#, "naïve 1.txt", nil),
            (#"attachment; filename="=?UTF-8?Q?..=2F..=2Fa.txt?=""#, "../../a.txt", "a.txt"),
            (#"attachment; filename="=?koi8-r?Q?a?= b""#, "=?koi8-r?Q?a?= b", nil),
            (#"attachment; filename="a=?b=?UTF-8?B?!!?=c""#, "a=?b=?UTF-8?B?!!?=c", nil),
            // A slash in a word that stays encoded does not divide a path.
            (
                #"attachment; filename="=?Shift_JIS?B?k/qWe4zqLnR4dA==?=""#, "=?Shift_JIS?B?k_qWe4zqLnR4dA==?=",
                nil
            ),
            (#"attachment; filename="a =?UTF-8?B?5Lit/x""#, "a =?UTF-8?B?5Lit_x", nil),
            (#"attachment; filename="d/=?UTF-8?B?x/!?=.txt""#, "d/=?UTF-8?B?x_!?=.txt", "=?UTF-8?B?x_!?=.txt"),
            // Chrome and Firefox decode a value without quotes.
            ("attachment; filename= %E4%B8%AD.txt", "中.txt", nil),
            ("attachment; filename=..%2F..%2Fa.txt", "../../a.txt", "a.txt"),
            ("attachment; filename=%FF.txt", "%FF.txt", nil), ("attachment; filename=100%.txt", "100%.txt", nil),
            ("attachment; filename=\"naïve – 日本 🎉.txt\"", "naïve – 日本 🎉.txt", nil),
            ("attachment; filename=naïve.txt", "naïve.txt", nil),
            (#"attachment; filename="../../etc/passwd""#, "../../etc/passwd", "passwd"),
            (#"attachment; filename="first.txt"; filename="second.txt""#, "first.txt", nil),
            (#"attachment; filename=""; filename="second.txt""#, "second.txt", nil),
            (#"attachment; xfilename="no.txt"; filename="a.txt""#, "a.txt", nil),
            (#"attachment; note="; filename=\"no.txt\""; filename="a.txt""#, "a.txt", nil),
            ("attachment; filename=\"\u{301}a.txt\"", "\u{301}a.txt", nil),
        ]

    package static let extendedFields: [(String, String, name: String?)] =
        [
            ("attachment; filename*=UTF-8''na%C3%AFve.txt", "naïve.txt", nil),
            ("attachment; filename*=utf-8'en'a.txt", "a.txt", nil),
            ("attachment; filename*=UTF-8''%e2%82%ac%20rates", "€ rates", nil),
            ("attachment; filename*=UTF-8''%E2%82%AC%20rates;", "€ rates", nil),
            ("attachment; filename*=ISO-8859-1'de'Gr%FC%DFe.txt", "Grüße.txt", nil),
            ("attachment; filename*=iso-8859-1''a%A3.txt", "a£.txt", nil),
            ("attachment; filename*=iso-8859-1''a%9b31m%00.txt", "a\u{9B}31m\0.txt", "a31m.txt"),
            ("attachment; filename*=\"UTF-8''a%20b.txt\"", "a b.txt", nil),
            ("attachment; FileName* = UTF-8''a.txt", "a.txt", nil),
            ("attachment; filename=\"plain.txt\"; filename*=UTF-8''better.txt", "better.txt", nil),
            ("attachment; filename*=UTF-8''better.txt; filename=\"plain.txt\"", "better.txt", nil),
            ("attachment; filename*=UTF-8''a'b'c.txt", "a'b'c.txt", nil),
            ("attachment; filename*=UTF-8''A-%2541.txt", "A-%41.txt", nil),
            ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "../../etc/passwd", "passwd"),
            ("attachment; filename*=UTF-8''%5ca%5Cb.txt", "\\a\\b.txt", "b.txt"),
            ("attachment; filename*=UTF-8''first; filename*=UTF-8''second", "first", nil),
            ("attachment; filename*=UTF-8''%ff; filename*=UTF-8''second", "second", nil),
            ("attachment; filename*=UTF-8''日本.txt", "日本.txt", nil),
        ]

    /// Malformed values of `filename*`. `filename` is used instead.
    package static let malformedExtendedValues =
        [
            "a.txt", "UTF-8", "UTF-8'", "UTF-8'en", "UTF-8''", "UTF-8''%", "UTF-8''%4", "UTF-8''%zz", "UTF-8''%C3",
            "UTF-8''%C3%28", "UTF-8''%ED%A0%80", "UTF-8''%C0%AF", "UTF-16''%00a", "''a.txt", "windows-1252''a.txt",
            "\"UTF-8''a.txt%\"", "",
        ]

    package static let namelessFields =
        [
            "attachment", "inline", "attachment;", "attachment; filename", "attachment; filename=",
            #"attachment; filename="""#, "attachment; filename*=", "attachment; name=a.txt", "filename", "=", "a=b",
            "attachment; filename*0=a; filename*1=b", "attachment; x-filename=a",
            #"attachment; note="filename=a.txt""#,
        ]

    /// Fields with unusable names. An unusable `filename*` gives way to `filename`, and an unusable `filename` to the
    /// URL.
    package static let preferredFields: [(String, String?)] =
        [
            ("", nil), ("attachment; filename=p.txt; filename*=UTF-8''..", "p.txt"),
            ("attachment; filename=..; filename*=UTF-8''%2F", nil), ("attachment; filename=\"\u{202E}\"", nil),
            ("attachment; filename=p.txt; filename*=UTF-8''%20", "p.txt"), ("attachment; filename=..", nil),
            ("attachment; filename=\".\"; filename*=UTF-8''%E2%80%8B", nil),
        ]

    /// Several fields, folded lines (RFC 9112, section 5.2), and bytes that are not valid UTF-8 and count as Latin-1.
    /// Of several fields the first counts: browsers refuse such answers, other clients take any of the fields.
    package static let oddFields: [([[UInt8]], String?)] =
        [
            ([Array("attachment; filename=a.txt".utf8), Array("attachment; filename=b.txt".utf8)], "a.txt"),
            ([Array(#"attachment; filename="a.txt""#.utf8), Array("inline".utf8)], "a.txt"),
            ([Array("attachment".utf8), Array("attachment; filename=../b.txt".utf8)], nil),
            ([Array("attachment;\r\n filename=\"folded.txt\"".utf8)], "folded.txt"),
            ([Array("attachment; filename=\"two\r\n\twords.txt\"".utf8)], "two words.txt"),
            ([Array("attachment; filename=\"caf".utf8) + [0xE9] + Array(".txt\"".utf8)], "café.txt"),
            ([Array("attachment; filename=a".utf8) + [0xC3, 0x28] + Array("b.txt".utf8)], "aÃ(b.txt"),
            ([Array("attachment; filename=\"a".utf8) + [0x1B] + Array("[31m".utf8) + [0x9B, 7] + [0x22]], "a [31m"),
            ([Array("attachment; filename=\"a".utf8) + [0x7F, 8, 8] + Array("b\"".utf8)], "a   b"),
        ]
}
