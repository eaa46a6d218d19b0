/// Percent-encoding for forms and queries. All bytes except unreserved characters are encoded (RFC 3986 section 2.3),
/// as curl does.
package enum Form {
    package static func encoded(_ text: some StringProtocol) -> String {
        text.utf8.percentEncoded { $0.isLetterOrDigit || "-._~".utf8.contains($0) }
    }
}
