import DownloadCore
import Synchronization

/// The memory of a session for keys and signed lists, so that the files of a folder share the work.
package final class SignatureMemory: Sendable {
    typealias Found = (finding: SignatureFinding, text: [UInt8])

    private struct Check {
        let task: Task<Found, Never>
        let end: ContinuousClock.Instant
    }

    private struct State {
        var keys: [String: GivenKey] = [:]
        /// The checks of lists, by the digests of the key, the signature and the list.
        var checks: [[String]: Check] = [:]
        /// The documents that signed the last good lists, by the key and the folder.
        var documents: [[String]: String] = [:]
    }

    /// The number of entries of each kind. Beyond it, all of the kind are forgotten. A list has at most 1 MiB.
    private static let most = 16
    /// The age from which a list is checked again, because its signature may expire.
    private static let lifetime = Duration.seconds(600)

    private let state = Mutex(State())

    package init() {}

    /// Returns a key, whose file is read again only if it has changed.
    func key(_ asked: String) throws(DownloadError) -> GivenKey {
        let key = try GivenKey(asked, unless: state.withLock { $0.keys[asked] })
        state.withLock { Self.enter(key, as: asked, in: &$0.keys) }
        return key
    }

    /// Returns the document that signed the last good list in the folder, because the list may have other files, too.
    func document(in folder: String, by key: GivenKey) -> String? {
        state.withLock { $0.documents[[key.asked, key.digest, folder]] }
    }

    func learn(_ document: String, in folder: String, by key: GivenKey) {
        state.withLock { Self.enter(document, as: [key.asked, key.digest, folder], in: &$0.documents) }
    }

    /// Checks the signature of a list. Concurrent callers share one check, and a good result is remembered.
    /// - Parameter list: The list; nil if the signature has the list inside, which is then returned.
    func finding(
        _ signature: [UInt8], over list: [UInt8]?, by key: GivenKey, _ checker: SignatureChecker
    ) async -> Found {
        let parts = try? [signature, list ?? []].map { try TextDigest($0).hexadecimal }
        guard let parts else { return (.bad("cannot be checked"), []) }
        let name = [key.asked, key.digest] + parts
        let check = state.withLock { state in
            if let known = state.checks[name], known.end > checker.time.now { return known }
            let check = Check(
                task: Task { await checker.finding(signature, overList: list, by: key.key) },
                end: checker.time.now + Self.lifetime)
            Self.enter(check, as: name, in: &state.checks)
            return check
        }
        let found = await check.task.value
        if case .bad = found.finding { state.withLock { $0.checks[name] = nil } }
        return found
    }

    private static func enter<Name, Value>(_ value: Value, as name: Name, in entries: inout [Name: Value]) {
        if entries.count >= most, entries[name] == nil { entries = [:] }
        entries[name] = value
    }
}
