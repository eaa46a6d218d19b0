import DownloadCore

/// A fault of a request, which is answered with status 400, or a fault of an event that a session has sent.
package struct WireProblem: Error {
    package let error: DownloadError

    package init(_ message: String) { error = .sessionUnavailable(.badExchange("", message: message)) }

    fileprivate init(_ failure: SourceURL.ParseError, _ text: String) {
        error = .requestInvalid(failure.failure(of: SourceURL.hidingUserInformation(text)))
    }
}

extension SourceURL {
    /// Reads the URL of a request.
    package static func given(_ text: String) throws(WireProblem) -> (url: SourceURL, credential: Credential?) {
        try parse(text).mapError { WireProblem($0, text) }.get()
    }
}

extension Optional where Wrapped: Comparable {
    /// Returns the value, which may be nil.
    /// - Throws: ``WireProblem`` if the value is outside of the range.
    func within(_ range: ClosedRange<Wrapped>, _ name: String) throws(WireProblem) -> Wrapped? {
        guard let value = self else { return nil }
        guard range.contains(value) else { throw WireProblem("\(name): \(value) is out of range") }
        return value
    }
}

extension RequestHeader {
    /// The field in the API's form: `["Name", "value"]`, or the name alone if there is no value.
    var wire: [String] { [name] + (value.map { [$0] } ?? []) }

    static func fields(_ wire: [[String]]) throws(WireProblem) -> [RequestHeader] {
        var result: [RequestHeader] = []
        for pair in wire {
            guard let name = pair.first, pair.count <= 2, let field = RequestHeader("\(name):\(pair.last ?? "")"),
                field.name == name
            else { throw WireProblem("headers: give pairs of a name and a value without control characters") }
            result.append(pair.count == 1 ? RequestHeader(name: name, value: nil) : field)
        }
        return result
    }
}
