import DownloadCore
import Synchronization
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("resume", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct ResumeTests {
    /// Returns a service with four paused downloads. When resumed, downloads with even IDs run in `session`, and
    /// downloads with odd IDs complete in the session of the command.
    static func service(session: String = "background") -> FakeService {
        let service = FakeService(onResume: { service, ids, _ in
            ids.map { id in
                if id.rawValue.isMultiple(of: 2) {
                    return ClaimedDownload(
                        .running,
                        service.change(id) {
                            $0.session = session
                            $0.state = .queued
                        }.record)
                }
                let snapshot = service.change(id) { $0.session = "here" }
                service.send(.didComplete(service.change(id) { $0.complete(path: "/data/f\(id)") }))
                return ClaimedDownload(.claimed, snapshot.record)
            }
        })
        for id in 1...4 { service.change(DownloadID(id)) { $0 = .example(id: DownloadID(id), state: .paused(.user)) } }
        return service
    }

    @Test("A download that continues in another session is reported, and resume does not wait for it")
    func elsewhere() async throws {
        let (status, captured) = try await run(["resume", "2"], Self.service())
        #expect(status == 0)
        #expect(captured.output == "")
        #expect(
            captured.errors
                == "dlm: 2: debian-12.iso: continues in session background; follow with: dlm watch 2\n")
    }

    @Test("A download that continues in this process is followed to its end")
    func mixed() async throws {
        let (status, captured) = try await run(["resume", "1-4", "-q"], Self.service())
        #expect(status == 0)
        #expect(captured.errors == "")
        let (_, told) = try await run(["resume", "1-4"], Self.service())
        #expect(told.outputLines == ["/data/f1", "/data/f3"])
        #expect(told.errorLines.count == 2)
    }

    @Test("If a download already runs, this is reported")
    func running() async throws {
        let service = Self.service()
        service.change(2) {
            $0.state = .running
            $0.session = "background"
        }
        let (status, captured) = try await run(["resume", "2", "--json"], service)
        #expect(status == 0)
        #expect(captured.errors.contains("2: debian-12.iso: runs already in session background"))
        #expect(captured.output.contains(#""event":"unchanged""#))
    }

    @Test("resume passes -b on to the service, and with --json prints the answer as JSON")
    func background() async throws {
        let service = FakeService(onResume: { service, ids, overrides in
            #expect(overrides.inBackground)
            return ids.map { id in ClaimedDownload(.running, service.change(id) { $0.session = "background" }.record) }
        })
        service.change(1) { $0 = .example(id: 1, state: .paused(.user)) }
        let (status, captured) = try await run(["resume", "-b", "1", "--json"], service)
        #expect(status == 0)
        #expect(captured.output.contains(#""event":"resumed""#) && captured.output.contains(#""session":"background""#))
        #expect(captured.errors == "")
    }

    @Test("Many downloads that continue in another session are reported in one line")
    func many() async throws {
        let service = FakeService(onResume: { service, ids, _ in
            ids.map { id in ClaimedDownload(.running, service.change(id) { $0.session = "background" }.record) }
        })
        for id in 1...20 { service.change(DownloadID(id)) { $0 = .example(id: DownloadID(id), state: .paused(.user)) } }
        let (_, captured) = try await run(["resume", "--all"], service)
        #expect(captured.errors == "dlm: 20 downloads continue in other processes; follow with: dlm watch\n")
    }

    @Test("--all leaves out downloads that a live session works on")
    func all() async throws {
        let service = Self.service()
        service.change(1) {
            $0.state = .running
            $0.session = "background"
        }
        service.change(3) {
            $0.state = .queued
            $0.session = "background"
        }
        _ = service.state.withLock { $0.unattended.insert(3) }
        let (status, _) = try await run(["resume", "--all"], service)
        #expect(status == 0)
        #expect(service.calls.filter { $0.hasPrefix("resume") } == ["resume [3]", "resume [2, 4]"])
    }
}
