import DownloadKit

/// The downloads that a command is about, before they are looked up.
enum Chosen: Equatable {
    case ids([DownloadID])
    case states(Set<DownloadState.Kind>)

    /// Named one by one: each gets an answer, also when there is nothing to do.
    var isByName: Bool { if case .ids = self { true } else { false } }
}

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

    /// Goes through downloads in parts that fit into memory, in their order. Before the first part all ids are known.
    func eachPart(of chosen: Chosen, _ body: ([DownloadSnapshot]) async throws -> Void) async throws {
        switch chosen {
        case .ids(let ids):
            let parts = ids.parts(of: Follower.chunk)
            if parts.count > 1 { for part in parts { _ = try await known(part) } }
            for part in parts {
                try Task.checkCancellation()
                try await body(try await known(part))
            }
        case .states(let states):
            // What is queued first: otherwise it would start while what runs is being stopped.
            for states in [states.intersection([.queued]), states.subtracting([.queued])] where !states.isEmpty {
                var last: DownloadID = 0
                while true {
                    try Task.checkCancellation()
                    let part = try await snapshots(
                        DownloadSelection(.states(states), limit: Follower.chunk, after: last))
                    guard let newest = part.last?.id else { break }
                    last = newest
                    try await body(part)
                }
            }
        }
    }

}

extension Array {
    /// Slices of at most `size`.
    func parts(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}

extension Context {
    /// For what goes to stdout.
    func style(_ options: OutputOptions) -> Style {
        Style.chosen(
            options.color ?? knownSettings.color, isTerminal: console.outputIsTerminal, environment: environment)
    }
}
