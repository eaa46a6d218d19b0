import DownloadCore
import Foundation
import Synchronization
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("get -b", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct BackgroundTests {
    /// Returns a service, and its background session, which accepts all requests.
    static func service() -> (front: FakeService, background: FakeService) {
        let background = FakeService { service, requests in
            requests.map { AddedDownload(kind: .inserted, record: service.insert($0, session: "background")) }
        }
        let front = FakeService()
        front.state.withLock { $0.background = background }
        return (front, background)
    }

    @Test("The numbers are on stdout, one a line, and nothing is begun here")
    func ids() async throws {
        let (front, background) = Self.service()
        let (status, captured) = try await run(
            ["get", "-b", "http://a/x", "http://a/y", "--limit-rate", "1.5k", "--priority", "3"], front)
        #expect(status == 0)
        #expect(captured.output == "1\n2\n" && captured.errors == "")
        #expect(front.calls == ["close"])
        #expect(background.requests.map(\.rateLimit) == [1536, 1536])
        #expect(background.requests.map(\.priority) == [3, 3])
    }

    @Test("--json has a line for each")
    func json() async throws {
        let (front, _) = Self.service()
        let (_, captured) = try await run(["get", "-b", "--json", "http://a/x"], front)
        #expect(captured.outputLines.count == 1)
        #expect(captured.output.contains(#""event":"added","id":1"#))
    }

    @Test("A long list goes over in parts, and a bad line is told with its number")
    func list() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "dlm-list-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lines = (1...9300).map { $0 == 700 ? "nonsense" : "http://a/\($0)" }
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let (front, background) = Self.service()
        let (status, captured) = try await run(["get", "-b", "-i", path], front)
        #expect(status == 2)
        #expect(captured.outputLines == (1...9299).map { "\($0)" })
        #expect(captured.errorLines.count == 1 && captured.errors.hasPrefix("dlm: \(path):700: "))
        #expect(background.calls.count >= 3)
        #expect(background.calls.allSatisfy { ($0.split(separator: " ").last.flatMap { Int($0) } ?? 0) <= 4_000 })
    }

    @Test("A background session that cannot be started is one line and status 12")
    func cannotStart() async throws {
        let (status, captured) = try await run(["get", "-b", "http://a/x"], FakeService())
        #expect(status == 12)
        #expect(captured.errorLines.count == 1 && captured.output == "")
    }
}
