/// What an answer must be to be taken for the file, judged on its head before a byte is written (Alamofire's
/// `validate()`).
public struct ResponseValidation: Sendable, Equatable {
    /// The media types that are wanted; empty for any.
    public var types: [MediaRange]
    /// The status codes whose body is the file; nil for 200, and 206 for a part of it.
    public var statuses: StatusCodes?
    /// Bytes; nil for no limit.
    public var maximumSize: Int64?

    /// Makes a validation; without arguments it accepts every file.
    public init(types: [MediaRange] = [], statuses: StatusCodes? = nil, maximumSize: Int64? = nil) {
        self.types = types
        self.statuses = statuses
        self.maximumSize = maximumSize
    }

    /// A part is as good as the whole that it belongs to.
    func takes(status: Int) -> Bool {
        guard let statuses else { return status == 200 || status == 206 }
        return statuses.contains(status) || status == 206 && statuses.contains(200)
    }

    /// Why the body that follows is not taken; nil when it is.
    /// - Parameter total: of the whole file, where it is known.
    func failure(of head: ResponseHead, total: Int64?) -> DownloadError? {
        if let statuses, !takes(status: head.status) {
            let status = head.phrase.isEmpty ? "\(head.status)" : "\(head.status) \(head.phrase)"
            return .verificationFailed(.unwantedStatus(wanted: statuses.description, is: status))
        }
        return failure(type: ResponseJudge.mediaType(head)) ?? failure(size: total)
    }

    /// - Parameter type: nil when the server told none.
    func failure(type: String?) -> DownloadError? {
        if types.isEmpty || types.contains(where: { $0.contains(type ?? "") }) { return nil }
        let wanted = types.map(\.description).joined(separator: ", ")
        return .verificationFailed(.unwantedType(wanted: wanted, is: type))
    }

    /// - Parameter size: nil while it is unknown.
    func failure(size: Int64?) -> DownloadError? {
        guard let maximumSize, let size, size > maximumSize else { return nil }
        return .verificationFailed(.tooLarge(limit: maximumSize, size: size))
    }
}

extension ResponseValidation: DocumentObject {
    static let documentFields: [DocumentField<ResponseValidation>] = [
        DocumentField("types", \.types, isAlwaysWritten: true),
        DocumentField("statuses", \.statuses),
        DocumentField("maximumSize", \.maximumSize),
    ]
}
