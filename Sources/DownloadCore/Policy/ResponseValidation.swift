/// The conditions under which an answer is accepted as the file. They are checked on the head before a byte is written,
/// as with Alamofire's `validate()`. The check itself is `failure(of:total:)`.
package struct ResponseValidation: Sendable, Equatable {
    /// The accepted media types. Empty to accept any type.
    package var types: [MediaRange]
    /// The status codes whose body is the file. Nil for 200, and 206 for a part of the file.
    package var statuses: StatusCodes?
    /// The maximum size in bytes. Nil for no limit.
    package var maximumSize: Int64?

    /// The number of types that an error names.
    private static let mostNamed = 10

    package init(types: [MediaRange] = [], statuses: StatusCodes? = nil, maximumSize: Int64? = nil) {
        self.types = types
        self.statuses = statuses
        self.maximumSize = maximumSize
    }

    /// Returns whether the status is accepted. If 200 is accepted, 206 is accepted, too.
    func takes(status: Int) -> Bool {
        guard let statuses else { return status == 200 || status == 206 }
        return statuses.contains(status) || status == 206 && statuses.contains(200)
    }

    /// Returns the error of an answer that is not accepted, or nil if the answer is accepted.
    /// - Parameter total: The size of the whole file in bytes, if known.
    func failure(of head: ResponseHead, total: Int64?) -> DownloadError? {
        if let statuses, !takes(status: head.status) {
            let status = head.phrase.isEmpty ? "\(head.status)" : "\(head.status) \(head.phrase)"
            return .verificationFailed(.unwantedStatus(wanted: statuses.description, is: status))
        }
        let failure = types.isEmpty ? nil : failure(type: ResponseJudge.mediaType(head))
        return failure ?? self.failure(size: total)
    }

    /// Returns the error of a media type that is not accepted.
    /// - Parameter type: The media type, or nil if the server sent none.
    package func failure(type: String?) -> DownloadError? {
        if types.isEmpty || types.contains(where: { $0.contains(type ?? "") }) { return nil }
        let rest = types.count - Self.mostNamed
        let wanted =
            types.prefix(Self.mostNamed).map(\.description).joined(separator: ", ")
            + (rest > 0 ? " or one of \(rest) others" : "")
        return .verificationFailed(.unwantedType(wanted: wanted, is: type))
    }

    /// Returns the error of a file that is too large.
    /// - Parameter size: The size in bytes, or nil while it is unknown.
    package func failure(size: Int64?) -> DownloadError? {
        guard let maximumSize, let size, size > maximumSize else { return nil }
        return .verificationFailed(.tooLarge(limit: maximumSize, size: size))
    }
}

extension ResponseValidation: DocumentObject {
    static let documentFields: [DocumentField<ResponseValidation>] = [
        DocumentField("types", \.types),
        DocumentField("statuses", \.statuses),
        DocumentField("maximumSize", \.maximumSize),
    ]
}
