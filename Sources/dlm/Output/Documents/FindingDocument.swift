/// One finding of `dlm doctor`.
struct FindingDocument: Document, Equatable {
    var version = 1
    /// The section: `transfers`, `settings`, `folders`, `files`, `sessions` or `request`.
    let section: String
    let name: String
    /// The result: `ok`, `warning` or `problem`.
    let result: String
    let detail: String
    let advice: String?
    /// The exit status that a download would end with; nil if the finding is not a problem.
    let exitStatus: Int32?
    /// The durations of the phases of a request.
    let timings: TimingsDocument?

    init(_ finding: Finding) {
        section = finding.section.rawValue
        name = finding.name
        result = finding.result.word
        detail = finding.detail
        advice = finding.advice
        exitStatus = finding.result.exitStatus
        timings = finding.metrics.map(TimingsDocument.init)
    }
}
