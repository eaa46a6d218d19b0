import DownloadTestSupport
import Foundation
import Testing

/// One cell of the fault matrix: a fault, its moment, and the number of connections.
struct FaultTrial: Sendable, CustomStringConvertible {
    /// The table that a cell belongs to, in docs/reliability.md.
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
    }

    enum Moment: String, Sendable, Codable, CaseIterable {
        /// The first answer of a new download.
        case fresh
        /// A later answer to the same command, after a part has come.
        case middle
        /// One connection of several, while the others have no fault.
        case segment
        /// The first answer to another session that resumes the download.
        case resume
    }

    var area: Area
    /// The row of the table, such as "closes the connection at 99 %".
    var fault: String
    var moment = Moment.fresh
    var connections = 1

    var description: String { "\(area.rawValue): \(fault), \(moment.rawValue), -x \(connections)" }

    /// Whether every cell is run, because `$DLM_FAULT_TEST` is `full`. Otherwise a selection is run, which takes a few
    /// minutes.
    static let isFull = ProcessInfo.processInfo.environment["DLM_FAULT_TEST"] == "full"

    /// Returns the elements of a long list that `make test` runs: the first one and then every `stride`-th one.
    static func short<Case>(_ cases: [Case], each stride: Int) -> [Case] {
        isFull ? cases : cases.indices.filter { $0 % stride == 0 }.map { cases[$0] }
    }

    /// Checks the result of a cell and adds it to the report. The result must be the right file with status 0, or one
    /// clear line with a status of `errors` and no file with the final name. In both cases there must be no file
    /// outside the folder and no raw control character. `others` are files of the same command that have no fault.
    /// - Parameter right: the right contents according to the server. There are several if its file changes, and none
    ///   if only an error is right.
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

    /// Returns the files that a download left outside its folder.
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

    /// Adds a line to the file in `$DLM_FAULT_REPORT`, for docs/reliability.md.
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
