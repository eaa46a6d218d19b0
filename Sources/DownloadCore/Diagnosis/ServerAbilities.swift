import Foundation
import HTTPTypes

/// What an answer to a request for the first byte tells of its server, and of the file.
package struct ServerAbilities: Sendable, Equatable {
    package enum Ranges: Sendable, Equatable {
        case honoured
        /// The file is empty: there is nothing to ask a range of.
        case unsatisfiable
        /// The whole file came instead.
        case ignored
    }

    package var ranges: Ranges
    package var validators: Validators
    /// Bytes of the whole file; nil when they are not said.
    package var total: Int64?
    package var mediaType: String?
    package var contentEncoding: String?
    /// What the file would be called.
    package var name: String
    /// `Alt-Svc` names HTTP/3 (RFC 9114 section 3.1.1).
    package var offersHTTP3: Bool

    /// - Parameter now: see ``Validators/init(head:now:)``.
    package init(_ head: ResponseHead, url: SourceURL, now: Date) {
        switch head.status {
        case 206: ranges = .honoured
        case 416: ranges = .unsatisfiable
        default: ranges = .ignored
        }
        validators = Validators(head: head, now: now)
        switch head.fields.value(.contentRange).flatMap({ ContentRange(fieldValue: $0) }) {
        case .satisfied(_, let size)?: total = size
        case .unsatisfied(let size)?: total = size
        case nil: total = head.status == 206 ? nil : ResponseJudge.contentLength(head)
        }
        mediaType = ResponseJudge.mediaType(head)
        contentEncoding = ResponseJudge.contentEncoding(head)
        name = FileNaming.name(contentDisposition: head.fields.value(.contentDisposition), url: url)
        offersHTTP3 = head.fields.contains { $0.name.canonicalName == "alt-svc" && $0.value.contains("h3=") }
    }
}
