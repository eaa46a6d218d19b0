import DownloadKit

extension DownloadService {
    /// The downloads with these ids, in this order; nothing is returned before all are known.
    func known(_ ids: [DownloadID]) async throws -> [DownloadSnapshot] {
        let found = Dictionary(
            try await snapshots(.ids(ids)).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return try ids.map { id in
            guard let snapshot = found[id] else { throw DownloadError.noSuchDownload(id) }
            return snapshot
        }
    }
}

extension Context {
    /// For what goes to stdout.
    func style(_ options: OutputOptions) -> Style {
        Style.chosen(options.color, isTerminal: console.outputIsTerminal, environment: environment)
    }
}
