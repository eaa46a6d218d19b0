import Foundation
import HTTPTypes

extension Validators {
    /// A date is strong when it lies this many seconds before the answer (RFC 9110 section 8.8.2.2).
    static let strongDateAge = 60.0

    /// The validators of a response: a malformed ETag is none, and a date is strong only beside a later `Date`. Beside an
    /// ETag, which comes first, it is not looked at: to read two dates is a thirtieth of what a small file costs.
    /// - Parameter now: decides the century of dates whose year has two digits.
    package init(head: ResponseHead, now: Date) {
        self.init(undated: head)
        guard etag == nil, let lastModified else { return }
        lastModifiedIsStrong = Self.isStrong(lastModified, date: head.fields.value(.date), now)
    }

    /// The validators of a response, without a look at whether its date is strong.
    init(undated head: ResponseHead) {
        self.init(
            etag: head.fields.value(.eTag).flatMap { EntityTag(fieldValue: $0) },
            lastModified: head.fields.value(.lastModified).flatMap { $0.isEmpty ? nil : $0 },
            lastModifiedIsStrong: false)
    }

    private static func isStrong(_ lastModified: String, date: String?, _ now: Date) -> Bool {
        guard let modified = HTTPDate.parse(lastModified, now: now),
            let answered = date.flatMap({ HTTPDate.parse($0, now: now) })
        else { return false }
        return answered.timeIntervalSince(modified) >= strongDateAge
    }
}
