import DownloadCore

/// The fields of a request in the API. They are those of ``RequestDocument``, but all at the top level: the document
/// has `limit` within the object `retry`, for example. A new field of a request has the same name in the API as in the
/// document.
enum WireFields {
    typealias Field = DocumentField<DownloadRequest>

    /// The names of version 1 of the API that differ from the names in the document. The API had these names before
    /// the store and the API got a common document. No further names may be added here.
    private static let names = [
        "destination.fileName": "file", "destination.takesServerName": "contentDisposition",
        "destination.keepsRemoteTime": "remoteTime", "destination.continues": "continue",
        "startsPaused": "paused", "pacing": "wait", "followsMetalink": "followMetalink", "repairs": "repair",
        "validation.types": "expectType", "validation.statuses": "expectStatus", "validation.maximumSize": "maxSize",
        "retry.limit": "retries", "retry.delay": "retryDelay", "retry.maximumDelay": "retryMaximumDelay",
        "retry.statuses": "retryOn", "timeouts.connect": "connectTimeout", "timeouts.stall": "stallTimeout",
        "timeouts.total": "maxTime", "redirect.limit": "maxRedirects", "hooks.timeLimit": "hookTimeout",
    ]

    /// The fields that ``WireGroup`` writes and reads in its own way, and the fields that only a session finds out.
    private static let others: Set = [
        "url", "destination.folder", "headers", "credential", "checksum", "http", "secretFiles", "trust", "network",
        "redirect.schemes", "describedName", "describedBy",
    ]

    /// The fields of the document, each with the fields of the API that contain its value.
    private static let groups: [(whole: Field, parts: [(name: String, field: Field)])] =
        DownloadRequest.documentFields.map { field in
            let parts = field.parts.map { ("\(field.name).\($0.name)", $0) }
            let all = (parts.isEmpty ? [(field.name, field)] : parts).filter { path, _ in !others.contains(path) }
            return (field, all.map { path, field in (name(of: path), field) })
        }

    static var all: [(name: String, field: Field)] { groups.flatMap(\.parts) }

    /// Writes the fields in which the request differs from the baseline.
    static func write(_ request: DownloadRequest, to document: inout Field.Writer) throws {
        let usual = RequestDocument.baseline
        for (whole, parts) in groups where !whole.isSame(request, usual) {
            for (name, field) in parts { try field.write(request, unless: usual, to: &document, as: name) }
        }
    }

    static func read(into request: inout DownloadRequest, from document: Field.Reader) throws {
        for (_, parts) in groups {
            for (name, field) in parts { try field.read(into: &request, from: document, as: name) }
        }
    }

    /// Returns the name that a field of the document has in the API.
    /// - Parameter path: the path of the field in the document, such as `retry.limit`.
    static func name(of path: String) -> String {
        names[path] ?? String(path[(path.lastIndex(of: ".").map(path.index(after:)) ?? path.startIndex)...])
    }
}
