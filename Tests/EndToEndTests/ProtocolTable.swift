import Foundation
import Testing

/// The tables of docs/protocols.md, which `make protocol-test` makes from the reports of the tests.
enum ProtocolTable {
    private static let report = ProcessInfo.processInfo.environment["DLM_PROTOCOL_REPORT"]

    /// Whether every cell is tested. Otherwise some slow cells are left out.
    static let isFull = report != nil

    /// Reports that the calling test has proved a cell: adds a line to the file that `$DLM_PROTOCOL_REPORT` names. If a
    /// test fails, `make protocol-test` fails and writes no tables.
    /// - Parameters:
    ///   - row: a protocol, or a kind of proxy.
    ///   - what: the thing that works. Empty if the column says it.
    static func note(_ row: String, _ column: String, _ what: String = "", file: String = #fileID) {
        guard let path = report else { return }
        let suite = String(file.split(separator: "/").last?.replacing(".swift", with: "") ?? "")
        let line = Array([row, column, what, suite].joined(separator: "\t").utf8) + [10]
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        #expect(descriptor >= 0, "cannot open \(path)")
        defer { close(descriptor) }
        let written = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        #expect(written == line.count, "cannot write to \(path)")
    }
}
