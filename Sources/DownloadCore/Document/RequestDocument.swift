import Foundation
import HTTPTypes

/// A request as JSON, in the store and between processes. It has the fields in which the request differs from
/// ``baseline``. Missing fields have the values of the baseline, and unknown fields are ignored, so that documents of
/// other versions of dlm can be read. A document never has secrets; they are sent beside it.
package struct RequestDocument: Codable, Sendable {
    package let request: DownloadRequest

    /// The version of the format. It is raised if older programs would misread new documents, for example after a
    /// change of the meaning of a field. A document without a version has version 1.
    static let version = 1

    package init(_ request: DownloadRequest) { self.request = request }

    package init(from decoder: any Decoder) throws {
        let document = try decoder.container(keyedBy: DocumentKey.self)
        if let version = try document.decodeIfPresent(Int.self, forKey: "version"), version > Self.version {
            throw DecodingError.dataCorruptedError(
                forKey: "version", in: document, debugDescription: "of a newer version")
        }
        var request = Self.baseline
        for field in DownloadRequest.documentFields { try field.read(into: &request, from: document) }
        self.request = request
    }

    package func encode(to encoder: any Encoder) throws {
        var document = encoder.container(keyedBy: DocumentKey.self)
        for field in DownloadRequest.documentFields {
            try field.write(request, unless: Self.baseline, to: &document)
        }
    }
}

extension RequestDocument {
    private static let empty = "{}"

    package init(text: String) throws {
        self = text == Self.empty ? Self(Self.baseline) : try JSONText.decode(Self.self, text)
    }

    package func text() throws -> String { request == Self.baseline ? Self.empty : try JSONText.encode(self) }

    /// The URL of a request whose document has no URL.
    package static let placeholder = SourceURL(
        string: "http://column.invalid/", scheme: "http", host: "column.invalid", port: 80, path: "/")

    /// The request with which every request is compared: a document contains the differences. This request is part of
    /// the format, so its values are never changed, which `RequestDocumentTests` checks. If the default of a property
    /// changes, its first default is set here.
    package static let baseline = DownloadRequest(url: placeholder, destination: Destination(folder: ""))

    /// Returns the name of a field with an impossible number, such as `retry.limit`, or nil if there is none.
    package static func impossibleField(of request: DownloadRequest) -> String? {
        let seconds = 0.0...1e9
        func isPositive(_ time: Double?) -> Bool { time.map { $0 > 0 && seconds.contains($0) } ?? true }
        func isPossible(_ connections: Int?) -> Bool {
            connections.map { DownloadRequest.Connections.possible.contains($0) } ?? true
        }
        let fields: [(name: String, isPossible: Bool)] = [
            ("connections", isPossible(request.connections.fixed)),
            ("connectionLimit", isPossible(request.connections.limit)),
            ("rateLimit", request.rateLimit ?? 1 > 0),
            ("size", request.size ?? 0 >= 0),
            ("retry.limit", request.retry.limit >= 0),
            ("retry.delay", seconds.contains(request.retry.delay.inSeconds)),
            ("retry.maximumDelay", request.retry.maximumDelay >= .zero),
            ("retry.maximumHostPause", request.retry.maximumHostPause >= .zero),
            ("redirect.limit", request.redirect.limit >= 0),
            ("timeouts.connect", request.timeouts.connect > .zero),
            ("timeouts.stall", request.timeouts.stall > .zero),
            ("timeouts.total", isPositive(request.timeouts.total.inSeconds)),
            ("network.dnsCacheTime", request.network.dnsCacheTime.map { seconds.contains($0) } ?? true),
            ("pacing", isPositive(request.pacing)),
            ("validation.maximumSize", request.validation.maximumSize ?? 0 >= 0),
            ("hooks.timeLimit", isPositive(request.hooks?.timeLimit)),
        ]
        return fields.first { !$0.isPossible }?.name
    }

    /// Returns the name of a field whose value can only fail, such as `http.method`, or nil if there is none. Such a
    /// field is refused when a download is added. A stored request with one can be read.
    package static func unusableField(of request: DownloadRequest) -> String? {
        func isWord(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } }
        let (network, schemes) = (request.network, request.redirect.schemes ?? SourceScheme.names)
        let nameServer = network.nameServer.map { try? SourceURL.parse($0).get().url.scheme }
        let fields: [(name: String, isUsable: Bool)] = [
            ("schemes", schemes != ["file"] && !schemes.isEmpty && schemes.allSatisfy(SourceScheme.names.contains)),
            ("timeZone", request.schedule.map { TimeZone(identifier: $0.timeZone) != nil } ?? true),
            (
                "addresses",
                network.addresses?.allSatisfy { isWord($0.host) && isWord($0.address) && 1...65535 ~= $0.port } ?? true
            ),
            ("nameServer", nameServer ?? "https" == "https"),
            ("method", request.http.method.map { HTTPRequest.Method($0) != nil } ?? true),
            ("user", request.credential?.user.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ?? true),
        ]
        return fields.first { !$0.isUsable }?.name
    }

    /// Throws if a request has an impossible number. The store could not read such a request again.
    package static func requirePossible(_ request: DownloadRequest) throws(DownloadError) {
        if let field = impossibleField(of: request) {
            throw .requestInvalid(.notForScheme(request.url.string, what: "\(field) is impossible"))
        }
    }
}
