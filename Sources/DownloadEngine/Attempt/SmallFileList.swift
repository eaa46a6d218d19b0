import DownloadCore
import DownloadSystem

/// The common part of the small files of one list and one origin, which is worked out once for all of them.
final class SmallFileList: Sendable {
    /// The request of the file for which this was made. The others differ in the path and the query of the URL.
    let request: DownloadRequest
    let secrets: RequestSecrets
    /// The cookies that servers set, if all files of the list share them.
    let memory: CookieMemory?
    let judge: ResponseJudge
    /// Whether the URL is changed to https for a host that wants only https.
    private let isUpgraded: Bool
    /// The transfer of the file for which this was made, without cookies and without the limit of the file's rate.
    let transfer: TransferRequest
    private let entry: DownloadEntry

    /// Returns nil if ``SmallFileRule`` does not permit the download to begin as a small file.
    init?(_ entry: DownloadEntry, _ requests: SessionRequests) {
        let record = entry.record
        guard SmallFileRule.permits(record) else { return nil }
        self.entry = entry
        request = record.request
        secrets = RequestSecrets(request, LoadedSecrets())
        memory = requests.sharedMemory(request)
        isUpgraded = request.http.upgradesKnownHosts != false
        let end = request.connections.number > 1 ? Probe.firstLease : nil
        var judge = ResponseJudge(start: 0, end: end, asksRange: true)
        judge.validation = request.validation
        self.judge = judge
        var transfer = requests.request(RequestRoute(entry.url), of: request, LoadedSecrets())
        transfer.range = "0-\(end.map { "\($0 - 1)" } ?? "")"
        if let turned = transfer.options.network.turned(min(record.attempts.count, DownloadRecord.attemptsKept - 1)) {
            transfer.options.network = turned
        }
        self.transfer = transfer
    }

    func route(to url: SourceURL, upgradedBy hosts: HSTSStore?) -> RequestRoute {
        RequestRoute(isUpgraded ? hosts?.upgraded(url) ?? url : url)
    }

    /// Returns whether the other download may begin as a small file for the same reasons. A requested name must be
    /// looked for each time.
    func has(_ other: DownloadEntry) -> Bool {
        other.isListed(with: entry) && other.origin == entry.origin && request.destination.fileName == nil
    }
}
