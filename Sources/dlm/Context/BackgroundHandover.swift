import DownloadKit

/// The handover of downloads to the background session. The ids of the downloads are printed. A list is handed over in
/// parts, so that a list of any length needs only the memory of one part.
struct BackgroundHandover {
    let router: any SessionRouting
    let console: Console
    let options: OutputOptions
    private(set) var statuses: Set<Int32> = []
    private let proxies: CarriedProxies
    /// The background session. It is nil until the first part of a list is handed over.
    private var session: (any DownloadService)?

    init(
        _ router: any SessionRouting, console: Console, options: OutputOptions, environment: [String: String]
    ) throws {
        proxies = try CarriedProxies(environment)
        self.router = router
        self.console = console
        self.options = options
    }

    /// The exit status of the command: 0, the status of the only kind of failure, or 1 for several kinds.
    var exitStatus: Int32 { statuses.count > 1 ? 1 : statuses.first ?? 0 }

    mutating func add(_ asked: RequestList) async throws {
        guard !asked.isEmpty else { return }
        let requests = proxies.applied(to: asked)
        let added = try await added(requests)
        let tellsEach = options.json || options.verbose > 0 && !options.quiet
        var ids: [DownloadID] = []
        ids.reserveCapacity(added.count)
        for index in added.indices {
            if added[index].kind == .joined, requests[index].asksForMore(than: added[index].record.request) {
                reject(RejectedDocument(Self.joinedUnverified(added[index].id)))
            } else {
                ids.append(added[index].id)
                if added[index].kind == .joined,
                    let notice = StandingText.otherHooks(requests[index], added[index].record)
                {
                    console.report(notice)
                }
                if tellsEach { tell(added[index]) }
            }
        }
        if !options.json, !options.quiet, !ids.isEmpty { console.print(ids.map { "\($0)" }.joined(separator: "\n")) }
    }

    /// Reports one added download in detail, as JSON or with `-v`. ``add(_:)`` prints plain ids many at a time, because
    /// a list may have a million lines.
    private func tell(_ download: AddedDownload) {
        let snapshot = DownloadSnapshot(record: download.record)
        let verb = download.kind == .joined ? "joined" : "added"
        if options.json { console.print(EventDocument(verb, snapshot).json) }
        guard options.verbose > 0, !options.quiet else { return }
        console.report("\(snapshot.id): \(snapshot.record.displayName): \(verb): \(download.record.request.url)")
    }

    /// Adds the requests to the background session. If the session is just ending, a new background session is started,
    /// and gets the requests.
    private mutating func added(_ requests: RequestList) async throws -> [AddedDownload] {
        for _ in 1..<Self.attempts {
            do {
                return try await background().add(requests)
            } catch DownloadError.sessionUnavailable(let failure)
                where failure == .notRunning(SessionIdentifier.background) || failure == .shuttingDown
            {
                session = nil
            }
        }
        return try await background().add(requests)
    }

    /// Returns the background session, and looks it up only once for all parts of a list.
    private mutating func background() async throws -> any DownloadService {
        if let session { return session }
        let found = try await router.background()
        session = found
        return found
    }

    private static let attempts = 5

    /// Returns the error for a download that was joined but lacks the requested checksum. This command does not wait
    /// for the end of the download, so it cannot verify the file.
    private static func joinedUnverified(_ id: DownloadID) -> DownloadError {
        .verificationFailed(
            .unverifiable(
                "\(id): this file is already being downloaded without this checksum; run: dlm wait \(id), and then dlm "
                    + "verify")
        )
    }

    /// Reports an input that did not become a download, and records its exit status.
    mutating func reject(_ document: RejectedDocument) {
        console.report(document.text)
        if options.json { console.print(document.json) }
        statuses.insert(document.exitStatus)
    }
}
