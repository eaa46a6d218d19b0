import Foundation
import HTTPTypes

extension Validators {
    /// The number of seconds by which `Last-Modified` must be older than the answer to count as a strong validator (RFC
    /// 9110 section 8.8.2.2).
    static let strongDateAge = 60.0

    /// Reads the validators of a response. A malformed ETag is ignored. `Last-Modified` is strong only if `Date` is at
    /// least ``strongDateAge`` later. The dates are not compared if there is an ETag, because the ETag is preferred,
    /// and reading two dates takes a thirtieth of the time that a small file needs.
    /// - Parameter now: the current time, which decides the century of dates whose year has two digits.
    package init(head: borrowing ResponseHead, now: Date) {
        self.init(undated: head)
        guard etag == nil, let lastModified, let modified = HTTPDate.parse(lastModified, now: now),
            let date = head.fields.value(.date), let answered = HTTPDate.parse(date, now: now)
        else { return }
        lastModifiedIsStrong = answered.timeIntervalSince(modified) >= Self.strongDateAge
    }

    /// Reads the validators of a response without checking whether its date is strong.
    init(undated head: borrowing ResponseHead) {
        self.init(
            etag: EntityTag(head: head),
            lastModified: head.fields.value(.lastModified).flatMap { $0.isEmpty ? nil : $0 })
    }
}
