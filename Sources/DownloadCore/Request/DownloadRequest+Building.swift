import Foundation

/// Methods to write a request in one expression.
extension DownloadRequest {
    /// Makes a request for a URL. A user name and a password in the URL become the ``credential``.
    /// - Throws: ``DownloadError/requestInvalid(_:)`` if the URL is malformed, or if its scheme is not supported.
    public init(_ url: URL) throws(DownloadError) { try self.init(url.absoluteString) }

    /// Makes a request for a URL. A user name and a password in the URL become the ``credential``.
    /// - Throws: ``DownloadError/requestInvalid(_:)`` if the URL is malformed, or if its scheme is not supported.
    public init(_ url: String) throws(DownloadError) {
        let parsed = try SourceURL.parsed(url)
        self.init(url: parsed.url, destination: Destination(folder: ""))
        credential = parsed.credential
    }

    /// Returns the request with a header field, which replaces fields of the same name.
    public func header(_ name: String, _ value: String) -> DownloadRequest {
        var request = self
        request.headers.removeAll { $0.name.lowercased() == name.lowercased() }
        request.headers.append(RequestHeader(name: name, value: value))
        return request
    }

    /// Returns the request with conditions for the answer. An answer that does not meet them is refused by its head,
    /// before a byte is written. If the head states no size, the transfer ends when it exceeds the maximum. The
    /// counterpart of Alamofire's `validate`.
    /// - Parameters:
    ///   - statuses: The status codes whose body is the file, such as `200..<300`; nil for 200 and 206.
    ///   - contentTypes: The accepted media types, such as `application/zip` or `image/*`; empty for any type.
    ///   - maximumSize: The size in bytes of the largest file that is accepted; nil for any size.
    /// - Throws: ``DownloadError/requestInvalid(_:)`` for a text that is not a media type, and for status codes that
    ///   HTTP does not have.
    public func validate(
        statuses: Range<Int>? = nil, contentTypes: [String] = [], maximumSize: Int64? = nil
    ) throws(DownloadError) -> DownloadRequest {
        var request = self
        if let statuses {
            guard let codes = StatusCodes("\(statuses.lowerBound)-\(statuses.upperBound - 1)") else {
                throw .requestInvalid(.unusableValidation("\(statuses)"))
            }
            request.validation.statuses = codes
        }
        request.validation.types = []
        for type in contentTypes {
            guard let range = MediaRange(type) else { throw .requestInvalid(.unusableValidation(type)) }
            request.validation.types.append(range)
        }
        request.validation.maximumSize = maximumSize
        return request
    }

    /// The place of parameters in a request.
    public enum ParameterEncoding: Sendable, Equatable {
        /// After the query of the URL.
        case query
        /// In the body, as `application/x-www-form-urlencoded`. The method becomes POST unless the request has another.
        case form
    }

    /// Returns the request with these parameters, sorted by name and percent-encoded, so that the same parameters
    /// always make the same request (Alamofire's `ParameterEncoding`).
    public func parameters(
        _ parameters: [String: String], encoding: ParameterEncoding = .query
    ) throws(DownloadError) -> DownloadRequest {
        let text = parameters.sorted { $0.key < $1.key }
            .map { "\(Form.encoded($0.key))=\(Form.encoded($0.value))" }.joined(separator: "&")
        if text.isEmpty { return self }
        var request = self
        switch encoding {
        case .form: request.http.body = RequestBody(Array(text.utf8))
        case .query:
            let mark = url.string.contains("?") ? url.string.hasSuffix("?") ? "" : "&" : "?"
            request.url = try SourceURL.parsed(url.string + mark + text).url
        }
        return request
    }
}

extension Destination {
    /// Returns a destination in a folder. The server's answer, or else the URL, gives the name (RFC 6266).
    public static func folder(
        _ folder: URL, ifExists: IfExists = .fail, createsFolders: Bool = true
    ) -> Destination {
        Destination(folder: path(folder), ifExists: ifExists, createsFolders: createsFolders)
    }

    /// Returns a destination that is the finished file itself.
    public static func file(
        _ file: URL, ifExists: IfExists = .fail, createsFolders: Bool = true
    ) -> Destination {
        Destination(
            folder: path(file.deletingLastPathComponent()), fileName: file.lastPathComponent, ifExists: ifExists,
            createsFolders: createsFolders)
    }

    /// Returns the absolute path, without a slash at its end, except for the root.
    private static func path(_ url: URL) -> String {
        let path = url.absoluteURL.standardizedFileURL.path
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}

extension DownloadSnapshot {
    /// The finished file; nil if the download has not completed.
    public var file: URL? {
        state == .completed ? path.map { URL(fileURLWithPath: $0, isDirectory: false) } : nil
    }
}
