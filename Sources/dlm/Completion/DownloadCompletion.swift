import ArgumentParser
import DownloadKit
import Foundation
import Synchronization

/// The completions for commands that accept downloads: the numbers of downloads, with name and state as description.
/// The shell runs `dlm ---completion` each time the user presses the completion key.
enum DownloadCompletion {
    static let ids = CompletionKind.custom { words, _, _ in
        candidates(words, environment: ProcessInfo.processInfo.environment).map { snapshot in
            candidate(snapshot, for: CompletionShell.requesting)
        }
    }

    /// The greatest number of downloads that are offered. Nobody would read a longer list.
    private static let most = 200
    /// The longest wait for the store. The shell accepts no keys until the completions are printed.
    private static let patience = Duration.seconds(3)

    /// Returns the downloads that the command can act on, newest first, except downloads that the command line already
    /// names. No store is created. Returns nothing after a failure or after ``patience``.
    /// - Parameter words: The words of the command line, including `dlm`.
    private static func candidates(
        _ words: [String], environment: [String: String], time: any TimeSource = SystemTime()
    ) -> [DownloadSnapshot] {
        guard let folder = try? SessionConfiguration.stateFolder(environment: environment),
            access(FileNaming.path(folder, "downloads.sqlite"), R_OK) == 0
        else { return [] }
        let states = states(words.dropFirst().first ?? "")
        let found = Mutex<[DownloadSnapshot]>([])
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            let configuration = SessionConfiguration(kind: .foreground, stateFolder: folder)
            if let service = try? await DownloadSession.open(configuration) {
                let snapshots = try? await service.snapshots(DownloadSelection(.states(states), limit: most))
                found.withLock { $0 = snapshots ?? [] }
                await service.close()
            }
            isDone.signal()
        }
        time.schedule(after: patience, on: .global()) { isDone.signal() }
        isDone.wait()
        let named = Set(words.dropFirst(2).dropLast())
        return found.withLock(\.self).reversed().filter { !named.contains("\($0.id)") }
    }

    private static func states(_ command: String) -> Set<DownloadState.Kind> {
        switch command {
        case "pause": [.queued, .running, .waiting]
        case "resume": [.paused, .failed, .cancelled]
        case "cancel", "wait", "watch", "limit", "priority": List.unfinished
        case "set-url": List.unfinished.union([.cancelled])
        default: Set(DownloadState.Kind.allCases)
        }
    }

    private static func candidate(_ snapshot: DownloadSnapshot, for shell: CompletionShell?) -> String {
        let id = "\(snapshot.id)"
        let text = Escaping.line("\(snapshot.record.displayName) (\(snapshot.record.state.kind.rawValue))")
        switch shell {
        case .zsh: return "\(id):\(text)"
        case .fish: return "\(id)\t\(text)"
        default: return id
        }
    }
}
