import DownloadKit

/// The common part of commands such as `pause` and `cancel`, which change downloads, say what did not change, and end.
struct Changing {
    let context: Context
    let output: OutputOptions
    /// The word for the change: `paused`, `cancelled`, `changed`.
    let event: String
    /// The text that describes the change to users, if ``event`` says too little.
    var text: String?
    /// The closure that returns an additional notice about a changed download, or nil.
    var note: @Sendable (DownloadSnapshot) -> String? = { _ in nil }

    /// - Parameter why: Returns the reason that is reported for a download that was not changed.
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
