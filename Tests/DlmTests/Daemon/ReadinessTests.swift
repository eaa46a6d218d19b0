import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Messages from a daemon to its starter", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct ReadinessTests {
    /// Runs a test with a pipe whose writing end the test closes.
    func withPipe(_ body: (ReadinessPipe) async throws -> Void) async throws {
        let pipe = try ReadinessPipe()
        defer { close(pipe.reader) }
        try await body(pipe)
    }

    @Test("The pipe delivers the report that the session serves")
    func ready() async throws {
        try await withPipe { (pipe) async throws in
            try #require(ReadinessReport(descriptor: pipe.writer)).send()
            #expect(try await pipe.isReady(until: .now + .seconds(20)) == true)
        }
    }

    @Test(
        "The pipe delivers the error of a session that does not start",
        arguments: [
            DownloadError.sessionUnavailable(.noHome), .sessionUnavailable(.alreadyRunning("background")),
            .sessionUnavailable(.storeUnreadable(path: "/a b\nc", message: "why \"so\"")),
            .unexpected(String(repeating: "long ", count: 2_000)),
        ])
    func failed(error: DownloadError) async throws {
        try await withPipe { (pipe) async throws in
            try #require(ReadinessReport(descriptor: pipe.writer)).send(error)
            await #expect(throws: error) { try await pipe.isReady(until: .now + .seconds(20)) }
        }
    }

    @Test("Other texts are not read as reports", arguments: ["", "read", "ready x", "{}", "READY=1"])
    func other(text: String) async throws {
        try await withPipe { (pipe) async throws in
            _ = write(pipe.writer, text, text.utf8.count)
            close(pipe.writer)
            #expect(try await pipe.isReady(until: .now + .seconds(20)) == false)
        }
    }

    @Test("Silence is distinguished from the end of the pipe")
    func silence() async throws {
        try await withPipe { (pipe) async throws in
            #expect(try await pipe.isReady(until: .now + .milliseconds(20)) == nil)
            close(pipe.writer)
        }
    }

    @Test("A descriptor that is no pipe is not used")
    func file() throws {
        let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(ReadinessReport(descriptor: descriptor) == nil)
        #expect(ReadinessReport(descriptor: 1_000_000) == nil)
    }
}
