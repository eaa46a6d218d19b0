import Foundation
import HTTPTypes

/// What an answer to a request for the first byte tells of its server, and of the file.
public struct ServerAbilities: Sendable, Equatable {
    public enum Ranges: Sendable, Equatable {
        case honoured
        /// The file is empty: there is nothing to ask a range of.
        case unsatisfiable
        /// The whole file came instead.
        case ignored
    }

    public var ranges: Ranges
    public var validators: Validators
    /// Bytes of the whole file; nil when they are not said.
    public var total: Int64?
    public var mediaType: String?
    public var contentEncoding: String?
    /// What the file would be called.
    public var name: String
    /// `Alt-Svc` names HTTP/3 (RFC 9114 section 3.1.1).
    public var offersHTTP3: Bool

    /// - Parameter now: see ``Validators/init(head:now:)``.
    public init(_ head: ResponseHead, url: SourceURL, now: Date) {
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
