import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

/// Invalid field values of servers.
@Suite("Fuzzing: field values", .inTurn)
struct FieldFuzzTests {
    static let dispositions = [
        "attachment; filename=\"report.pdf\"", "inline; filename=a.txt; filename*=UTF-8''na%C3%AFve%20file.txt",
        "attachment; filename*=iso-8859-1'en'%A3%20rates", "attachment;filename=\"a\\\"b.txt\";size=1",
        "attachment; filename=\"../../etc/passwd\"", "form-data; name=x; filename=",
    ]

    @Test("Content-Disposition: any field gives one safe component as the name")
    func contentDisposition() throws {
        let url = try SourceURL.parse("https://example.org/a/b.bin").get().url
        let fuzzing = Fuzzing(
            "Content-Disposition", corpus: Self.dispositions, words: ["filename=", "filename*=", "UTF-8''", "\\\""])
        fuzzing.run { input in
            let text = String(decoding: input, as: UTF8.self)
            let name = FileNaming.name(contentDisposition: text, url: url)
            if !FileNaming.isSafe(name) { return "unsafe name \(name.debugDescription)" }
            guard let disposition = ContentDisposition(fieldValue: text) else { return nil }
            // A name in Latin-1 (RFC 8187) has at most two bytes of UTF-8 for each byte of the field. Three are ample.
            return (disposition.fileName?.utf8.count ?? 0) > text.utf8.count * 3 ? "longer than what was sent" : nil
        }
        fuzzing.runsInLinearTime {
            _ = FileNaming.name(contentDisposition: String(decoding: $0, as: UTF8.self), url: url)
        }
    }

    @Test("Content-Range: a range fits in 63 bits, lies within its total, and is read again as the same")
    func contentRange() {
        let fuzzing = Fuzzing(
            "Content-Range",
            corpus: ["bytes 0-99/200", "bytes 100-199/*", "bytes */200", "bytes */*", "BYTES 0-0/1"],
            words: ["bytes ", "*/", "-", "9223372036854775806-9223372036854775807/"])
        fuzzing.run { input in
            let text = String(decoding: input, as: UTF8.self)
            switch ContentRange(fieldValue: text) {
            case .satisfied(let range, let total)?:
                let again = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total.map { "\($0)" } ?? "*")"
                let isSound = range.lowerBound >= 0 && !range.isEmpty && range.upperBound <= total ?? .max
                return isSound && ContentRange(fieldValue: again) == .satisfied(range, total: total) ? nil : again
            case .unsatisfied(let total)?: return (total ?? 0) >= 0 ? nil : "a total of \(total ?? 0)"
            case nil: return nil
            }
        }
        fuzzing.runsInLinearTime { _ = ContentRange(fieldValue: String(decoding: $0, as: UTF8.self)) }
    }

    @Test("ETag: a tag has no control character, and is the same after it is written and read again")
    func entityTag() {
        let fuzzing = Fuzzing("ETag", corpus: ["\"v1\"", "W/\"65a1-28d\"", "\"\"", "\"é\""], words: ["W/", "\""])
        fuzzing.run { input in
            let text = String(decoding: input, as: UTF8.self)
            guard let tag = EntityTag(fieldValue: text) else { return nil }
            if tag.fieldValue.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "a control character" }
            guard EntityTag(fieldValue: tag.fieldValue) == tag else { return "not read again" }
            return tag.isStrongly(tag) == !tag.isWeak ? nil : "not itself"
        }
        fuzzing.runsInLinearTime { _ = EntityTag(fieldValue: String(decoding: $0, as: UTF8.self)) }
    }

    static let dates = [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Fri, 31 Dec 9999 23:59:60 GMT", "Thu, 01 Jan 0001 00:00:00 GMT", "Tue, 29 Feb 2000 12:00:00 UTC",
    ]

    @Test("Dates: a date is the same instant after it is written and read again")
    func date() {
        let fuzzing = Fuzzing("HTTP date", corpus: Self.dates, words: ["GMT", "Feb", "29", "60", "9999", "0000"])
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        // Only years from 1 to 9999 can be written.
        let first = Date(timeIntervalSince1970: -62_135_596_800)
        fuzzing.run { input in
            guard let date = HTTPDate.parse(String(decoding: input, as: UTF8.self), now: now), date >= first else {
                return nil
            }
            let text = HTTPDate.format(date)
            let isLeapSecond = text.hasSuffix("9999 23:59:59 GMT")
            return HTTPDate.parse(text, now: now) == date || isLeapSecond ? nil : "came back as \(text)"
        }
        fuzzing.runsInLinearTime { _ = HTTPDate.parse(String(decoding: $0, as: UTF8.self), now: now) }
    }

    @Test("Retry-After: a wait is between zero and an hour")
    func retryAfter() {
        let fuzzing = Fuzzing("Retry-After", corpus: Self.dates + ["120", "0", "3600"])
        let now = Date(timeIntervalSince1970: 784_111_777)
        fuzzing.run { input in
            guard let seconds = RetryAfter.seconds(String(decoding: input, as: UTF8.self), now: now) else { return nil }
            return (0...RetryAfter.longest).contains(seconds) ? nil : "\(seconds) s"
        }
        fuzzing.runsInLinearTime { _ = RetryAfter.seconds(String(decoding: $0, as: UTF8.self), now: now) }
    }
}

extension FileNaming {
    /// Whether the name is one visible component that leaves room for its partial file.
    static func isSafe(_ name: String) -> Bool {
        let isOneComponent =
            isUsable(name) && !name.utf8.contains(UInt8(ascii: "\\"))
            && name.unicodeScalars.first != "." && name.unicodeScalars.last != "."
        let isVisible = name.unicodeScalars.allSatisfy {
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
                || $0 == "\u{200C}" || $0 == "\u{200D}" || (0xE0020...0xE007F).contains($0.value)
        }
        return isOneComponent && isVisible && partial(name).utf8.count <= 255 && partial(name) != name
    }
}
