import DownloadKit
import Foundation

/// The findings about the store and the sessions that use it.
enum SessionFindings {
    static func store(_ health: StoreHealth) -> Finding {
        if let error = health.error {
            return .problem(.sessions, "store", error.exitStatus, Redaction.describe(error))
        }
        guard let bytes = health.bytes else {
            return .ok(.sessions, "store", "\(health.path): none yet; created with the first download")
        }
        guard let schema = health.schema else {
            return .ok(.sessions, "store", "\(health.path): empty; filled with the first download")
        }
        let count = health.downloads.map { Units.count($0, "download") } ?? "? downloads"
        let checked = health.isChecked ? "its content is intact" : "too large to be checked quickly"
        return .ok(.sessions, "store", "\(health.path): \(count), \(Units.size(bytes)), schema \(schema); \(checked)")
    }

    /// Returns the keys that alone count in their folders.
    static func pins(_ health: StoreHealth) -> [Finding] {
        health.signers.sorted { $0.key < $1.key }.compactMap { folder, knowledge in
            knowledge.pin.map {
                .ok(.sessions, "pin", "\(folder): key \($0.key) since \($0.since.ISO8601Format())")
            }
        }
    }

    static func rescues(_ health: StoreHealth) -> [Finding] {
        health.rescues.map {
            .warning(.sessions, "rescue", $0, advice: "delete the damaged files when you miss nothing")
        }
    }

    struct Found: Equatable, Sendable {
        let trace: SessionTrace
        /// Whether a process accepts connections on the session's socket.
        var isListening = false
        var answer: Answer = .notAsked
    }

    enum Answer: Equatable, Sendable {
        case notAsked
        case answered(version: String, running: Int)
        case failed(DownloadError)
    }

    static func findings(_ found: [Found], version: String) -> [Finding] {
        var findings = found.map { finding($0, version: version) }
        if !found.contains(where: { $0.trace.identifier == SessionIdentifier.background }) {
            findings.append(.ok(.sessions, "background", "not running; started on demand"))
        }
        return findings
    }

    private static func finding(_ found: Found, version: String) -> Finding {
        let name = found.trace.identifier == SessionIdentifier.background ? "background" : "session"
        let who = name == "background" ? "" : "\(found.trace.identifier): "
        let process = found.trace.pid.map { "pid \($0)" } ?? "unknown process"
        guard found.trace.isAlive else { return dead(found, name, who) }
        switch found.answer {
        case .notAsked: return .ok(.sessions, name, "\(who)\(process)")
        case .failed(let error):
            return .problem(
                .sessions, name, error.exitStatus, "\(who)\(process): \(Redaction.describe(error))",
                advice: found.trace.pid.map { "end the process with: kill \($0); its downloads continue later" })
        case .answered(let other, let running):
            let text = "\(who)\(process), dlm \(other), \(running) running"
            if other == version { return .ok(.sessions, name, text) }
            return .warning(
                .sessions, name, "\(text); this is dlm \(version)",
                advice: name == "background"
                    ? "run dlm daemon stop --finish; the next dlm get -b starts this version"
                    : "wait until it has ended before you use new features")
        }
    }

    private static func dead(_ found: Found, _ name: String, _ who: String) -> Finding {
        if found.isListening {
            return .ok(.sessions, name, "\(who)not running; a service manager listens for it and starts it on demand")
        }
        let what = found.trace.hasSocket ? "a socket" : "a lock"
        return .warning(
            .sessions, name, "\(who)not running; \(what) of a process that was killed is left",
            advice: "nothing needs to be done: the next session removes it")
    }
}
