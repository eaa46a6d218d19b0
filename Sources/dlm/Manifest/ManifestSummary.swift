import DownloadKit

/// The numbers of done and failed URLs in manifests, with the errors (`dlm manifest summary --json`).
struct ManifestSummary: Document, Equatable {
    struct Count: Encodable, Equatable, Sendable {
        let name: String
        let urls: Int
    }

    var version = 1
    var urls = 0
    var done = 0
    var failed = 0
    var retryable = 0
    var bytes: Int64 = 0
    var errors: [Count] = []
    var hosts: [Count] = []

    private static let shownHosts = 20

    init() {}

    init(_ index: ManifestIndex) throws {
        var (errors, hosts): ([String: Int], [String: Int]) = ([:], [:])
        try index.forEachLine { line in
            let entry = try ManifestEntry(line: line)
            urls += 1
            if entry.status == .done {
                done += 1
                bytes = bytes.adding(entry.bytes)
                return
            }
            failed += 1
            if entry.error?.retryable ?? false { retryable += 1 }
            errors[entry.kindOfError, default: 0] += 1
            hosts[entry.host, default: 0] += 1
        }
        self.errors = Self.ranked(errors)
        self.hosts = Array(Self.ranked(hosts).prefix(Self.shownHosts))
    }

    private static func ranked(_ counts: [String: Int]) -> [Count] {
        counts.map { Count(name: $0.key, urls: $0.value) }.sorted { ($1.urls, $0.name) < ($0.urls, $1.name) }
    }

    var lines: [String] {
        var first = "\(urls) URLs: \(done) done"
        if failed > 0 { first += ", \(failed) failed (\(retryable) may be tried again)" }
        var lines = [first + ", \(Units.size(bytes))"]
        for (title, counts) in [("failed by kind:", errors), ("failed by host:", hosts)]
        where !counts.isEmpty {
            lines.append(title)
            let width = counts.map { "\($0.urls)".count }.max() ?? 0
            lines += counts.map { "  \(DisplayWidth.rightAligned("\($0.urls)", to: width))  \($0.name)" }
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
