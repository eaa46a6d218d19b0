import DownloadKit
import Synchronization

/// Requests as settings and options make them, before anything is said of one URL. Made once for all hosts that the same
/// sections of the configuration are about: for most lists that is once.
final class RequestTemplates: Sendable {
    private let options: ItemOptions
    private let settings: Settings
    private let workingFolder: String?
    /// By the numbers of the sections, as text: that a list of numbers can be a key takes each start of the program a
    /// search through all its types.
    private let made = Mutex<[String: DownloadRequest]>([:])
    /// For hosts without sections.
    private let common: DownloadRequest

    init(_ options: ItemOptions, settings: Settings, workingFolder: String?) throws {
        self.options = options
        self.settings = settings
        self.workingFolder = workingFolder
        common = try Self.request([], options, settings, workingFolder)
    }

    func request(for url: SourceURL) throws -> DownloadRequest {
        var request = try known(settings.sections(for: url))
        request.url = options.http.completed(url)
        return request
    }

    /// For something that belongs to the files that are asked for.
    /// - Parameter isForeign: what the command line gives to one server is not for this one.
    func companion(for url: SourceURL, isForeign: Bool) throws -> DownloadRequest {
        var options = options
        options.http = options.http.withoutContent
        options = options.without(secrets: isForeign)
        var request = try Self.request(settings.sections(for: url), options, settings, workingFolder)
        request.url = url
        return request
    }

    private func known(_ sections: [Int]) throws -> DownloadRequest {
        if sections.isEmpty { return common }
        let key = sections.map { "\($0)" }.joined(separator: " ")
        if let request = made.withLock({ $0[key] }) { return request }
        let request = try Self.request(sections, options, settings, workingFolder)
        made.withLock { $0[key] = request }
        return request
    }

    private static func request(
        _ sections: [Int], _ options: ItemOptions, _ settings: Settings, _ workingFolder: String?
    ) throws -> DownloadRequest {
        let (placeholder, _) = try RequestMaker.address("http://list.invalid/").get()
        let folder = workingFolder.map(FolderPath.canonical) ?? ""
        var request = DownloadRequest(url: placeholder, destination: Destination(folder: folder))
        try settings.apply(to: &request, sections, in: workingFolder)
        try options.apply(to: &request, in: workingFolder)
        // A time limit alone, from the configuration, is for a program that may be named later.
        if request.hooks?.isEmpty ?? false { request.hooks = nil }
        if request.destination.folder.isEmpty { throw DestinationOptions.noWorkingFolder }
        return request
    }
}
