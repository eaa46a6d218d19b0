import ArgumentParser
import DownloadKit
import Foundation

/// The maker of the requests of one `get`, from settings, options and the lines of a list. An option below a URL in the
/// list overrides the command line, and the command line overrides the settings.
struct RequestMaker: Sendable {
    /// The requests before the options of a single URL are applied.
    private let templates: RequestTemplates
    private let isOnly: Bool
    private let workingFolder: String?
    /// Whether one connection is used, because the file goes to standard output and the command gives no number.
    private let isInOrder: Bool
    private let areRecorded: Bool
    private let listName: String
    private let listOptions = ListOptions()
    /// The rule of `--name-by` for file names; nil if the option is not given.
    private let namer: FileNamer?
    /// The given options that can also be given to `resume`.
    let overrides: RequestOverrides
    /// The time between the starts of two downloads from one host, in seconds, if the command gives it.
    var pacing: Double?
    var list: ChecksumList?

    init(_ command: Get, settings: Settings = Settings(), workingFolder: String?) throws {
        self.workingFolder = workingFolder
        isOnly = try URLPatterns(isLiteral: command.literal).count(in: command.urls) == 1 && command.inputFile == nil
        listName = command.inputFile.map(InputList.name) ?? ""
        isInOrder = command.streams && command.item.renewable.count.connections == nil
        areRecorded = command.isRecorded
        namer = command.worker.namer(command.item.place.ifExists)
        templates = try RequestTemplates(
            command.item, settings: settings, workingFolder: command.streams ? workingFolder ?? "/" : workingFolder)
        overrides = try command.item.renewable.overrides()
    }

    static let pausedUnrecorded = ValidationError(
        "--paused needs a recorded download, so that dlm resume can start it; leave out --paused, or leave out "
            + "--ephemeral and -o -; if paused comes from config.yaml, set DLM_PAUSED=false")

    private func requireResumable(_ request: DownloadRequest) throws {
        if request.startsPaused, !areRecorded { throw Self.pausedUnrecorded }
    }

    /// Returns a request with default values and without a real URL.
    static var blank: DownloadRequest {
        DownloadRequest(url: RequestDocument.placeholder, destination: Destination(folder: "/"))
    }

    /// The folder for files whose options name no other.
    var folder: String { templates.folder }

    /// Returns the request for a URL. The name of the file may repeat the values of the URL's patterns.
    /// - Parameter count: The number of URLs of the command.
    func request(_ text: String, values: [String] = [], of count: Int = 1) throws -> DownloadRequest {
        var request = try request(text, nil, [])
        Self.limitSearch(&request, count)
        if !values.isEmpty, let name = request.destination.fileName {
            let name = URLPatterns.filled(name, values)
            guard FileNaming.isUsable(name) else { throw ValidationError("-o: '\(name)' cannot be the name of a file") }
            request.destination.fileName = name
        }
        return request
    }

    /// - Parameter mirrors: The other URLs in the same line of the list.
    private func request(
        _ text: String, _ item: ItemOptions?, _ mirrors: ArraySlice<Substring>, at position: Int = 0
    ) throws -> DownloadRequest {
        let (url, credential) = try Self.address(text).get()
        var request = try templates.request(for: url)
        if isInOrder { request.connections = 1 }
        if let pacing { request.pacing = pacing }
        if item?.place.output == DestinationOptions.stream {
            throw ValidationError(
                "output: standard output (-) is possible only for a single URL on the command line")
        }
        if item?.checksums.document != nil {
            throw ValidationError("checksum: give ALGO:HEX; ALGO:URL is possible only on the command line")
        }
        try item?.apply(to: &request, in: workingFolder)
        if let namer, request.destination.fileName == nil {
            let place = try namer.place(of: request.url, at: position)
            request.destination.fileName = place.name
            if namer.trustsFiles, request.destination.ifExists == .fail { request.destination.ifExists = .skip }
            if !place.folder.isEmpty {
                request.destination.folder = FileNaming.path(request.destination.folder, place.folder)
            }
        }
        if !mirrors.isEmpty {
            request.mirrors = try mirrors.map { try MirrorOptions.address(String($0), "mirror") } + request.mirrors
        }
        try requireResumable(request)
        if overrides.trustsFirstUse, request.signedBy.isEmpty { throw TrustOptions.noKeys }
        try MirrorOptions.check(request)
        // If the URL has only a user name, -u may give the password of that user.
        if let credential, credential.password != "" || credential.user != request.credential?.user {
            request.credential = credential
        }
        try request.requireAllowed()
        if item?.checksums.given == nil { try list?.settle(&request, isOnly: isOnly) }
        return request
    }

    /// Returns a function that makes requests for documents that belong to the files, such as checksum lists. Header
    /// fields and credentials are sent only if the document and all `urls` have the same origin.
    func companion(of urls: [String]) -> (SourceURL) throws -> DownloadRequest {
        let origins = Set(urls.map { try? Self.address($0).get().0.origin })
        return { [templates] url in
            var request = try templates.companion(for: url, isForeign: origins != [url.origin])
            // Options such as `--expect-type` apply only to the files.
            request.validation = ResponseValidation()
            return request
        }
    }

    /// Returns the request for a file that a Metalink document describes. Secrets are not sent to another origin.
    func described(at sources: [SourceURL], from origin: String?) throws -> DownloadRequest? {
        guard let first = sources.first else { return nil }
        var request = try templates.companion(for: first, isForeign: origin != first.origin)
        try requireResumable(request)
        if let only = request.onlyScheme, first.scheme != only {
            let others = sources.filter { $0.scheme == only }
            if others.isEmpty { throw DownloadError.requestInvalid(.schemeNotAllowed(first.string, only: only)) }
            return try described(at: others, from: origin)
        }
        request.mirrors = sources.dropFirst().filter { request.onlyScheme ?? $0.scheme == $0.scheme }
        return request
    }

    /// Parses a URL as the user typed it, and returns its user name and password separately.
    static func address(_ text: String) -> Result<(SourceURL, Credential?), DownloadError> {
        SourceURL.parse(text).map { ($0.url, $0.credential) }.mapError { error in
            let isBlank = error == .malformed && text.allSatisfy(\.isWhitespace)
            return DownloadError.requestInvalid(error.failure(of: isBlank ? "'\(text)'" : text))
        }
    }

    /// The requests of a part of a list, and the reports about its bad lines.
    typealias Part = (requests: RequestList, rejected: [RejectedDocument])

    /// Returns the requests of the next part, and the reports about bad lines. Returns nil at the end of the list.
    func part(of list: ListReader) async throws -> Part? {
        guard let lines = try await list.next() else { return nil }
        var rejected: [RejectedDocument] = []
        let requests = requests(lines) { rejected.append($0) }
        return (requests, rejected)
    }

    /// Returns the requests of lines. For a bad line, calls `reject`, so that the other lines are downloaded.
    func requests(_ lines: [InputList.Line], reject: (RejectedDocument) -> Void) -> RequestList {
        var requests = RequestList()
        /// The URL in the line of the last request, if the line had nothing else.
        var last: SourceURL?
        for line in lines {
            let url = plainURL(line)
            if let url, let last, url.scheme == last.scheme, templates.areAlike(url, last) {
                requests.append(templates.completed(url))
            } else if var request = request(line, reject: reject) {
                Self.limitSearch(&request, (lines.last?.position ?? 0) + 1)
                requests.append(request)
                last = url
            }
        }
        return requests
    }

    /// Allows no search for a digest beside the file if a command has more than 50 URLs. Nobody who reads the log of a
    /// server should have to wonder about the requests.
    private static func limitSearch(_ request: inout DownloadRequest, _ count: Int) {
        if count > 50, request.proof == .auto { request.proof = .headers }
    }

    /// Returns the URL of a line if the request follows from the URL and the command alone.
    private func plainURL(_ line: InputList.Line) -> SourceURL? {
        namer == nil && list == nil && line.isReadable && line.options.isEmpty ? SourceURL.plain(line.text) : nil
    }

    /// Returns the request of a line. For a bad line, calls `reject` and returns nil.
    func request(_ line: InputList.Line, reject: (RejectedDocument) -> Void) -> DownloadRequest? {
        func url() -> String? {
            let text = (try? JSONLine.plain(line).text) ?? ""
            return text.isEmpty || OptionText.isOption(text) ? nil : SourceURL.hidingUserInformation(text)
        }
        do {
            return try request(line)
        } catch let error as DownloadError {
            reject(RejectedDocument(error, line: line.number, of: listName, url: url()))
        } catch let error as ListOptions.Failure {
            reject(RejectedDocument(file: listName, line: error.line, url: url(), message: error.message))
        } catch {
            let sentence = UsageReport.sentence(error, of: ItemOptions.self)
            reject(RejectedDocument(file: listName, line: line.number, url: url(), message: sentence))
        }
        return nil
    }

    private func request(_ line: InputList.Line) throws -> DownloadRequest {
        guard line.isReadable else { throw ListOptions.Failure(line: line.number, message: "is not UTF-8 text") }
        let line = try JSONLine.plain(line)
        if OptionText.isOption(line.text) {
            let why =
                "there is no URL above this option; write options directly below their URL, and at the same time"
            throw ListOptions.Failure(line: line.number, message: why)
        }
        let options = line.options.isEmpty ? nil : try listOptions.options(line.options)
        var text = line.text
        guard text.withUTF8({ $0.contains(UInt8(ascii: "\t")) }) else {
            return try request(text, options, [], at: line.position)
        }
        // As in aria2, a line may have several URLs of one file, separated by tabs.
        let urls = line.text.split(separator: "\t")
        return try request(String(urls[0]), options, urls.dropFirst(), at: line.position)
    }
}
