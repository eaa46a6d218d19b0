import DownloadKit
import Synchronization

/// Requests as settings and options make them, before anything is said of one URL. Made once for all hosts that the same
/// sections of the configuration are about: for most lists that is once.
final class RequestTemplates: Sendable {
    private let options: ItemOptions
    private let settings: Settings
    private let workingFolder: String?
    private let made = Mutex<[[Int]: DownloadRequest]>([:])
    /// For hosts without sections.
    private let common: DownloadRequest

    init(_ options: ItemOptions, settings: Settings, workingFolder: String?) throws {
        self.options = options
        self.settings = settings
        self.workingFolder = workingFolder
        common = try Self.request([], options, settings, workingFolder)
    }

    /// - Parameter keepsHeaders: those of the command line, which are meant for one server.
    func request(for url: SourceURL, keepsHeaders: Bool = true) throws -> DownloadRequest {
        let sections = settings.sections(for: url.host)
        var request = try keepsHeaders ? known(sections) : withoutHeaders(sections)
        request.url = url
        return request
    }

    private func known(_ sections: [Int]) throws -> DownloadRequest {
        if sections.isEmpty { return common }
        if let request = made.withLock({ $0[sections] }) { return request }
        let request = try Self.request(sections, options, settings, workingFolder)
        made.withLock { $0[sections] = request }
        return request
    }

    private func withoutHeaders(_ sections: [Int]) throws -> DownloadRequest {
        var options = options
        options.renewable.header = []
        return try Self.request(sections, options, settings, workingFolder)
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
        if let hooks = request.hooks, hooks.onComplete == nil, hooks.onError == nil { request.hooks = nil }
        if request.destination.folder.isEmpty { throw DestinationOptions.noWorkingFolder }
        return request
    }
}
