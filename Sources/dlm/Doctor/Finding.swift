import DownloadKit

/// The result of one check of `dlm doctor`, and its document.
struct Finding: Document, Equatable {
    enum Section: String, Encodable, Sendable {
        case transfers, settings, folders, files, sessions, request
    }

    enum Result: String, Encodable, Sendable {
        case ok
        /// Downloads work, but not as well or as safely as they could.
        case warning
        /// A download would end with ``exitStatus``.
        case problem
    }

    var version = 1
    let section: Section
    let name: String
    let result: Result
    let detail: String
    var advice: String?
    var exitStatus: Int32?
    var timings: TimingsDocument?

    static func ok(_ section: Section, _ name: String, _ detail: String) -> Finding {
        Finding(section: section, name: name, result: .ok, detail: detail)
    }

    static func warning(_ section: Section, _ name: String, _ detail: String, advice: String) -> Finding {
        Finding(section: section, name: name, result: .warning, detail: detail, advice: advice)
    }

    static func problem(
        _ section: Section, _ name: String, _ status: Int32, _ detail: String, advice: String? = nil
    ) -> Finding {
        Finding(
            section: section, name: name, result: .problem, detail: detail, advice: advice, exitStatus: status)
    }

    static func exitStatus(_ findings: [Finding]) -> Int32 {
        findings.lazy.compactMap(\.exitStatus).first ?? 0
    }

    /// Returns the names of what is there, and of what is missing: `IPv6; no IDN`.
    static func list(_ abilities: [(name: String, isThere: Bool)]) -> String {
        let missing = abilities.filter { !$0.isThere }.map(\.name).joined(separator: ", ")
        let there = abilities.filter(\.isThere).map(\.name).joined(separator: ", ")
        return there + (missing.isEmpty ? "" : "; no \(missing)")
    }
}
