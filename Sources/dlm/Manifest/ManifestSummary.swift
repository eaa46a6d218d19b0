import DownloadKit

/// The numbers of done and failed URLs in manifests, with the errors.
struct ManifestSummary {
    /// The document that `dlm manifest summary --json` prints.
    struct Summary: Document, Equatable {
        struct Count: Encodable, Equatable, Sendable {
            /// The error, such as `server/status404`, or the host.
            let name: String
            let urls: Int
        }

        var version = 1
        var urls = 0
        var done = 0
        var failed = 0
        /// The number of failed URLs for which another run may succeed.
        var retryable = 0
        /// The size of all finished files in bytes.
        var bytes: Int64 = 0
        /// The errors, the most frequent one first.
        var errors: [Count] = []
        /// The hosts with the most failures.
        var hosts: [Count] = []
    }

    private(set) var document = Summary()

    private static let shownHosts = 20

    init(_ index: ManifestIndex) throws {
        var (errors, hosts): ([String: Int], [String: Int]) = ([:], [:])
        try index.forEachLine { line in
            let entry = try ManifestEntry(line: line)
            document.urls += 1
            if entry.status == .done {
                document.done += 1
                document.bytes = document.bytes.adding(entry.bytes)
                return
            }
            document.failed += 1
            if entry.error?.retryable ?? false { document.retryable += 1 }
            errors[entry.kindOfError, default: 0] += 1
            hosts[entry.host, default: 0] += 1
        }
        document.errors = Self.ranked(errors)
        document.hosts = Array(Self.ranked(hosts).prefix(Self.shownHosts))
    }

    private static func ranked(_ counts: [String: Int]) -> [Summary.Count] {
        counts.map { Summary.Count(name: $0.key, urls: $0.value) }.sorted { ($1.urls, $0.name) < ($0.urls, $1.name) }
    }

    var lines: [String] {
        var first = "\(document.urls) URLs: \(document.done) done"
        if document.failed > 0 { first += ", \(document.failed) failed (\(document.retryable) may be tried again)" }
        var lines = [first + ", \(Units.size(document.bytes))"]
        for (title, counts) in [("failed by kind:", document.errors), ("failed by host:", document.hosts)]
        where !counts.isEmpty {
            lines.append(title)
            let width = counts.map { "\($0.urls)".count }.max() ?? 0
            for count in counts {
                let number = "\(count.urls)"
                lines.append("  \(String(repeating: " ", count: width - number.count))\(number)  \(count.name)")
            }
        }
        return lines
    }
}

/// The failed URLs of manifests, by host and kind of error.
struct ManifestFailures {
    struct Group {
        let host: String
        let kind: String
        var entries: [ManifestEntry]
    }

    let groups: [Group]

    /// - Parameter isWanted: returns whether a failed entry with this host is included.
    init(_ index: ManifestIndex, where isWanted: (ManifestEntry, String) -> Bool) throws {
        var groups: [String: Group] = [:]
        try index.forEachLine { line in
            if ManifestFile.isDone(line) { return }
            let entry = try ManifestEntry(line: line)
            let host = entry.host
            guard isWanted(entry, host) else { return }
            groups["\(host)\n\(entry.kindOfError)", default: Group(host: host, kind: entry.kindOfError, entries: [])]
                .entries.append(entry)
        }
        self.groups = groups.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension ManifestEntry {
    var kindOfError: String { error.map { "\($0.kind)/\($0.reason)" } ?? "unknown" }

    var host: String { (try? RequestMaker.address(url).get().0.host) ?? "" }
}
