import Foundation
import Testing

/// The tables of docs/protocols.md, which `make protocol-test` makes of what the tests noted.
enum ProtocolTable {
    private static let report = ProcessInfo.processInfo.environment["DLM_PROTOCOL_REPORT"]

    /// Every cell. Otherwise what takes long is left out here and there.
    static let isFull = report != nil

    /// This test, which ends the suite if it fails, has proved a cell. Adds a line to the file that
    /// `$DLM_PROTOCOL_REPORT` names.
    /// - Parameters:
    ///   - row: a protocol, or a kind of proxy.
    ///   - what: that works; nothing where the column says it.
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
