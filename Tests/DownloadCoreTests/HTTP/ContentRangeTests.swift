import DownloadCore
import DownloadTestSupport
import HTTPTypes
import Testing

@Suite(.inTurn) struct ContentRangeTests {
    @Test(
        "A part that ends behind its total size disproves the size",
        arguments: [
            ("bytes 0-9/9", true), ("bytes 5-9/1", true), ("bytes 0-9/10", false), ("bytes 0-9/*", false),
            ("bytes 9-0/5", false), ("bytes */9", false), ("bytes 0-9/x", false), ("items 0-9/9", false), ("", false),
        ])
    func exceeds(value: String, isSo: Bool) {
        var head = ResponseHead(status: 206)
        head.fields[.contentRange] = value
        #expect(ContentRange.exceedsTotal(head) == isSo)
        #expect(!ContentRange.exceedsTotal(ResponseHead(status: 206)))
    }

    @Test(
        "A well-formed field is read",
        arguments: [
            ("bytes 0-0/1", ContentRange.satisfied(0..<1, total: 1)),
            ("bytes 0-99/200", .satisfied(0..<100, total: 200)),
            ("bytes 100-199/200", .satisfied(100..<200, total: 200)),
            ("bytes 42-1233/*", .satisfied(42..<1234, total: nil)),
            ("BYTES 1-2/3", .satisfied(1..<3, total: 3)),
            ("Bytes 007-010/0011", .satisfied(7..<11, total: 11)),
            (" \tbytes 0-1/2 \t", .satisfied(0..<2, total: 2)),
            ("bytes 4294967296-8589934591/8589934592", .satisfied(4_294_967_296..<8_589_934_592, total: 8_589_934_592)),
            (
                "bytes 0-9223372036854775806/9223372036854775807",
                .satisfied(0..<9_223_372_036_854_775_807, total: 9_223_372_036_854_775_807)
            ),
            ("bytes 9223372036854775806-9223372036854775806/*", .satisfied(Int64.max - 1..<Int64.max, total: nil)),
            ("bytes */200", .unsatisfied(total: 200)),
            ("bytes */0", .unsatisfied(total: 0)),
            ("bytes */*", .unsatisfied(total: nil)),
        ])
    func reads(_ text: String, _ expected: ContentRange) {
        #expect(ContentRange(fieldValue: text) == expected)
    }

    @Test(
        "A malformed, contradictory or too large range is refused",
        arguments: [
            "", " ", "bytes", "bytes ", "bytes /", "bytes 0-1", "bytes 0-1/", "bytes /2", "0-1/2", "/", "-", "*/*",
            // The last byte comes before the first, or lies outside of the file.
            "bytes 2-1/3", "bytes 0-2/2", "bytes 0-2/0", "bytes 5-9/9", "bytes 200-100/*",
            // Overflow: in a position, in the total, and in the last position plus one.
            "bytes 0-9223372036854775808/*", "bytes 9223372036854775808-9223372036854775809/*",
            "bytes 0-1/9223372036854775808", "bytes 0-9223372036854775807/*", "bytes */9223372036854775808",
            "bytes 0-99999999999999999999999999999999/*",
            // Another unit.
            "items 0-1/2", "byte 0-1/2", "bytesx 0-1/2", "octets 0-1/2", "none", "bytes\u{301} 0-1/2",
            // Malformed values.
            "bytes=0-1/2", "bytes:0-1/2", "bytes 0-1/2,bytes 2-3/4", "bytes 0-1,2-3/4", "bytes 0 - 1 / 2",
            "bytes  0-1/2", "bytes\t0-1/2", "bytes 0-1/2 x", "bytes 0-1/2/3", "bytes 0-1-2/3", "bytes -1/2",
            "bytes 0-/2", "bytes +0-1/2", "bytes 0-+1/2", "bytes -0-1/2", "bytes 0x0-0x1/2", "bytes 0.0-1/2",
            "bytes a-b/c", "bytes *-1/2", "bytes 0-*/2", "bytes 0-1/**", "bytes **/2", "bytes */", "bytes */-1",
            "bytes ٠-١/٢", "bytes 0\u{2013}1/2", "bytes 0-1\u{301}/2", "bytes 0-1/2\u{0}", "multipart/byteranges",
        ])
    func refuses(_ text: String) {
        #expect(ContentRange(fieldValue: text) == nil)
    }
}
