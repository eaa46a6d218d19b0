import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Display width", .inTurn, .serialized)
struct DisplayWidthTests {
    @Test(
        "Wide characters take two columns, and combining characters take none",
        arguments: [
            ("abc", 3), ("", 0), ("東京.iso", 8), ("한글", 4), ("ｆｕｌｌ", 8), ("e\u{301}", 1), ("กำ", 2), ("नि", 2), ("👍", 2),
            ("👩‍👩‍👧", 2),
            ("🇩🇪", 2), ("❤️", 2), ("ü", 1), ("\u{200B}", 0), ("━╸─", 3), ("…", 1), ("\u{1B}[32mok\u{1B}[0m", 2),
        ])
    func widths(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test(
        "A name is cut in the middle, so that its end stays; below twelve columns, it is cut at the end",
        arguments: [
            ("debian-12.iso", 13, "debian-12.iso"), ("debian-12.6.0-amd64-netinst.iso", 16, "debian-12.…t.iso"),
            ("abcdef", 4, "abc…"), ("abcdef", 1, "…"), ("abcdef", 0, ""), ("東京東京東京", 5, "東京…"), ("東京東京", 4, "東…"),
        ])
    func cut(text: String, columns: Int, result: String) {
        #expect(DisplayWidth.cut(text, to: columns) == result)
        #expect(DisplayWidth.of(result) <= columns)
    }

    @Test(
        "A note is cut at its end",
        arguments: [("retry in 4 s: 503", 13, "retry in 4 s…"), ("ok", 5, "ok"), ("ok", 0, "")])
    func cutEnd(text: String, columns: Int, result: String) {
        #expect(DisplayWidth.cutEnd(text, to: columns) == result)
    }

    @Test("Padding counts columns, not characters")
    func padding() {
        #expect(DisplayWidth.padded("東", to: 4) == "東  ")
        #expect(DisplayWidth.rightAligned("東", to: 4) == "  東")
        #expect(DisplayWidth.padded("long", to: 2) == "long")
    }
}
