import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    static let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "Seconds and dates become a wait of at most an hour",
        arguments: [
            ("0", 0.0), ("1", 1), ("120", 120), ("3600", 3600), ("3601", 3600), ("86400", 3600), (" 120\t", 120),
            ("0120", 120), ("9223372036854775807", 3600), ("9223372036854775808", 3600),
            ("99999999999999999999999999999999999999", 3600),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:49:38 GMT", 1),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 09:49:37 GMT", 3600),
            ("Sun, 06 Nov 1994 09:49:38 GMT", 3600), ("Fri, 31 Dec 9999 23:59:59 GMT", 3600),
            // libcurl 7.88 gives a negative number for a date in the past.
            ("Sun, 06 Nov 1994 08:49:36 GMT", 0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60),
            (" Sun, 06 Nov 1994 08:50:37 GMT ", 60),
        ])
    func reads(_ text: String, _ expected: Double) {
        #expect(RetryAfter.seconds(text, now: Self.now) == expected)
    }

    @Test("The fraction of the current second counts")
    func fraction() {
        let now = Self.now.addingTimeInterval(0.25)
        #expect(RetryAfter.seconds("Sun, 06 Nov 1994 08:49:38 GMT", now: now) == 0.75)
    }

    @Test(
        "Text that is neither seconds nor a date is refused",
        arguments: [
            "", " ", "-1", "+1", "1.5", "1e3", "0x10", "12s", "1 2", "120, 120", "soon", "infinity", "nan", "٣",
            "1\u{301}", "Sun, 06 Nov 1994", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
        ])
    func refuses(_ text: String) {
        #expect(RetryAfter.seconds(text, now: Self.now) == nil)
    }
}
