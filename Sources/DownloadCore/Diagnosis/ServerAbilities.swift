import Foundation
import HTTPTypes

/// The properties of a server and a file, as the answer to a request for the first byte shows them.
package struct ServerAbilities: Sendable, Equatable {
    package enum Ranges: Sendable, Equatable {
        case honoured
        /// The file is empty, so it has no ranges.
        case unsatisfiable
        /// The server ignored the range and sent the whole file.
        case ignored
    }

    package var ranges: Ranges
    package var validators: Validators
    /// The size of the whole file in bytes; nil if the answer does not state it.
    package var total: Int64?
    package var mediaType: String?
    package var contentEncoding: String?
    /// The name that the file would get.
    package var name: String
    /// Whether `Alt-Svc` names HTTP/3 (RFC 9114 section 3.1.1).
    package var offersHTTP3: Bool

    /// - Parameter now: see ``Validators/init(head:now:)``.
    package init(_ head: ResponseHead, url: SourceURL, now: Date) {
        switch head.status {
        case 206: ranges = .honoured
        case 416: ranges = .unsatisfiable
        default: ranges = .ignored
        }
        validators = Validators(head: head, now: now)
        switch ContentRange(head: head) {
        case .satisfied(_, let size)?, .unsatisfied(let size)?: total = size
        case nil: total = head.status == 206 ? nil : ResponseJudge.contentLength(head)
        }
        mediaType = ResponseJudge.mediaType(head)
        contentEncoding = ResponseJudge.contentEncoding(head)
        name = FileNaming.name(contentDisposition: head.fields.value(.contentDisposition), url: url)
        offersHTTP3 = head.fields.contains { $0.name.canonicalName == "alt-svc" && $0.value.contains("h3=") }
    }
}
