import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("What a daemon tells its starter", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct ReadinessTests {
    @Test(
        "Each message survives its line",
        arguments: [
            Readiness.ready(pid: 4711), .running, .failed(.sessionUnavailable(.noHome)),
            .failed(.sessionUnavailable(.storeUnreadable(path: "/a b\nc", message: "why \"so\""))),
        ])
    func line(readiness: Readiness) {
        #expect(!readiness.line.contains("\n"))
        #expect(Readiness(line: readiness.line) == readiness)
    }

    @Test("Other lines are no message", arguments: ["", "ready", "ready x", "failed", "failed {}", "READY=1"])
    func other(line: String) {
        #expect(Readiness(line: line) == nil)
    }

    @Test("The line goes through the pipe, once")
    func pipe() async throws {
        let pipe = try ReadinessPipe()
        try #require(ReadinessReport(descriptor: pipe.writer)).tell(.ready(pid: 12))
        let (line, inTime) = await pipe.line(within: .seconds(20))
        #expect(line == "ready 12")
        #expect(inTime)
    }

    @Test("The end of the pipe without a line is told from silence")
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

    @Test("Nothing is told to what is no pipe")
    func file() throws {
        let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(ReadinessReport(descriptor: descriptor) == nil)
        #expect(ReadinessReport(descriptor: 1_000_000) == nil)
    }
}
