import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Progress for the taskbar", .inTurn, .serialized)
struct TaskbarProgressTests {
    let half = ProgressFrame(rows: [.init(id: 1, name: "a", received: 5, total: 10)])
    let known = ["WT_SESSION": "x"]

    @Test("The progress is sent when it changes, and cleared at the end")
    func changes() {
        var taskbar = TaskbarProgress(environment: known)
        #expect(taskbar.text(half) == "\u{1B}]9;4;1;50\u{1B}\\")
        #expect(taskbar.text(half) == "")
        var waiting = half
        waiting.rows[0].progress.state = .waiting(.schedule, until: nil)
        #expect(taskbar.text(waiting) == "\u{1B}]9;4;4;50\u{1B}\\")
        #expect(taskbar.text(ProgressFrame(rows: [.init(id: 1, name: "a", received: 5)])) == "\u{1B}]9;4;3\u{1B}\\")
        #expect(taskbar.end() == "\u{1B}]9;4;0\u{1B}\\")
        #expect(taskbar.end() == "")
    }

    @Test("With several downloads, the progress is the total")
    func total() {
        var taskbar = TaskbarProgress(environment: known)
        var frame = half
        frame.total = .init(downloads: 2, done: 0, failed: 0, received: 1, bytes: 4)
        #expect(taskbar.text(frame) == "\u{1B}]9;4;1;25\u{1B}\\")
    }

    @Test(
        "The progress is sent only to terminals that support it",
        arguments: [
            (["WT_SESSION": "1"], true), (["ConEmuANSI": "ON"], true), (["ConEmuANSI": "OFF"], false),
            (["TERM_PROGRAM": "ghostty"], true), (["TERM_PROGRAM": "WezTerm"], true),
            (["TERM_PROGRAM": "Apple_Terminal"], false), (["VTE_VERSION": "8000"], true),
            (["VTE_VERSION": "7600"], false), (["TERM": "xterm-kitty"], false), ([:], false),
            (["WT_SESSION": "1", "TMUX": "/tmp/x"], false), (["VTE_VERSION": "8000", "STY": "1"], false),
        ] as [([String: String], Bool)])
    func terminals(environment: [String: String], isTold: Bool) {
        var taskbar = TaskbarProgress(environment: environment)
        #expect(taskbar.text(half).isEmpty != isTold)
        #expect(taskbar.end().isEmpty != isTold)
    }
}
