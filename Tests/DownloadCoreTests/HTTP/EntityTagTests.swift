import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct EntityTagTests {
    @Test(
        "A well-formed tag is read and written back",
        arguments: [
            (#""xyzzy""#, "xyzzy", false), (#"W/"xyzzy""#, "xyzzy", true), (#""""#, "", false), (#"W/"""#, "", true),
            (#""65a1-28d""#, "65a1-28d", false), (#""a'b\c!~""#, #"a'b\c!~"#, false), (#""é日本""#, "é日本", false),
            ("\"\u{301}a\u{301}\"", "\u{301}a\u{301}", false), (#""W/x""#, "W/x", false),
        ])
    func reads(_ text: String, _ opaque: String, _ isWeak: Bool) {
        let tag = EntityTag(fieldValue: text)
        #expect(tag == EntityTag(opaque: opaque, isWeak: isWeak))
        #expect(tag?.fieldValue == text)
    }

    @Test("White space around a tag is not part of the tag")
    func spaces() {
        #expect(EntityTag(fieldValue: " \t\"a\" ") == EntityTag(opaque: "a"))
    }

    @Test(
        "A malformed tag is refused",
        arguments: [
            "", " ", "\"", "xyzzy", "\"xyzzy", "xyzzy\"", "'xyzzy'", "W/", "W/\"", "W/xyzzy", "w/\"xyzzy\"",
            "W\"xyzzy\"", "W/ \"xyzzy\"", "W/W/\"xyzzy\"", "\"a b\"", "\"a\"b\"", "\"a\", \"b\"", "\"a\"x", "x\"a\"",
            "\"a\nb\"", "\"a\r\nX: y\"", "\"a\u{0}\"", "\"a\u{7F}\"", "\"a\tb\"", "*", "\"a\";weak",
        ])
    func refuses(_ text: String) {
        #expect(EntityTag(fieldValue: text) == nil)
    }

    @Test("Two tags match strongly only when both are strong and the same (RFC 9110 section 8.8.3.2)")
    func strongComparison() {
        let weak1 = EntityTag(opaque: "1", isWeak: true)
        let weak2 = EntityTag(opaque: "2", isWeak: true)
        let strong1 = EntityTag(opaque: "1")
        let strong2 = EntityTag(opaque: "2")
        #expect(strong1.isStrongly(strong1))
        for (left, right) in [(weak1, weak1), (weak1, weak2), (weak1, strong1), (strong1, weak1), (strong1, strong2)] {
            #expect(!left.isStrongly(right))
        }
    }

    @Test("Tags that Unicode calls equivalent are different, because their bytes differ")
    func bytes() {
        let composed = EntityTag(opaque: "\u{E9}")
        let decomposed = EntityTag(opaque: "e\u{301}")
        #expect(composed.opaque == decomposed.opaque)
        #expect(composed != decomposed)
        #expect(!composed.isStrongly(decomposed))
    }

    @Test("A tag survives encoding", arguments: [EntityTag(opaque: "a\"b"), EntityTag(opaque: "é", isWeak: true)])
    func codable(_ tag: EntityTag) throws {
        #expect(try JSONDecoder().decode(EntityTag.self, from: JSONEncoder().encode(tag)) == tag)
    }
}
