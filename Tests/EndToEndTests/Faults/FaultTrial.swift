import DownloadTestSupport
import Foundation
import Testing

/// One cell of the fault matrix: the fault, its moment, and the number of connections.
struct FaultTrial: Sendable, CustomStringConvertible {
    /// The table of the fault matrix that a cell belongs to.
    enum Area: String, Sendable, Codable {
        case http = "HTTP"
        case change = "Remote file changes"
        case tls = "TLS"
        case http2 = "HTTP/2"
        case local = "Local faults"
        case process = "Process faults"
        case power = "Power loss"
        case name = "Names"
        case digest = "Digests"
        /// One call of the program fails, and the outcomes of all its numbers are in one cell.
        case torture = "Torture"
    }

    enum Moment: String, Sendable, Codable, CaseIterable {
        /// The fault is in the first answer of a new download.
        case fresh
        /// The fault is in a later answer to the same command, after a part has arrived.
        case middle
        /// The fault is in one of several connections, and the other connections have none.
        case segment
        /// The fault is in the first answer to another session that resumes.
        case resume
    }

    var area: Area
    /// The row of the table, such as "closes the connection at 99 %".
    var fault: String
    var moment = Moment.fresh
    var connections = 1

    var description: String {
        "\(area.rawValue): \(fault), \(moment.rawValue), -x \(connections == 0 ? "auto" : "\(connections)")"
    }

    /// Whether every cell is tested, because `$DLM_FAULT_TEST` is `full`. Otherwise a selection is tested, which takes
    /// a few minutes.
    static let isFull = ProcessInfo.processInfo.environment["DLM_FAULT_TEST"] == "full"

    /// Returns all cases if every cell is tested. Otherwise returns every `stride`-th case, beginning with the first.
    static func short<Case>(_ cases: [Case], each stride: Int) -> [Case] {
        isFull ? cases : cases.indices.filter { $0 % stride == 0 }.map { cases[$0] }
    }

    /// Expects the right file with status 0, or one clear line with a status of `errors` and no file under the final
    /// name. In both cases nothing may be written outside the folder, and no raw control character may be printed. The
    /// result is recorded in the report. `others` are files of the same command that have no fault.
    /// - Parameter right: the right contents. There are several while the file changes, and none if only an error is
    ///   right.
    func judge(
        _ result: ChildProcess.Result, in sandbox: DlmSandbox, right: [Content], errors: Set<Int32>,
        as name: String = "file.bin", beside others: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var faults: [String] = []
        if result.ending == .exited(0) {
            if !sandbox.exists(name) {
                faults.append("status 0 without the file, there is \(sandbox.names)")
            } else if !right.map(\.sha256).contains(try sha256(of: sandbox.file(name))) {
                faults.append("status 0 with a wrong file")
            }
            let printed = ([name] + others).map { sandbox.file($0) } + [""]
            if result.stdout.components(separatedBy: "\n").sorted() != printed.sorted() {
                faults.append("printed \(result.stdout.debugDescription)")
            }
        } else if case .exited(let status) = result.ending, errors.contains(status) {
            if sandbox.exists(name) { faults.append("status \(status) with the final name taken") }
            if !(result.errorLines.last?.hasPrefix("dlm: ") ?? false) { faults.append("no clear line") }
        } else {
            faults.append("ended with \(result.ending)")
        }
        faults += Self.strays(in: sandbox)
        if Self.hasRawControl(result.stdout + result.stderr) { faults.append("a raw control character") }
        #expect(faults.isEmpty, "\(self): \(faults) \(result.stderr)", sourceLocation: sourceLocation)
        note(result, isRight: faults.isEmpty)
    }

    /// Returns files that a download left outside its folder.
    private static func strays(in sandbox: DlmSandbox) -> [String] {
        let expected: Set = ["files", "state", "home", "config"]
        let beside = sandbox.root.names(in: ".").filter { !expected.contains($0) }
        return (beside + sandbox.root.names(in: "home")).map { "a stray file \($0)" }
    }

    private static func hasRawControl(_ text: String) -> Bool {
        text.unicodeScalars.contains { ($0.value < 0x20 && $0 != "\n") || (0x7F..<0xA0).contains($0.value) }
    }

    // MARK: The report

    private struct Note: Codable {
        let area, fault, moment, outcome: String
        let connections: Int
    }

    /// Appends a line to the file that `$DLM_FAULT_REPORT` names, for the page that scripts/reliability writes.
    func note(_ result: ChildProcess.Result, isRight: Bool) {
        let outcome: String =
            switch result.ending {
            case .exited(0): "right"
            case .exited(let status): "error \(status)"
            case .signalled(let signal): "signal \(signal)"
            }
        note(outcome: isRight ? outcome : "WRONG: \(outcome)")
    }

    func note(outcome: String) {
        guard let path = ProcessInfo.processInfo.environment["DLM_FAULT_REPORT"] else { return }
        let note = Note(
            area: area.rawValue, fault: fault, moment: moment.rawValue, outcome: outcome, connections: connections)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0, let line = try? JSONEncoder().encode(note) + Data("\n".utf8) else {
            Issue.record("cannot write to \(path)")
            return
        }
        defer { close(descriptor) }
        let written = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        #expect(written == line.count, "cannot write to \(path)")
    }
}
