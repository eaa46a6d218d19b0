import DownloadKit

/// The result of one check of `dlm doctor`.
struct Finding: Equatable, Sendable {
    /// The sections, in the order in which they are checked.
    enum Section: String, Sendable {
        case transfers, settings, folders, files, sessions, request
    }

    enum Result: Equatable, Sendable {
        case ok
        /// Downloads work, but not as well or as safely as they could.
        case warning
        /// A download would end with this exit status.
        case problem(Int32)

        var word: String {
            switch self {
            case .ok: "ok"
            case .warning: "warning"
            case .problem: "problem"
            }
        }

        var exitStatus: Int32? { if case .problem(let status) = self { status } else { nil } }
    }

    let section: Section
    let name: String
    let result: Result
    /// The finding in words.
    let detail: String
    /// The advice; nil if there is none.
    var advice: String?
    /// The times of a request; nil for other findings.
    var metrics: TransferMetrics?

    static func ok(_ section: Section, _ name: String, _ detail: String) -> Finding {
        Finding(section: section, name: name, result: .ok, detail: detail)
    }

    static func warning(_ section: Section, _ name: String, _ detail: String, advice: String) -> Finding {
        Finding(section: section, name: name, result: .warning, detail: detail, advice: advice)
    }

    static func problem(
        _ section: Section, _ name: String, _ status: Int32, _ detail: String, advice: String? = nil
    ) -> Finding {
        Finding(section: section, name: name, result: .problem(status), detail: detail, advice: advice)
    }

    /// Returns the exit status of the first problem, or 0 if there is none.
    static func exitStatus(_ findings: [Finding]) -> Int32 {
        findings.lazy.compactMap(\.result.exitStatus).first ?? 0
    }
}
