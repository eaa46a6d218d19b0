import ArgumentParser
import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Notices", .inTurn, .serialized)
struct NoticeTests {
    private func hook(_ change: (inout Hooks) -> Void) throws -> DueHook {
        var record = DownloadRecord.example { record in
            var hooks = Hooks()
            change(&hooks)
            record.request.hooks = hooks
        }
        record.complete()
        return try #require(DueHook(record))
    }

    @Test("A webhook gets the JSON by POST with the token, and is tried again after a temporary failure")
    func posted() async throws {
        let server = try FaultServer { request in
            request.number < 3 ? FaultReply(status: 503) : FaultReply(Content("ok"))
        }
        let folder = try TemporaryFolder()
        try folder.write("t0ken\n", to: "token")
        #expect(chmod(folder("token"), 0o600) == 0)
        let hook = try hook {
            $0.completeURL = server.url("/hook")
            $0.completeBearerFile = folder("token")
        }
        let runner = HookProgram.Runner(environment: [:], time: HurriedTime())
        #expect(await runner.run(hook) == nil)
        let requests = server.log.entries.map(\.request)
        #expect(requests.count == 3)
        for request in requests {
            #expect(request.method == "POST" && request["Content-Type"] == "application/json")
            #expect(request["Authorization"] == "Bearer t0ken")
            let text = String(decoding: request.body, as: UTF8.self)
            #expect(text.contains("\"event\":\"finished\"") && text.contains("\"id\":3"), "\(text)")
        }
    }

    @Test("A webhook is not told the secrets of a URL")
    func secrets() async throws {
        let server = try FaultServer { _ in FaultReply(Content("ok")) }
        var record = DownloadRecord.example(url: "https://h/a?token=hunter2&x=1") { record in
            record.request.hooks = Hooks()
            record.request.hooks?.completeURL = server.url("/hook")
        }
        record.complete()
        let hook = try #require(DueHook(record))
        #expect(await HookProgram.Runner(environment: [:], time: HurriedTime()).run(hook) == nil)
        let body = try #require(server.log.entries.first?.request.body)
        let text = String(decoding: body, as: UTF8.self)
        #expect(text.contains("token=***") && text.contains("x=1") && !text.contains("hunter2"), "\(text)")
    }

    @Test(
        "A failed webhook is reported; it is tried again after status 500, but not after a lasting error such as 404",
        arguments: [(400, 1), (403, 1), (404, 1), (410, 1), (500, 3), (503, 3)])
    func refused(status: Int, attempts: Int) async throws {
        let server = try FaultServer { _ in FaultReply(status: status) }
        let hook = try hook { $0.completeURL = server.url("/hook?token=hunter2") }
        let runner = HookProgram.Runner(environment: [:], time: HurriedTime())
        let problem = try #require(await runner.run(hook))
        #expect(problem.contains("\(status)") && !problem.contains("hunter2"), "\(problem)")
        #expect(server.log.entries.count == attempts)
    }

    @Test(
        "Only http and https URLs without passwords are accepted", arguments: ["ftp://h/", "x", "", "http://me:pw@h/"])
    func urls(url: String) {
        #expect(throws: (any Error).self) { try HookOptions.parse(["--on-complete-url", url]) }
        #expect(throws: Never.self) { try HookOptions.parse(["--on-complete-url", "https://ntfy.example.org/topic"]) }
    }

    @Test("Lists cannot set the options for notices")
    func list() {
        for name in ["notify", "on-complete-url", "on-complete-bearer-file"] {
            #expect(!OptionScope.item.contains(name) && OptionScope.settings.contains(name), "\(name)")
        }
    }

    @Test("The desktop is notified by notify-send if this program, a display and a session bus are there")
    func desktop() async throws {
        let folder = try TemporaryFolder()
        try folder.write("#!/bin/sh\nprintf '%s\\n' \"$@\" >\(folder("arguments"))\n", to: "notify-send")
        #expect(chmod(folder("notify-send"), 0o755) == 0)
        let session = [
            "PATH": "\(folder.path):/usr/bin:/bin", "DISPLAY": ":0", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x",
        ]
        var record = DownloadRecord.example { $0.request.hooks = Hooks() }
        record.request.hooks?.notifies = true
        record.complete(path: "/d/<b>a & b")
        let runner = HookProgram.Runner(environment: session)
        #expect(await runner.run(try #require(DueHook(record))) == nil)
        #expect(
            try folder.read("arguments").split(separator: "\n").suffix(3) == [
                "--", "Download complete", "&lt;b&gt;a &amp; b",
            ])
        for missing in session.keys {
            let environment = session.filter { $0.key != missing }.merging([
                "PATH": missing == "PATH" ? "/nowhere" : session["PATH"] ?? ""
            ]) { $1 }
            #expect(DesktopNotice(record, environment) == nil, "\(missing)")
        }
        record.state = .failed(.serverRefused(status: 404, phrase: "Not\u{1B}Found"))
        #expect(NoticeText.of(record).title == "Download failed")
        #expect(!NoticeText.of(record).text.contains("\u{1B}"))
        #expect(DueHook(record) != nil)
        record.state = .cancelled
        #expect(DueHook(record) == nil)
    }

    @Test(
        "The terminal is notified by its bell, and by an escape sequence if it supports one",
        arguments: [
            (["TERM": "xterm-kitty"], "\u{1B}]99;i=dlm;dlm: done\u{1B}\\\u{7}"),
            (["KITTY_WINDOW_ID": "1", "TERM": "xterm"], "\u{1B}]99;i=dlm;dlm: done\u{1B}\\\u{7}"),
            (["TERM_PROGRAM": "WezTerm"], "\u{1B}]9;dlm: done\u{1B}\\\u{7}"), (["TERM": "xterm"], "\u{7}"),
            (["TERM_PROGRAM": "WezTerm", "TMUX": "x"], "\u{7}"),
            (["TERM": "xterm-kitty", "WAYLAND_DISPLAY": "w", "DBUS_SESSION_BUS_ADDRESS": "x"], "\u{7}"),
        ])
    func terminal(environment: [String: String], text: String) {
        #expect(TerminalNotice(environment: environment).text("done") == text)
    }

    @Test("At the end of a command, the terminal is told how many downloads are complete and how many have failed")
    func command() {
        var ledger = Ledger()
        ledger.expect(1, .here)
        _ = ledger.end(EndedDownload(DownloadSnapshot(record: .example(id: 1) { $0.complete(4) })))
        let kitty = TerminalNotice(environment: ["TERM": "xterm-kitty"])
        #expect(NoticeText.of(ledger) == "1 download complete")
        ledger.expect(2, .here)
        let gone = DownloadError.serverRefused(status: 404, phrase: "Not Found")
        _ = ledger.end(EndedDownload(DownloadSnapshot(record: .example(id: 2, state: .failed(gone)))))
        #expect(kitty.text(NoticeText.of(ledger)) == kitty.text("1 download complete, 1 failed"))
    }
}
