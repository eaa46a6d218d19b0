import DownloadKit

/// The frame of the commands that change downloads and return: one answer for each.
struct Changing {
    let context: Context
    let output: OutputOptions
    /// The word for what was done: `paused`, `cancelled`, `changed`.
    let event: String
    /// The same for people, where the word says too little.
    var text: String?
    /// More that is to be known of one that was changed.
    var note: @Sendable (DownloadSnapshot) -> String? = { _ in nil }

    /// - Parameter why: what is told of a download for which there was nothing to do.
    func apply(
        _ change: DownloadChange, to chosen: Chosen,
        why: (DownloadSnapshot) -> String = { "\($0.record.state.kind.rawValue) already" }
    ) async throws -> Int32 {
        try await context.withService { service in
            try await service.eachPart(of: chosen) { part in
                for changed in try await service.change(part.map(\.id), change) {
                    tell(changed, isByName: chosen.isByName, why: why)
                }
            }
            return 0
        }
    }

    private func tell(_ changed: ChangedDownload, isByName: Bool, why: (DownloadSnapshot) -> String) {
        let snapshot = changed.snapshot
        let reason = changed.didChange ? nil : why(snapshot)
        if output.json {
            let word = changed.didChange ? event : "unchanged"
            context.console.print(EventDocument(word, snapshot, reason: reason).json)
        }
        if changed.didChange, !output.quiet, let note = note(snapshot) {
            context.console.report("\(snapshot.id): \(snapshot.record.displayName): \(note)")
        }
        guard !output.quiet, changed.didChange ? output.verbose > 0 : isByName || output.verbose > 0 else { return }
        context.console.report("\(snapshot.id): \(snapshot.record.displayName): \(reason ?? text ?? event)")
    }
}
