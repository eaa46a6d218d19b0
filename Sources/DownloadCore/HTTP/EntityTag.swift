import Foundation
import HTTPTypes

/// An ETag (RFC 9110 section 8.8.3). Tags are compared byte by byte, so tags that are only Unicode-equivalent differ.
package struct EntityTag: Codable, Sendable {
    package let isWeak: Bool
    /// The tag without the quotes.
    package let opaque: String

    package init(opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Reads a field value. Returns nil if it is malformed, because such a tag cannot be a validator.
    package init?(fieldValue: String) {
        var fieldValue = fieldValue
        guard let tag = fieldValue.withUTF8({ Self.read($0.trimmingWhitespace()) }) else { return nil }
        self = tag
    }

    private static func read(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> EntityTag? {
        let isWeak = value.starts(with: "W/".utf8)
        let rest = isWeak ? value.dropFirst(2) : value
        let quote = UInt8(ascii: "\"")
        guard rest.count >= 2, rest.first == quote, rest.last == quote else { return nil }
        let opaque = rest.dropFirst().dropLast()
        guard opaque.allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 }) else { return nil }
        return EntityTag(opaque: String(decoding: opaque, as: UTF8.self), isWeak: isWeak)
    }

    package var fieldValue: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }

    /// Returns whether both tags are strong and equal (RFC 9110 section 8.8.3.2).
    package func isStrongly(_ other: EntityTag) -> Bool { !isWeak && self == other }
}

extension EntityTag: Equatable {
    package static func == (left: EntityTag, right: EntityTag) -> Bool {
        left.isWeak == right.isWeak && left.opaque.utf8.elementsEqual(right.opaque.utf8)
    }
}

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
