import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Messages from a daemon to its starter", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct ReadinessTests {
    @Test(
        "Each message can be written as a line and read again",
        arguments: [
            Readiness.ready(pid: 4711), .running, .failed(.sessionUnavailable(.noHome)),
            .failed(.sessionUnavailable(.storeUnreadable(path: "/a b\nc", message: "why \"so\""))),
        ])
    func line(readiness: Readiness) {
        #expect(!readiness.line.contains("\n"))
        #expect(Readiness(line: readiness.line) == readiness)
    }

    @Test(
        "Other lines are not read as messages", arguments: ["", "ready", "ready x", "failed", "failed {}", "READY=1"])
    func other(line: String) {
        #expect(Readiness(line: line) == nil)
    }

    @Test("The pipe delivers one line")
    func pipe() async throws {
        let pipe = try ReadinessPipe()
        try #require(ReadinessReport(descriptor: pipe.writer)).tell(.ready(pid: 12))
        let (line, inTime) = await pipe.line(within: .seconds(20))
        #expect(line == "ready 12")
        #expect(inTime)
    }

    @Test("The end of the pipe is distinguished from silence")
    func silence() async throws {
        let ended = try ReadinessPipe()
        close(ended.writer)
        let end = await ended.line(within: .seconds(20))
        #expect(end.line == nil && end.inTime)
        let silent = try ReadinessPipe()
        let silence = await silent.line(within: .milliseconds(20))
        #expect(silence.line == nil && !silence.inTime)
        close(silent.writer)
    }

    @Test("A descriptor that is no pipe is not used")
    func file() throws {
        let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(ReadinessReport(descriptor: descriptor) == nil)
        #expect(ReadinessReport(descriptor: 1_000_000) == nil)
    }
}
