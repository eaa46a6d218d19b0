import DownloadCore
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import dlm

@Suite("The clock of a command", .inTurn, .timeLimit(.minutes(2)))
struct TimeTests {
    @Test("All waits of a `dlm get` use the clock of its context")
    func get() async throws {
        let folder = try TemporaryFolder()
        let content = Content(seed: 74, size: 3 << 20)
        let server = try FaultServer { request in
            request.number == 1 ? FaultReply(status: 503, fields: [("Retry-After", "600")]) : FaultReply(content)
        }
        let time = ManualTime(leaps: true)
        let (virtual, real) = (time.now, ContinuousClock.now)
        let captured = try CapturedConsole()
        let context = Context(
            console: captured.console, signals: Signals(),
            environment: ["HOME": folder.path, "XDG_STATE_HOME": folder("state"), "TERM": "dumb"],
            workingFolder: folder.path, time: time)
        let status = await context.status(of: try DLM.command(["get", server.url(), "-d", folder.path]))
        #expect(status == 0, "\(captured.errors)")
        #expect(captured.outputLines == [folder("file.bin")])
        #expect(try sha256(of: folder("file.bin")) == content.sha256)
        #expect(time.now - virtual >= .seconds(600))
        #expect(ContinuousClock.now - real < .seconds(300))
    }
}
