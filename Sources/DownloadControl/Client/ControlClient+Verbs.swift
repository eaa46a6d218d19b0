import DownloadCore
import Foundation
import HTTPTypes

extension ControlClient {
    package func add(_ requests: RequestList) async throws -> [AddedDownload] {
        try await prepareAddition(of: requests).add()()
    }

    package func prepareAddition(of requests: RequestList) throws -> PreparedAddition {
        let batches = requests.batches
        let documents = try batches.map {
            try WireAdd(groups: $0.runs.map(WireGroup.init), isBrief: true).json()
        }
        return PreparedAddition { [self] in
            var answers: [Data] = []
            for document in documents { answers.append(try await ask(.post, "downloads", json: document)) }
            return { [self, answers] in
                try zip(batches, answers).reduce(into: []) { added, exchange in
                    let answer = try decode(WireAddedList.self, exchange.1)
                    guard let downloads = answer.added(exchange.0, session: identifier, at: time.date) else {
                        throw bad("its answer cannot be understood")
                    }
                    if added.isEmpty { added = downloads } else { added += downloads }
                }
            }
        }
    }

    package func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        try await perform(.post, "downloads/resume", ids) { WireVerb(ids: $0, overrides: overrides) }.map { download in
            guard let kind = download.kind else { throw bad("its answer cannot be understood") }
            return ClaimedDownload(kind, download.record)
        }
    }

    package func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload] {
        let (method, path): (HTTPRequest.Method, String) =
            switch change {
            case .pause: (.post, "downloads/pause")
            case .cancel: (.post, "downloads/cancel")
            case .priority, .rateLimit, .url, .mirrors: (.patch, "downloads")
            }
        return try await perform(method, path, ids) { WireVerb(ids: $0, change: change) }.map {
            ChangedDownload(snapshot: $0.snapshot, didChange: $0.changed ?? false)
        }
    }

    package func remove(_ ids: [DownloadID], deletesFile: Bool) async throws {
        for part in ids.parts(of: Self.idsAtOnce) {
            var wish = WireVerb(ids: part)
            wish.deleteFile = deletesFile
            _ = try await ask(.post, "downloads/remove", wish)
        }
    }

    package func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot] {
        switch selection.which {
        case .all: return try await list("all=true", selection)
        case .file: throw bad("only the store finds a download by its file")
        case .states(let states):
            if states.isEmpty { return [] }
            return try await list("state=" + states.map(\.rawValue).sorted().joined(separator: ","), selection)
        case .ids(let ids):
            // A display does not wait long for details.
            let (query, patience) = selection.isDetailed ? ("detailed=true&ids=", limits.hello) : ("ids=", limits.verb)
            var found: [DownloadSnapshot] = []
            for part in ids.parts(of: Self.idsAtOnce / 5) {
                let text = query + part.ranges.text(separator: ",")
                found += try await page(text, within: patience).downloads.map(\.snapshot)
            }
            if let after = selection.after {
                return Array(found.filter { $0.id > after }.prefix(selection.limit ?? .max))
            }
            return selection.limit.map { Array(found.suffix($0)) } ?? found
        }
    }

    package func progress() async -> [DownloadProgress] {
        // If the session has just ended, the result is empty. That is enough for a display; a caller that needs the
        // error gets it from `log`.
        guard let body = try? await ask(.get, "progress", within: limits.hello),
            let answer = try? decode(WireProgress.self, body)
        else { return [] }
        return answer.downloads.map(\.progress)
    }

    package func configure(_ settings: SessionSettings) async throws { _ = try await ask(.patch, "session", settings) }

    package func shutdown(_ mode: ShutdownMode) async throws {
        _ = try await ask(.post, "session/shutdown", WireShutdown(mode: mode))
    }

    /// The maximum number of ids in one request. A session refuses requests that are too long.
    private static let idsAtOnce = 5_000

    private func perform(
        _ method: HTTPRequest.Method, _ path: String, _ ids: [DownloadID],
        _ document: ([DownloadID]) -> WireVerb
    ) async throws -> [ReceivedDownload] {
        var result: [ReceivedDownload] = []
        for part in ids.parts(of: Self.idsAtOnce) {
            let answer = try decode(ReceivedDownloads.self, await ask(method, path, document(part)))
            guard answer.downloads.count == part.count else { throw bad("its answer cannot be understood") }
            result += answer.downloads
        }
        return result
    }

    /// Returns the downloads of a list. A long list is read page by page.
    private func list(_ query: String, _ selection: DownloadSelection) async throws -> [DownloadSnapshot] {
        let wanted = selection.limit ?? .max
        if wanted <= Self.rowsAtMost, selection.after == nil {
            return try await page("\(query)&limit=\(wanted)").downloads.map(\.snapshot)
        }
        let most = selection.after == nil ? Int.max : wanted
        var found: [DownloadSnapshot] = []
        while found.count < most {
            let after = found.last?.id ?? selection.after ?? 0
            let limit = min(most - found.count, Self.rowsAtOnce)
            let rows = try await page("\(query)&after=\(after)&limit=\(limit)").downloads
            // These checks make the loop end, whatever the peer sends.
            guard rows.allSatisfy({ $0.record.id > after }), rows.count <= limit else {
                throw bad("its answer cannot be understood")
            }
            found += rows.map(\.snapshot)
            if rows.count < limit { break }
        }
        return selection.after == nil ? Array(found.suffix(wanted)) : found
    }

    /// The most rows that a session sends in one response.
    private static let rowsAtMost = 10_000
    /// The rows of each page of a long list, so that a response stays small.
    private static let rowsAtOnce = 2_000

    private func page(_ query: String, within patience: Duration? = nil) async throws -> ReceivedDownloads {
        try decode(ReceivedDownloads.self, await ask(.get, "downloads?" + query, within: patience))
    }
}
