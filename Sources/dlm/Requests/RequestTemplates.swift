import DownloadKit
import Synchronization

/// The requests that result from settings and command line, before the options of a single URL are applied. All URLs
/// that match the same sections of config.yaml share one request, so most lists need only one.
final class RequestTemplates: Sendable {
    private let options: ItemOptions
    private let settings: Settings
    private let workingFolder: String?
    private let addsParameters: Bool
    /// The requests by the numbers of their sections, which are joined into one text. With an array as the key, the
    /// Swift runtime would search all types of the program for a conformance, at each start.
    private let made = Mutex<[String: DownloadRequest]>([:])
    private let common: DownloadRequest

    init(_ options: ItemOptions, settings: Settings, workingFolder: String?) throws {
        self.options = options
        self.settings = settings
        self.workingFolder = workingFolder
        addsParameters = !options.http.query.isEmpty
        common = try Self.request([], options, settings, workingFolder)
    }

    /// The folder of hosts without sections.
    var folder: String { common.destination.folder }

    func request(for url: SourceURL) throws -> DownloadRequest {
        let sections = settings.sections(for: url)
        var request = sections.isEmpty ? common : try known(sections)
        request.url = completed(url)
        return request
    }

    func completed(_ url: SourceURL) -> SourceURL { addsParameters ? options.http.completed(url) : url }

    /// Returns whether the requests for both URLs differ only in their URLs.
    func areAlike(_ url: SourceURL, _ other: SourceURL) -> Bool {
        settings.sections(for: url) == settings.sections(for: other)
    }

    /// Returns a request for a document that belongs to the files, such as a list of checksums. If it is on another
    /// server (`isForeign`), the secrets for the files are left out.
    func companion(for url: SourceURL, isForeign: Bool) throws -> DownloadRequest {
        var options = options
        (options.http.query, options.http.compressed, options.http.method) = ([], false, nil)
        options.renewable.body.dropBody()
        if isForeign {
            options.renewable.fields.header = []
            options.renewable.credentials.user = nil
            options.renewable.credentials.bearerFile = nil
            options.renewable.credentials.bearerCommand = nil
        }
        var request = try Self.request(settings.sections(for: url), options, settings, workingFolder)
        request.url = url
        return request
    }

    private func known(_ sections: [Int]) throws -> DownloadRequest {
        let key = sections.map { "\($0)" }.joined(separator: " ")
        if let request = made.withLock({ $0[key] }) { return request }
        let request = try Self.request(sections, options, settings, workingFolder)
        made.withLock { $0[key] = request }
        return request
    }

    private static func request(
        _ sections: [Int], _ options: ItemOptions, _ settings: Settings, _ workingFolder: String?
    ) throws -> DownloadRequest {
        let folder = workingFolder.map(FolderPath.canonical) ?? ""
        var request = DownloadRequest(url: RequestDocument.placeholder, destination: Destination(folder: folder))
        try settings.apply(to: &request, sections, in: workingFolder)
        try options.apply(to: &request, in: workingFolder)
        // A request whose only setting for hooks is the time limit has no hooks.
        if request.hooks?.isEmpty ?? false { request.hooks = nil }
        if request.destination.folder.isEmpty { throw DestinationOptions.noWorkingFolder }
        return request
    }
}
