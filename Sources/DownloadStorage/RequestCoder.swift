import DownloadCore
import Synchronization

/// The column with the ``RequestDocument``, which lacks what has a column of its own: the thousand requests of one list
/// then share one text, and it is encoded and decoded once.
final class RequestCoder: Sendable {
    /// A class: a struct would be copied to be compared.
    private final class Pair: Sendable {
        let request: DownloadRequest
        let json: String

        init(_ request: DownloadRequest, _ json: String) {
            self.request = request
            self.json = json
        }
    }

    private let encoded = Mutex<Pair?>(nil)
    /// Apart from what was encoded: that may hold secrets, and a stored request has none.
    private let decoded = Mutex<Pair?>(nil)

    func encode(_ request: DownloadRequest) throws -> String {
        var shared = request
        shared.url = RequestDocument.placeholder
        shared.destination.folder = ""
        shared.destination.fileName = nil
        shared.priority = 0
        if let known = encoded.withLock(\.self), known.request == shared { return known.json }
        let json = try RequestDocument(shared).text()
        encoded.withLock { $0 = Pair(shared, json) }
        return json
    }

    /// The caller fills in the columns. Secrets are missing.
    func decode(_ json: String) throws -> DownloadRequest {
        if let known = decoded.withLock(\.self), known.json == json { return known.request }
        let request = try RequestDocument(text: json).request
        decoded.withLock { $0 = Pair(request, json) }
        return request
    }
}
