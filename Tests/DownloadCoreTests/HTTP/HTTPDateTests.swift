import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct HTTPDateTests {
    static let example = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "The three forms of RFC 9110 mean the same moment",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun Nov 06 08:49:37 1994", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06-Nov-1994 08:49:37 GMT", "  Sun, 06 Nov 1994 08:49:37 GMT  ", "Sun,06 Nov 1994 08:49:37 GMT",
        ])
    func forms(_ text: String) {
        #expect(HTTPDate.parse(text, now: Date()) == Self.example)
    }

    @Test(
        "Dates at the edges of the calendar are right",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
            ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200), ("Sun, 31 Dec 2023 23:59:59 GMT", 1_704_067_199),
            ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648), ("Mon, 01 Jan 1900 00:00:00 GMT", -2_208_988_800),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
            // A leap second is the first second of the next minute.
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ])
    func edges(_ text: String, _ seconds: Double) {
        #expect(HTTPDate.parse(text, now: Date()) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "Text that is not an HTTP date is refused",
        arguments: [
            "", " ", "0", "1994", "now", "Sun", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
            "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nov 1994 08:49:37 +0100",
            "Sun, 06 Nov 1994 08:49:37 gmt", "Sun, 06 Nov 1994 08:49:37 GMT x", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 32 Jan 1994 08:49:37 GMT", "Tue, 29 Feb 2023 00:00:00 GMT",
            "Thu, 29 Feb 1900 00:00:00 GMT", "Tue, 30 Feb 2024 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37:00 GMT", "Sun, 06 Nov 1994 08::37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 19940 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT",
            "Sun, 06 Nov +994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 06 November 1994 08:49:37 GMT", "Foo, 06 Nov 1994 08:49:37 GMT", "So, 06 Nov 1994 08:49:37 GMT",
            "Sun, 006 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov 08:49:37 GMT", "Sunday, 06-Nov-4 08:49:37 GMT",
            "Sunday, 06-Nov-194 08:49:37 GMT", "Sunday, 06-Nov-94-1 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37",
            "Sun Nov 6 08:49:37 94", "Sun Nov 31 08:49:37 1994", "Sun 6 Nov 08:49:37 1994", "1994-11-06T08:49:37Z",
            "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:-7 GMT", "Sun, 06 Nov 1994 08:4a:37 GMT",
            "Sun, 06 Nov\u{A0}1994 08:49:37 GMT",
        ])
    func refuses(_ text: String) {
        #expect(HTTPDate.parse(text, now: Date()) == nil)
    }

    @Test(
        "A year of two digits is at most 50 years in the future",
        arguments: [
            ("94", 1994), ("00", 2000), ("25", 2025), ("26", 2026), ("75", 2075), ("76", 2076), ("77", 1977),
            ("99", 1999),
        ])
    func century(_ short: String, _ year: Int) throws {
        let now = try #require(HTTPDate.parse("Wed, 01 Jul 2026 00:00:00 GMT", now: Date()))
        let expected = try #require(HTTPDate.parse("Mon, 06 Nov \(year) 08:49:37 GMT", now: Date()))
        #expect(HTTPDate.parse("Monday, 06-Nov-\(short) 08:49:37 GMT", now: now) == expected)
    }

    @Test(
        "A date is written as IMF-fixdate",
        arguments: [
            (784_111_777.0, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (-0.5, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (0.999, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_825_600, "Tue, 29 Feb 2000 12:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"), (1e18, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (Double.infinity, "Fri, 31 Dec 9999 23:59:59 GMT"), (-1e18, "Mon, 01 Jan 0001 00:00:00 GMT"),
            (Double.nan, "Mon, 01 Jan 0001 00:00:00 GMT"),
        ])
    func formats(_ seconds: Double, _ expected: String) {
        #expect(HTTPDate.format(Date(timeIntervalSince1970: seconds)) == expected)
    }

    @Test("A written date is read back and agrees with Foundation's calendar, through 800 years")
    func roundTrip() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        // Steps of 13.7 days and some seconds meet every day of the year and every hour.
        for seconds in stride(from: -7_000_000_000, through: 18_000_000_000, by: 1_183_951) {
            let date = Date(timeIntervalSince1970: Double(seconds))
            let text = HTTPDate.format(date)
            let parts = calendar.dateComponents([.year, .day, .weekday], from: date)
            let words = text.split(separator: " ")
            let agrees =
                words[0].dropLast() == weekdays[(parts.weekday ?? 0) - 1] && Int(words[1]) == parts.day
                && Int(words[3]) == parts.year
            if HTTPDate.parse(text, now: Date()) != date || !agrees {
                Issue.record("\(seconds): \(text)")
                return
            }
        }
    }
}
