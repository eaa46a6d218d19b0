import Foundation
import HTTPTypes

extension Validators {
    /// A date is strong when it lies this many seconds before the answer (RFC 9110 section 8.8.2.2).
    static let strongDateAge = 60.0

    /// The validators of a response: a malformed ETag is none, and a date is strong only beside a later `Date`.
    public init(head: ResponseHead) {
        let modified = head.fields.value(.lastModified).flatMap { $0.isEmpty ? nil : $0 }
        self.init(
            etag: head.fields.value(.eTag).flatMap { EntityTag(fieldValue: $0) }, lastModified: modified,
            lastModifiedIsStrong: modified.map { Self.isStrong($0, date: head.fields.value(.date)) } ?? false)
    }

    private static func isStrong(_ lastModified: String, date: String?) -> Bool {
        guard let modified = HTTPDate.parse(lastModified), let answered = date.flatMap({ HTTPDate.parse($0) }) else {
            return false
        }
        return answered.timeIntervalSince(modified) >= strongDateAge
    }
}
