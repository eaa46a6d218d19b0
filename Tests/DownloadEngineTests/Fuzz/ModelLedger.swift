import DownloadCore
import Foundation
import Synchronization

/// The answers of the store about each download of a run: which session owns the download, and in which state
/// it is. Calls of several sessions overlap, so the ledger knows nothing about a download during overlapping calls.
final class ModelLedger: Sendable {
    struct Row {
        let path: String
        var state: DownloadState.Kind
        var session: String?
        /// Whether the download was removed.
        var isGone = false
        /// False if calls overlapped, so that one of two answers may be the later one.
        var isKnown = true
    }

    private struct State {
        var rows: [DownloadID: Row] = [:]
        /// The number of calls in progress that may change a download.
        var calls: [DownloadID: Int] = [:]
        /// The downloads whose calls overlapped. Nothing is known of them until the calls are over.
        var unsure: Set<DownloadID> = []
        /// The number of calls in progress that add downloads.
        var additions = 0
        /// The sessions that have died without an answer of the store.
        var ghosts: Set<String> = []
        var fault: String?
        var history: [String] = []
    }

    private let state = Mutex(State())

    /// The first fault.
    var fault: String? { state.withLock { $0.fault } }

    func note(_ fault: String) { state.withLock { $0.fault = $0.fault ?? fault } }

    /// The history of the run, one line for each event. It is printed with the fault, because a run with the same seed
    /// may take another course.
    var history: String { state.withLock { $0.history.map { "\n    \($0)" }.joined() } }

    func record(_ line: String) { state.withLock { $0.history.append(line) } }

    // MARK: Calls of the store

    /// Begins a call that may change these downloads.
    func begin(_ ids: some Collection<DownloadID>) {
        state.withLock { state in
            for id in ids {
                if state.calls[id] != nil { state.unsure.insert(id) }
                state.calls[id, default: 0] += 1
            }
        }
    }

    /// Ends a call.
    /// - Parameter known: The rows of the changed downloads, as the store has answered.
    func end(_ ids: some Collection<DownloadID>, _ known: [DownloadID: Row] = [:], gone: [DownloadID] = []) {
        state.withLock { state in
            for id in ids {
                let left = state.calls[id, default: 1] - 1
                state.calls[id] = left > 0 ? left : nil
            }
            for (id, row) in known { state.rows[id] = row }
            for id in gone { state.rows[id]?.isGone = true }
            for id in ids where state.unsure.contains(id) {
                state.rows[id]?.isKnown = false
                if state.calls[id] == nil { state.unsure.remove(id) }
            }
        }
    }

    func beginAdding(_ paths: Set<String>) -> [DownloadID] {
        let ids = state.withLock { state in
            state.additions += 1
            return state.rows.filter { paths.contains($0.value.path) }.map(\.key)
        }
        begin(ids)
        return ids
    }

    func endAdding(_ ids: [DownloadID], _ known: [DownloadID: Row]) {
        end(ids, known)
        state.withLock { $0.additions -= 1 }
    }

    func ids(of session: String) -> [DownloadID] {
        state.withLock { state in state.rows.filter { $0.value.session == session }.map(\.key) }
    }

    /// Returns the downloads that the session may not save: they are gone, or another session or nobody owns them.
    func foreign(_ ids: some Sequence<DownloadID>, to session: String) -> Set<DownloadID> {
        state.withLock { state in
            Set(
                ids.filter { id in
                    guard state.calls[id] == 1, let row = state.rows[id], row.isKnown else { return false }
                    return row.isGone || row.session != session
                })
        }
    }

    /// Records that the process of a session has died after the store did what it was asked. The session goes on in this
    /// process, so its requests mean nothing.
    func lose(_ session: String) { state.withLock { _ = $0.ghosts.insert(session) } }

    // MARK: Requests to the server

    /// Returns what is wrong with a request of the session for this path, or nil.
    func fault(ofRequest path: String, by session: String) -> String? {
        state.withLock { state in
            let rows = state.rows.filter { $0.value.path == path }
            guard let id = rows.keys.max(), let row = rows[id], row.isKnown, state.additions == 0,
                state.calls[id] == nil, !state.ghosts.contains(session)
            else { return nil }
            if row.isGone { return "download \(id) was removed, and \(session) requests \(path)" }
            if !row.state.isActive { return "download \(id) is \(row.state), and \(session) requests \(path)" }
            if row.session != session {
                return "download \(id) belongs to \(row.session ?? "nobody"), and \(session) requests \(path)"
            }
            return nil
        }
    }
}

extension ModelLedger.Row {
    init(_ record: DownloadRecord) {
        self.init(path: record.request.url.path, state: record.state.kind, session: record.session)
    }

    init(_ entry: DownloadEntry, session: String?) {
        self.init(path: entry.url.path, state: entry.state.kind, session: session)
    }
}
