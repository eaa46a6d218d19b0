import DownloadCore
import Testing

@Suite struct ContentDispositionTests {
    @Test(
        "A plain file name is read quoted or not, and from careless servers",
        arguments: [
            (#"attachment; filename="a.txt""#, "a.txt"),
            (#"attachment; filename=a.txt"#, "a.txt"),
            (#"inline; filename="a.txt""#, "a.txt"),
            (#"ATTACHMENT; FILENAME="A.txt""#, "A.txt"),
            (#"form-data; name="field"; filename="a.txt""#, "a.txt"),
            (#"attachment;filename="a.txt""#, "a.txt"),
            (#"attachment;filename=a.txt;"#, "a.txt"),
            (#"attachment; filename="a.txt";"#, "a.txt"),
            (#"attachment; filename="a.txt" ; size=3"#, "a.txt"),
            (#"attachment ; filename = "a.txt""#, "a.txt"),
            ("attachment;\tfilename\t=\ta.txt\t", "a.txt"),
            (#"attachment; ; ;filename="a.txt""#, "a.txt"),
            (#"; filename="a.txt""#, "a.txt"),
            (#"filename="a.txt""#, "a.txt"),
            (#"filename=a.txt"#, "a.txt"),
            (#"attachment; filename=a file.txt"#, "a file.txt"),
            (#"attachment; filename=a file.txt ; x=y"#, "a file.txt"),
            (#"attachment; filename="a;b=c.txt""#, "a;b=c.txt"),
            (#"attachment; filename="a \"b\".txt""#, #"a "b".txt"#),
            (#"attachment; filename="a\\b.txt""#, #"a\b.txt"#),
            (#"attachment; filename="\a\b.txt""#, "ab.txt"),
            (#"attachment; filename="a.txt"#, "a.txt"),
            (#"attachment; filename="a.txt\"#, #"a.txt\"#),
            (#"attachment; filename="a.txt"junk; size=3"#, "a.txt"),
            (#"attachment; filename="100%20.txt""#, "100%20.txt"),
            (#"attachment; filename='a.txt'"#, "'a.txt'"),
            ("attachment; filename=\"naïve – 日本 🎉.txt\"", "naïve – 日本 🎉.txt"),
            ("attachment; filename=naïve.txt", "naïve.txt"),
            (#"attachment; filename="../../etc/passwd""#, "../../etc/passwd"),
            (#"attachment; filename="first.txt"; filename="second.txt""#, "first.txt"),
            (#"attachment; filename=""; filename="second.txt""#, "second.txt"),
            (#"attachment; xfilename="no.txt"; filename="a.txt""#, "a.txt"),
            (#"attachment; note="; filename=\"no.txt\""; filename="a.txt""#, "a.txt"),
            ("attachment; filename=\"\u{301}a.txt\"", "\u{301}a.txt"),
        ])
    func plain(_ text: String, _ expected: String) {
        let disposition = ContentDisposition(fieldValue: text)
        #expect(disposition?.fileName == expected)
        #expect(disposition?.plainFileName == expected)
        #expect(disposition?.extendedFileName == nil)
    }

    @Test(
        "An extended file name is decoded and preferred, wherever it stands",
        arguments: [
            ("attachment; filename*=UTF-8''na%C3%AFve.txt", "naïve.txt"),
            ("attachment; filename*=utf-8'en'a.txt", "a.txt"),
            ("attachment; filename*=UTF-8''%e2%82%ac%20rates", "€ rates"),
            ("attachment; filename*=UTF-8''%E2%82%AC%20rates;", "€ rates"),
            ("attachment; filename*=ISO-8859-1'de'Gr%FC%DFe.txt", "Grüße.txt"),
            ("attachment; filename*=iso-8859-1''a%A3.txt", "a£.txt"),
            ("attachment; filename*=\"UTF-8''a%20b.txt\"", "a b.txt"),
            ("attachment; FileName* = UTF-8''a.txt", "a.txt"),
            ("attachment; filename=\"plain.txt\"; filename*=UTF-8''better.txt", "better.txt"),
            ("attachment; filename*=UTF-8''better.txt; filename=\"plain.txt\"", "better.txt"),
            ("attachment; filename*=UTF-8''a'b'c.txt", "a'b'c.txt"),
            ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "../../etc/passwd"),
            ("attachment; filename*=UTF-8''first; filename*=UTF-8''second", "first"),
            ("attachment; filename*=UTF-8''%ff; filename*=UTF-8''second", "second"),
            ("attachment; filename*=UTF-8''日本.txt", "日本.txt"),
        ])
    func extended(_ text: String, _ expected: String) {
        let disposition = ContentDisposition(fieldValue: text)
        #expect(disposition?.fileName == expected)
        #expect(disposition?.extendedFileName == expected)
    }

    @Test(
        "A malformed extended file name gives way to the plain one",
        arguments: [
            "a.txt", "UTF-8", "UTF-8'", "UTF-8'en", "UTF-8''", "UTF-8''%", "UTF-8''%4", "UTF-8''%zz", "UTF-8''%C3",
            "UTF-8''%C3%28", "UTF-8''%ED%A0%80", "UTF-8''%C0%AF", "UTF-16''%00a", "''a.txt", "windows-1252''a.txt",
            "\"UTF-8''a.txt%\"", "",
        ])
    func malformedExtended(_ value: String) {
        let disposition = ContentDisposition(fieldValue: "attachment; filename*=\(value); filename=plain.txt")
        #expect(disposition?.fileName == "plain.txt")
        #expect(disposition?.extendedFileName == nil)
    }

    @Test(
        "A disposition without a file name has none",
        arguments: [
            "attachment", "inline", "attachment;", "attachment; filename", "attachment; filename=",
            #"attachment; filename="""#, "attachment; filename*=", "attachment; name=a.txt", "filename", "=", "a=b",
            "attachment; filename*0=a; filename*1=b", "attachment; x-filename=a",
        ])
    func nameless(_ text: String) {
        let disposition = ContentDisposition(fieldValue: text)
        #expect(disposition != nil)
        #expect(disposition?.fileName == nil)
    }

    @Test("Nothing at all is no disposition", arguments: ["", " ", ";", " ; ;\t"])
    func empty(_ text: String) {
        #expect(ContentDisposition(fieldValue: text) == nil)
    }
}
