import DownloadKit
import Foundation
import Glibc

/// A notification on the user's desktop, sent by `notify-send` (Desktop Notifications Specification).
struct DesktopNotice {
    let program: String
    let arguments: [String]
    private let environment: [String: String]

    /// The time limit of the program, in seconds. The program ends at once if the desktop answers.
    private static let timeLimit = 10.0

    /// Returns nil if there is no desktop or no notify-send.
    init?(_ record: DownloadRecord, _ environment: [String: String]) {
        guard Self.hasDesktop(environment), let program = environment.program("notify-send") else { return nil }
        self.program = program
        self.environment = HookVariables.inherited(environment)
        let (title, text) = NoticeText.of(record)
        let isFailure = record.state != .completed
        // The body of a notification may be markup, but text from a server must not be read as markup.
        let body = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        arguments = [
            "--app-name=dlm", "--icon=\(isFailure ? "dialog-error" : "emblem-downloads")",
            "--urgency=\(isFailure ? "normal" : "low")", "--", title, body,
        ]
    }

    static func hasDesktop(_ environment: [String: String]) -> Bool {
        let hasBus =
            environment.has("DBUS_SESSION_BUS_ADDRESS")
            || environment["XDG_RUNTIME_DIR"].map { access("\($0)/bus", F_OK) == 0 } ?? false
        return hasBus && (environment.has("DISPLAY") || environment.has("WAYLAND_DISPLAY"))
    }

    func show(_ time: any TimeSource) async -> String? {
        await UserProgram.run(
            program, arguments, environment: environment, folder: "/", input: "", within: Self.timeLimit,
            overdue: "did not end in \(Int(Self.timeLimit)) s", time: time)
    }
}

enum NoticeText {
    /// Returns the title and the text. Each is one line without control characters.
    static func of(_ record: DownloadRecord) -> (title: String, text: String) {
        let name = Escaping.line(record.displayName)
        guard record.state == .completed else {
            return ("Download failed", Escaping.line("\(name): \(Redaction.describe(StateText.failure(record.state)))"))
        }
        return ("Download complete", name)
    }

    static func of(_ ledger: Ledger) -> String {
        let failed = ledger.failures.count
        let complete = Units.count(ledger.tally.completed, "download") + " complete"
        return failed == 0 ? complete : "\(complete), \(failed) failed"
    }
}
