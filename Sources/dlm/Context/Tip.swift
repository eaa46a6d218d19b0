import DownloadKit
import Foundation
import Glibc

/// Advice for a user at a terminal. Each tip is printed only once for a store.
enum Tip: String, CaseIterable, Sendable {
    /// After a command that took long.
    case background
    /// After the first download that was handed to the background session.
    case follow

    var text: String {
        switch self {
        case .background: "tip: dlm get -b URL downloads in the background, and dlm list shows its progress"
        case .follow:
            "tip: dlm list shows the progress of downloads, dlm watch follows them, dlm wait waits for their end"
        }
    }

    /// The duration of a command, in seconds, after which ``background`` is printed.
    static let long = 60.0

    static func due(afterSeconds seconds: Double, inBackground: Bool, status: Int32) -> Tip? {
        if status != 0 { return nil }
        if inBackground { return .follow }
        return seconds >= long ? .background : nil
    }

    /// Records in the state folder that the tip was printed. Returns false if it was printed before. Also returns false
    /// if the record cannot be written, because the tip would then be printed each time.
    func isFirst(in stateFolder: String) -> Bool {
        let path = FileNaming.path(stateFolder, "tips")
        let file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        // The lock is needed because two commands may end at the same time.
        guard flock(file, LOCK_EX) == 0 else { return false }
        let bytes = FileBytes.read(file, 0..<4096) ?? []
        let known = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        if bytes.count == 4096 || known.contains(Substring(rawValue)) { return false }
        let line = rawValue + "\n"
        return write(file, line, line.utf8.count) == line.utf8.count
    }
}

extension Context {
    func tell(_ tip: Tip?, _ output: OutputOptions) {
        guard let tip, console.errorsAreTerminal, !output.quiet, !output.json,
            let folder = try? SessionConfiguration.stateFolder(environment: environment), tip.isFirst(in: folder)
        else { return }
        console.report(tip.text)
    }
}
