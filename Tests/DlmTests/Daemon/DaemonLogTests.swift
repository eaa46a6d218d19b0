import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("The daemon's log", .inTurn, .serialized)
struct DaemonLogTests {
    func withFolder(_ body: (TemporaryFolder, DaemonLogFile) throws -> Void) throws {
        let folder = try TemporaryFolder()
        try body(folder, DaemonLogFile(stateFolder: folder("a/state")))
    }

    @Test("The log is private, as its folder is, and lines are appended")
    func made() throws {
        try withFolder { folder, file in
            for text in ["one\n", "two\n"] {
                let descriptor = try file.open()
                #expect(write(descriptor, text, 4) == 4)
                #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
                close(descriptor)
                chmod(file.path, 0o644)
            }
            #expect(try folder.read("a/state/daemon.log") == "one\ntwo\n")
            close(try file.open())
            var status = stat()
            #expect(stat(file.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(stat(folder("a/state"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        }
    }

    @Test("A link, a pipe or a folder in place of the log is refused without waiting")
    func refused() throws {
        try withFolder { folder, file in
            close(try file.open())
            for make in [
                { symlink(folder("target"), file.path) }, { mkfifo(file.path, 0o600) }, { mkdir(file.path, 0o700) },
            ] as [() -> Int32] {
                #expect(Glibc.remove(file.path) == 0)
                #expect(make() == 0)
                #expect(throws: DownloadError.self) { try file.open() }
            }
            #expect(!folder.exists("target"))
        }
    }

    @Test("A line has its time in UTC, no control characters and no password")
    func line() throws {
        let captured = try CapturedConsole()
        let time = ManualTime(date: Date(timeIntervalSince1970: 0))
        let log = DaemonLog(console: captured.console, file: nil, time: time)
        log.line("a\nb http://me:secret@host/")
        #expect(captured.errors == "1970-01-01T00:00:00Z a\\x0ab http://***@host/\n")
        #expect(captured.output == "")
    }

    /// The journal's socket is a datagram socket of the test. The file behind standard error decides whether the
    /// journal is used.
    @Test(
        "Under systemd, lines go to the journal with fields; without a journal, they go to standard error"
    )
    func journal() async throws {
        let folder = try TemporaryFolder()
        let errors = try TemporaryFolder.unnamedFile()
        defer { close(errors) }
        var status = stat()
        #expect(fstat(errors, &status) == 0)
        let environment = ["JOURNAL_STREAM": "\(status.st_dev):\(status.st_ino)"]
        #expect(JournalLog(environment: [:], errors: errors) == nil)
        #expect(JournalLog(environment: ["JOURNAL_STREAM": "1:2"], errors: errors) == nil)
        let address = folder("journal")
        let journal = try #require(JournalLog(environment: environment, errors: errors, address: address))
        let captured = try CapturedConsole()
        let log = DaemonLog(console: captured.console, file: nil, journal: journal)
        log.line("nobody listens")
        #expect(captured.errorLines.count == 1)
        let socket = try UnixSocket(.datagram, at: address)
        var record = DownloadRecord.example(id: 7, url: "http://h/a?token=t0p")
        record.state = .failed(.serverRefused(status: 404, phrase: "Not\nFound"))
        let (events, continuation) = AsyncStream.makeStream(of: EventGroup.self)
        continuation.yield(
            .events([.didFail(DownloadSnapshot(record: record), .serverRefused(status: 404, phrase: "Not\nFound"))]))
        continuation.finish()
        await log.follow(DownloadEvents(groups: events))
        let lines = try #require(try await socket.receive()).split(separator: "\n").map { String($0) }
        #expect(lines[0].hasPrefix("MESSAGE=7: failed: "))
        #expect(
            lines[1...4] == [
                "PRIORITY=5", "SYSLOG_IDENTIFIER=dlm", "MESSAGE_ID=c07d6a2f94be4d1fb3e5172a8d60c9f4", "DLM_ID=7",
            ])
        #expect(lines[5].hasPrefix("DLM_URL=http://h/a") && !lines[5].contains("t0p"))
        #expect(lines[6...] == ["DLM_STATE=failed", "DLM_ERROR_KIND=server", "DLM_EXIT_STATUS=8"])
        #expect(captured.errorLines.count == 1)
    }

    @Test("The ends of downloads are logged, and other events are not")
    func events() async throws {
        let captured = try CapturedConsole()
        let (events, continuation) = AsyncStream.makeStream(of: EventGroup.self)
        var record = DownloadRecord.example(id: 7)
        record.state = .running
        continuation.yield(.events([.didStart(DownloadSnapshot(record: record), atOffset: 0)]))
        let error = DownloadError.serverRefused(status: 404, phrase: "Not Found")
        record.state = .failed(error)
        continuation.yield(.events([.didFail(DownloadSnapshot(record: record), error)]))
        continuation.finish()
        await DaemonLog(console: captured.console, file: nil).follow(DownloadEvents(groups: events))
        #expect(captured.errorLines.count == 1)
        #expect(captured.errors.contains(" 7: failed: "))
        #expect(captured.errors.contains("404 Not Found"))
    }
}
