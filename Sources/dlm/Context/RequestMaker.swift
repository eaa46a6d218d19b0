import ArgumentParser
import DownloadKit
import Foundation

/// Makes the requests of one `get` from its options.
struct RequestMaker: Sendable {
    /// What all have in common; each has a URL of its own.
    private let common: DownloadRequest
    /// There is one request and no other.
    private let isOnly: Bool
    /// Where the requests find their checksums.
    var list: ChecksumList?

    init(_ command: Get, workingFolder: String?) throws {
        guard let folder = workingFolder ?? (command.place.isAbsolute ? "/" : nil) else {
            throw ValidationError("the working folder is gone, or its name is not UTF-8; give a folder with -d")
        }
        let overrides = command.renewable.overrides
        isOnly = command.urls.count == 1 && command.inputFile == nil
        let (placeholder, _) = try Self.address("http://list.invalid/").get()
        var request = DownloadRequest(url: placeholder, destination: command.place.destination(in: folder))
        command.transfer.apply(to: &request)
        request.checksum = command.checksums.given
        request.headers = overrides.headers
        request.trust = overrides.trust ?? .system
        if let connections = overrides.connections { request.connections = connections }
        request.acceptsUnverified = overrides.acceptsUnverified
        common = request
    }

    func request(_ text: String) -> Result<DownloadRequest, DownloadError> {
        Self.address(text).flatMap { url, credential in
            var request = common
            request.url = url
            request.credential = credential
            do throws(DownloadError) {
                try list?.settle(&request, isOnly: isOnly)
                return .success(request)
            } catch {
                return .failure(error)
            }
        }
    }

    /// How something that belongs to these URLs is fetched: what was given for their host is sent to no other.
    func companion(of urls: [String]) -> (SourceURL) -> DownloadRequest {
        let origins = Set(urls.map { try? Self.address($0).get().0.origin })
        return { [common] url in
            var request = common
            request.url = url
            if origins != [url.origin] { request.headers = [] }
            return request
        }
    }

    /// A URL as it was typed, and what it says of user and password.
    static func address(_ text: String) -> Result<(SourceURL, Credential?), DownloadError> {
        switch SourceURL.parse(text) {
        case .success(let (url, credential)): .success((url, credential))
        case .failure(.malformed):
            .failure(.requestInvalid(.malformedURL(text.allSatisfy(\.isWhitespace) ? "'\(text)'" : text)))
        case .failure(.missingScheme): .failure(.requestInvalid(.missingScheme(text)))
        case .failure(.unsupportedScheme): .failure(.requestInvalid(.unsupportedScheme(text)))
        }
    }

    /// The requests of the next lines and what is to be said of the bad ones; nil at the end of the list.
    func part(
        of list: InputList, _ limit: Int
    ) async throws -> (requests: [DownloadRequest], rejected: [RejectedDocument])? {
        guard let lines = try await list.next(limit) else { return nil }
        var rejected: [RejectedDocument] = []
        let requests = lines.compactMap { request($0) { rejected.append($0) } }
        return (requests, rejected)
    }

    /// Nil for a bad line, which is told to `reject`: the others go on.
    func request(_ line: InputList.Line, reject: (RejectedDocument) -> Void) -> DownloadRequest? {
        guard line.isReadable else {
            reject(RejectedDocument("is not UTF-8 text", line: line.number))
            return nil
        }
        if line.text.first?.isWhitespace ?? false, line.text.contains("="), !line.text.contains("://") {
            reject(RejectedDocument("options for one URL are not built yet", line: line.number))
            return nil
        }
        switch request(line.text) {
        case .success(let request): return request
        case .failure(let error):
            reject(RejectedDocument(error, line: line.number))
            return nil
        }
    }
}
