import DownloadCore
import Synchronization

/// A coder for the column with the ``RequestDocument``. The document leaves out the parts that have columns of their
/// own. So the thousand requests of one list share one text, which is encoded and decoded once.
final class RequestCoder: Sendable {
    /// A request with its text. The type is a class, because a struct would be copied for each comparison.
    private final class Pair: Sendable {
        let request: DownloadRequest
        let json: String

        init(_ request: DownloadRequest, _ json: String) {
            self.request = request
            self.json = json
        }
    }

    private let encoded = Mutex<Pair?>(nil)
    /// The last decoded request. An encoded request is kept separately, because it may have secrets, and a stored
    /// request has none.
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

    /// Returns the request of the document, without secrets. The caller adds the parts that have columns of their
    /// own.
    func decode(_ json: String) throws -> DownloadRequest {
        if let known = decoded.withLock(\.self), known.json == json { return known.request }
        let request = try RequestDocument(text: json).request
        decoded.withLock { $0 = Pair(request, json) }
        return request
    }
}
