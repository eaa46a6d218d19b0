import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("LinkExpiry: when a signed URL expires", .inTurn, .timeLimit(.minutes(1)))
struct LinkExpiryTests {
    private func date(_ query: String) throws -> Date? {
        LinkExpiry.date(of: try SourceURL.parse("https://h/file?\(query)").get().url)
    }

    @Test(
        "The forms of AWS, Google, CloudFront and Azure are read",
        arguments: [
            ("X-Amz-Date=20261122T080000Z&X-Amz-Expires=900&X-Amz-Signature=x", "2026-11-22T08:15:00Z"),
            ("x-amz-expires=60&x-amz-date=20261122T235930Z", "2026-11-23T00:00:30Z"),
            ("X-Goog-Date=20261122T080000Z&X-Goog-Expires=3600", "2026-11-22T09:00:00Z"),
            ("Expires=1795334400&Signature=x&Key-Pair-Id=y", "2026-11-22T08:00:00Z"),
            ("se=2026-11-22T08%3A00%3A00Z&sig=x", "2026-11-22T08:00:00Z"),
        ])
    func known(query: String, moment: String) throws {
        #expect(try date(query) == Date(moment, strategy: .iso8601))
    }

    @Test(
        "A query in another form has no date",
        arguments: [
            "", "x=1", "X-Amz-Date=20261122T080000Z", "X-Amz-Date=today&X-Amz-Expires=900",
            "X-Amz-Date=20261122T080000Z&X-Amz-Expires=-1", "X-Amz-Date=20261322T080000Z&X-Amz-Expires=1",
            "Expires=never", "Expires=900", "se=2026-11-22T08:00:00Z", "Expires=1e400", "X-Amz-Expires=nan",
        ])
    func unknown(query: String) throws { #expect(try date(query) == nil) }
}
