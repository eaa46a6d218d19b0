import DownloadKit

/// Hands downloads to the background session and tells their ids; a list of any length takes no more memory than a part.
struct BackgroundHandover {
    let router: any SessionRouting
    let console: Console
    let options: OutputOptions
    /// Lines of a list in one question to the session.
    static let chunk = 4_000
    private(set) var statuses: Set<Int32> = []

    init(_ router: any SessionRouting, console: Console, options: OutputOptions) {
        self.router = router
        self.console = console
        self.options = options
    }

    /// 0, the status of the one kind of failure, or 1 for several kinds.
    var exitStatus: Int32 { statuses.count > 1 ? 1 : statuses.first ?? 0 }

    mutating func add(_ requests: [DownloadRequest]) async throws {
        guard !requests.isEmpty else { return }
        var ids: [DownloadID] = []
        for (request, download) in zip(requests, try await added(requests)) {
            if download.kind == .joined, request.asksForMore(than: download.record.request) {
                reject(RejectedDocument(Self.joinedUnverified(download.record.id)))
            } else {
                ids.append(download.record.id)
                tell(download)
            }
        }
        if !options.json, !options.quiet, !ids.isEmpty { console.print(ids.map { "\($0)" }.joined(separator: "\n")) }
    }

    /// More than its id, which is printed with those of the others: a million lines are not a million writes.
    private func tell(_ download: AddedDownload) {
        let isVerbose = options.verbose > 0 && !options.quiet
        guard options.json || isVerbose else { return }
        let snapshot = DownloadSnapshot(record: download.record)
        let verb = download.kind == .joined ? "joined" : "added"
        if options.json { console.print(EventDocument(verb, snapshot).json) }
        guard isVerbose else { return }
        console.report("\(snapshot.id): \(snapshot.record.displayName): \(verb): \(download.record.request.url)")
    }

    /// A session that somebody ends just now is followed by the next one.
    private func added(_ requests: [DownloadRequest]) async throws -> [AddedDownload] {
        for _ in 1..<Self.attempts {
            do {
                return try await router.background().add(requests)
            } catch DownloadError.sessionUnavailable(let failure)
                where failure == .notRunning(SessionIdentifier.background) || failure == .shuttingDown
            {
                continue
            }
        }
        return try await router.background().add(requests)
    }

    private static let attempts = 5

    /// Nobody here stays to verify it.
    private static func joinedUnverified(_ id: DownloadID) -> DownloadError {
        .verificationFailed(
            .unverifiable("\(id): is being fetched already, without this checksum; run: dlm wait \(id), then verify it")
        )
    }

    /// Something that never became a download.
    mutating func reject(_ document: RejectedDocument) {
        console.report(document.text)
        if options.json { console.print(document.json) }
        statuses.insert(document.exitStatus)
    }
}
