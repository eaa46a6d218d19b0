import DownloadCore
import Foundation
import Synchronization
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Following downloads", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct FollowerTests {
    /// Returns a service that completes every download before `add` answers.
    static func completing() -> FakeService {
        FakeService { service, requests in
            requests.map { request in
                let record = service.insert(request)
                let path = "/data/\(record.displayName)"
                service.send(.didComplete(service.change(record.id) { $0.complete(path: path) }))
                return AddedDownload(kind: .inserted, record: record)
            }
        }
    }

    /// Returns a service whose downloads all fail with this error after `received` bytes.
    static func failing(_ error: DownloadError, received: Int64 = 0) -> FakeService {
        FakeService { service, requests in
            requests.map { request in
                let record = service.insert(request)
                let snapshot = service.change(record.id) {
                    $0.receive(received, of: nil)
                    $0.state = .failed(error)
                }
                service.send(.didFail(snapshot, error))
                return AddedDownload(kind: .inserted, record: record)
            }
        }
    }

    /// Returns a service whose downloads are run by another process. `onLook` can change a record before each look.
    static func joining(
        onResume: @escaping FakeService.Resume = { _, _, _ in [] },
        onLook: @escaping @Sendable (FakeService, DownloadID) -> Void
    ) -> FakeService {
        FakeService(
            onAdd: { service, requests in
                requests.map { request in
                    let record = service.insert(request, session: "other")
                    service.change(record.id) { $0.state = .running }
                    return AddedDownload(kind: .joined, record: record)
                }
            }, onResume: onResume, onLook: onLook)
    }

    @Test("The paths of complete files are printed to standard output, and nothing else is printed")
    func complete() async throws {
        let (status, captured) = try await run(["get", "http://a/x.bin", "http://a/y.bin"], Self.completing())
        #expect(status == 0)
        #expect(captured.output == "/data/x.bin\n/data/y.bin\n")
        #expect(captured.errors == "")
    }

    @Test("With --quiet, a success prints nothing at all")
    func quiet() async throws {
        let (status, captured) = try await run(["get", "-q", "http://a/x.bin"], Self.completing())
        #expect(status == 0)
        #expect(captured.output == "" && captured.errors == "")
    }

    @Test("A failure prints one line on standard error, and decides the exit status")
    func failure() async throws {
        let service = Self.failing(.serverRefused(status: 404, phrase: "Not Found"))
        let (status, captured) = try await run(["get", "https://example.org/gone.zip"], service)
        #expect(status == 8)
        #expect(captured.output == "")
        #expect(captured.errors == "dlm: https://example.org/gone.zip: 404 Not Found\n")
    }

    @Test("If a failed download can be resumed, its line says how, even with --quiet")
    func resumable() async throws {
        let error = DownloadError.networkFailed(
            .connectionLost, TransportDiagnosis(code: 56, message: "reset by peer"))
        let service = Self.failing(error, received: 1000)
        let (status, captured) = try await run(["get", "-q", "http://a/x.bin"], service)
        #expect(status == 4)
        #expect(captured.errors == "dlm: 1: x.bin: connection lost: reset by peer; run: dlm resume 1\n")
    }

    @Test("Control characters from a server are escaped")
    func escaped() async throws {
        let service = Self.failing(.serverRefused(status: 400, phrase: "\u{1B}]0;owned\u{7}"))
        let (_, captured) = try await run(["get", "http://a/x"], service)
        #expect(captured.errors == "dlm: http://a/x: 400 \\x1b]0;owned\\x07\n")
    }

    @Test("If another process runs a download, the command waits for the download")
    func joined() async throws {
        let service = Self.joining { service, id in
            if service.state.withLock({ $0.looks[id] }) == 3 { service.change(id) { $0.complete(path: "/data/x") } }
        }
        let (status, captured) = try await run(["get", "http://a/x"], service)
        #expect(status == 0)
        #expect(captured.output == "/data/x\n")
    }

    @Test("If a download that another process runs fails, this command also fails")
    func joinedFails() async throws {
        let service = Self.joining { service, id in
            service.change(id) { $0.state = .failed(.authenticationFailed(status: 401)) }
        }
        let (status, captured) = try await run(["get", "http://a/x"], service)
        #expect(status == 6)
        #expect(captured.errorLines.count == 1)
    }

    @Test(
        "If the process that ran a download is gone, the download continues in this process",
        arguments: [.paused(.interrupted), .paused(.terminate), .queued] as [DownloadState])
    func takenOver(state: DownloadState) async throws {
        let service = Self.joining(
            onResume: { service, ids, overrides in
                #expect(overrides.headers == [RequestHeader(name: "X", value: "y")])
                return ids.map { id in
                    let claimed = service.change(id) { $0.session = "here" }
                    service.send(.didComplete(service.change(id) { $0.complete(path: "/data/x") }))
                    return ClaimedDownload(.claimed, claimed.record)
                }
            },
            onLook: { service, id in
                service.change(id) {
                    $0.state = state
                    $0.session = nil
                }
            })
        let (status, captured) = try await run(["get", "-H", "X: y", "http://a/x"], service)
        #expect(status == 0)
        #expect(captured.output == "/data/x\n")
        #expect(service.calls.filter { $0 == "resume [1]" }.count == 1)
    }

    @Test("The removal of a download is reported")
    func removed() async throws {
        let service = Self.joining { service, id in service.forget(id) }
        let (status, captured) = try await run(["get", "http://a/x"], service)
        #expect(status == 11)
        #expect(captured.errors == "dlm: download 1 was removed\n")
    }

    @Test("A bad line of a list is reported with its number, and the other lines are downloaded")
    func badLine() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "dlm-list-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "# two\nhttp://a/x\nnonsense\n  out=y\n  # below\nhttp://a/z\n".write(
            toFile: path, atomically: true, encoding: .utf8)
        let (status, captured) = try await run(["get", "-i", path], Self.completing())
        #expect(status == 2)
        #expect(captured.output == "/data/x\n/data/z\n")
        #expect(captured.errorLines.count == 1 && captured.errors.hasPrefix("dlm: \(path):3: nonsense: "))
    }

    @Test("A store that cannot be opened gives one line and status 12")
    func noStore() async throws {
        let (status, captured) = try await run(["get", "http://a/x"], FakeService()) { context in
            context.open = { _, _, _ in
                throw DownloadError.sessionUnavailable(.storeUnreadable(path: "/s", message: "no"))
            }
        }
        #expect(status == 12)
        #expect(captured.errors == "dlm: cannot open the store /s: no\n")
    }

    @Test("If the downloads cannot be added, the command fails with the error")
    func cannotAsk() async throws {
        let service = FakeService { _, _ in throw DownloadError.unexpected("no such luck") }
        let (status, captured) = try await run(["get", "http://a/x"], service)
        #expect(status == 1)
        #expect(captured.errors == "dlm: no such luck\n")
        #expect(service.calls.last == "close")
    }

    @Test("If a service ends while the command waits for downloads, the command fails")
    func serviceEnds() async throws {
        let service = FakeService { service, requests in
            let added = requests.map { AddedDownload(kind: .inserted, record: service.insert($0)) }
            Task { await service.close() }
            return added
        }
        let (status, captured) = try await run(["get", "http://a/x"], service)
        #expect(status == 12)
        #expect(captured.errorLines.count == 1)
    }

    @Test("The error line about a file names the path of the file once")
    func fileError() async throws {
        let service = Self.failing(.fileFailed(.exists, path: "/data/x"))
        let (status, captured) = try await run(["get", "http://a/x"], service)
        #expect(status == 3)
        #expect(captured.errorLines.count == 1)
        #expect(captured.errors.hasPrefix("dlm: /data/x: exists already"))
    }
}
