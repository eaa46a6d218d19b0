import DownloadCore
import Foundation
import Synchronization

/// Requests as JSON without what has a column of its own: the thousand requests of one list then share one text, and
/// it is encoded and decoded once.
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

    /// Stands in for the URL, which is in its column.
    static let placeholder: SourceURL = {
        guard case .success(let parsed) = SourceURL.parse("http://column.invalid/") else {
            preconditionFailure("a constant URL is well-formed")
        }
        return parsed.url
    }()

    func encode(_ request: DownloadRequest) throws -> String {
        var shared = request
        shared.url = Self.placeholder
        shared.destination.folder = ""
        shared.destination.fileName = nil
        shared.priority = 0
        if let known = encoded.withLock(\.self), known.request == shared { return known.json }
        let json = try JSONText.encode(StoredRequest(shared))
        encoded.withLock { $0 = Pair(shared, json) }
        return json
    }

    /// The caller fills in the columns. Secrets are missing.
    func decode(_ json: String) throws -> DownloadRequest {
        if let known = decoded.withLock(\.self), known.json == json { return known.request }
        let request = try JSONText.decode(StoredRequest.self, json).request
        decoded.withLock { $0 = Pair(request, json) }
        return request
    }
}

/// JSON columns. Numbers that JSON lacks are written as words: a time limit may be infinite.
enum JSONText {
    private static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }()

    static func encode(_ value: some Encodable) throws -> String {
        try DirectEncoder.encode(value)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try decoder.decode(type, from: Data(text.utf8))
    }
}
