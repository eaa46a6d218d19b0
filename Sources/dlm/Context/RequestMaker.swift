import ArgumentParser
import DownloadKit
import Foundation

/// Makes the requests of one `get` from its options.
struct RequestMaker: Sendable {
    /// What all have in common; each has a URL of its own.
    private let common: DownloadRequest
    /// There is one request and no other.
    private let isOnly: Bool
    private let workingFolder: String?
    /// Of the list, in messages.
    private let listName: String
    private let listOptions = ListOptions()
    /// Where the requests find their checksums.
    var list: ChecksumList?

    init(_ command: Get, workingFolder: String?) throws {
        self.workingFolder = workingFolder
        isOnly = command.urls.count == 1 && command.inputFile == nil
        listName = command.inputFile.map(InputList.name) ?? ""
        let (placeholder, _) = try Self.address("http://list.invalid/").get()
        let folder = workingFolder.map(FolderPath.canonical) ?? ""
        var request = DownloadRequest(url: placeholder, destination: Destination(folder: folder))
        try command.item.apply(to: &request, in: workingFolder)
        if command.streams {
            request.connections = 1
            request.destination.folder = "/"
        }
        if request.destination.folder.isEmpty { throw DestinationOptions.noWorkingFolder }
        common = request
    }

    func request(_ text: String) -> Result<DownloadRequest, any Error> { Result { try request(text, nil) } }

    /// - Parameter item: what is said of this URL alone.
    private func request(_ text: String, _ item: ItemOptions?) throws -> DownloadRequest {
        let (url, credential) = try Self.address(text).get()
        var request = common
        request.url = url
        if let credential { request.credential = credential }
        if item?.place.output == DestinationOptions.stream {
            throw ValidationError("output: - is standard output, which belongs to one URL on the command line")
        }
        try item?.apply(to: &request, in: workingFolder)
        if item?.checksums.given == nil { try list?.settle(&request, isOnly: isOnly) }
        return request
    }

    /// How something that belongs to these URLs is fetched: what was given for their host is sent to no other.
    func companion(of urls: [String]) -> (SourceURL) -> DownloadRequest {
        let origins = Set(urls.map { try? Self.address($0).get().0.origin })
        return { [common] url in
            var request = common
            request.url = url
            // These are about the files that are asked for.
            request.validation = ResponseValidation()
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
        do {
            return try request(line)
        } catch let error as DownloadError {
            reject(RejectedDocument(error, line: line.number, of: listName))
        } catch let error as ListOptions.Failure {
            reject(RejectedDocument(error.message, line: error.line, of: listName))
        } catch {
            reject(RejectedDocument(UsageReport.sentence(error, of: ItemOptions.self), line: line.number, of: listName))
        }
        return nil
    }

    private func request(_ line: InputList.Line) throws -> DownloadRequest {
        guard line.isReadable else { throw ListOptions.Failure(line: line.number, message: "is not UTF-8 text") }
        if OptionText.isOption(line.text) {
            let why = "no URL above it waits for options; write them right below theirs, at once"
            throw ListOptions.Failure(line: line.number, message: why)
        }
        return try request(line.text, line.options.isEmpty ? nil : listOptions.options(line.options))
    }
}
