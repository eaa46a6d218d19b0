import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("dlm daemon status", .inTurn, .serialized)
struct DaemonTextTests {
    let started = Date(timeIntervalSince1970: 1_000_000)

    func document(rateLimit: Int64? = 2 << 20, isFinishing: Bool = false) -> DaemonDocument {
        let settings = SessionSettings(maxConcurrent: 16, maxPerHost: 4, rateLimit: rateLimit)
        let status = SessionStatus(
            identifier: "background", pid: 77, version: "0.1.0", started: started, running: 2, waiting: 1,
            queued: 1000, settings: settings, isFinishing: isFinishing)
        return DaemonDocument(status, socket: "/home/me/\u{1B}x.sock")
    }

    @Test("The status of a running session shows its process, socket, downloads and limits")
    func running() {
        #expect(
            DaemonText.lines(document(), now: started + 192) == [
                "running",
                "   process    pid 77, dlm 0.1.0, for 3:12",
                "   session    background",
                "   socket     /home/me/\\x1bx.sock",
                "   downloads  2 running, 1 waiting, 1000 queued",
                "   limits     16 at a time, 4 from one host, 2.0 MiB/s",
            ])
        let finishing = DaemonText.lines(document(rateLimit: 0, isFinishing: true), now: started)
        #expect(finishing.first == "finishing what runs")
        #expect(finishing.last?.hasSuffix("any speed") == true)
    }

    @Test("If the session does not run, the status says so")
    func absent() {
        #expect(DaemonText.lines(DaemonDocument(socket: "/s"), now: started) == ["not running", "   socket     /s"])
    }

    @Test("The JSON has the fields that scripts use")
    func json() throws {
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(document().json.utf8)) as? [String: Any])
        #expect(object["version"] as? Int == 1)
        #expect(object["pid"] as? Int == 77)
        #expect(object["identifier"] as? String == "background")
        #expect(object["socket"] as? String == "/home/me/\u{1B}x.sock")
        #expect(object["running"] as? Int == 2)
        #expect(object["queued"] as? Int == 1000)
        #expect(!DaemonDocument(socket: "/s").json.contains("pid"))
    }
}
