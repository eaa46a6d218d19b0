import DownloadCore
import DownloadKit
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@Suite("The library: hooks and policies", .inTurn, .timeLimit(.minutes(1)))
struct PolicyTests {
    private let content = Content(seed: 41, size: 5_000)

    /// An adapter that gives each attempt another token.
    private final class Tokens: RequestAdapter {
        let count = Mutex(0)

        func adapt(_ request: DownloadRequest) async throws -> DownloadRequest {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return request.header("Authorization", "Bearer \(number)")
        }
    }

    /// A retrier that retries after errors for which the policy would give up.
    private final class Persistence: RequestRetrier {
        let seen = Mutex<[DownloadError]>([])

        func retry(_ download: DownloadSnapshot, dueTo error: DownloadError) async -> RetryDecision {
            seen.withLock { $0.append(error) }
            return download.attempts.count < 3 ? .retry(after: .zero) : .doNotRetry
        }
    }

    private final class Log: EventMonitor {
        let names = Mutex<[String]>([])

        func session(_ session: String, didSend event: DownloadEvent) async {
            let name =
                switch event {
                case .didAdd: "added"
                case .willRetry: "retry"
                case .didComplete: "completed"
                case .didFail: "failed"
                default: ""
                }
            if !name.isEmpty { names.withLock { $0.append(name) } }
        }
    }

    @Test("RequestAdapter changes each attempt; RequestRetrier decides before the policy; EventMonitor sees all events")
    func hooks() async throws {
        let content = content
        try await withLibrary({ request in
            request["Authorization"] == "Bearer 3" ? FaultReply(content) : FaultReply(status: 401)
        }) { library in
            let (retrier, log) = (Persistence(), Log())
            let session = try await DownloadSession(
                configuration: library.configuration(), adapter: Tokens(), retrier: retrier, monitors: [log])
            let task = try await session.download(library.request(), to: .folder(library.files))
            #expect(try await task.value.byteCount == content.size)
            #expect(
                retrier.seen.withLock(\.self) == [
                    .authenticationFailed(status: 401), .authenticationFailed(status: 401),
                ])
            let failing = try await session.download(library.request("/later"), to: .folder(library.files))
            #expect(await failure(of: failing) == .authenticationFailed(status: 401))
            await session.close()
            #expect(
                log.names.withLock(\.self) == [
                    "added", "retry", "retry", "completed", "added", "retry", "retry", "failed",
                ])
        }
    }

    @Test("Authentication challenge: the credential of a request is sent to its origin")
    func credentials() async throws {
        let content = content
        try await withLibrary({ request in
            request["Authorization"] == "Basic YW5uOnB3" ? FaultReply(content) : FaultReply(status: 401)
        }) { library in
            let session = try await library.session()
            var request = try library.request("/a")
            request.credential = Credential(user: "ann", password: "pw")
            _ = try await session.download(request, to: .folder(library.files)).value
            let inURL = library.server.url("/b").replacing("//", with: "//ann:pw@")
            _ = try await session.download(DownloadRequest(inURL), to: .folder(library.files)).value
            #expect(library.names == ["a", "b"])
            await session.close()
        }
    }

    @Test(
        "ServerTrustPolicy (ServerTrustPolicyManager in Alamofire): the system's authorities, one's own, or any server")
    func trust() async throws {
        let content = content
        let folder = try TemporaryFolder()
        let certificates = try await Certificates(in: folder)
        let identity = certificates.right
        try await withLibrary({ _ in FaultReply(content) }, tls: { _ in TLSBehaviour(identity) }) { library in
            let session = try await library.session()
            var request = try library.request("/unknown")
            request.retry.limit = 0
            let task = try await session.download(request, to: .folder(library.files))
            guard case .trustFailed? = await failure(of: task) else {
                Issue.record("the certificate of an unknown authority was accepted")
                return
            }
            var trusting = try library.request("/trusted")
            trusting.trust.authorities = certificates.authority
            _ = try await session.download(trusting, to: .folder(library.files)).value
            var careless = try library.request("/careless")
            careless.trust = .insecure
            _ = try await session.download(careless, to: .folder(library.files)).value
            #expect(library.names == ["careless", "trusted"])
            await session.close()
        }
    }

    @Test("Automatic retry: a stalled transfer and a busy server are tried again; a time window is waited for")
    func retries() async throws {
        let content = content
        try await withLibrary({ request in
            switch (request.target, request.number) {
            case ("/stalled", 1): FaultReply(content).with { $0.cut = .stall(after: 100) }
            case ("/busy", 3): FaultReply(status: 503)
            default: FaultReply(content, etag: "\"v1\"")
            }
        }) { library in
            let session = try await library.session()
            var stalled = try library.request("/stalled")
            stalled.timeouts.stall = .seconds(2)
            stalled.retry = RetryPolicy(limit: 2, delay: .seconds(0.01))
            let cut = try await session.download(stalled, to: .folder(library.files)).value.attempts
            #expect(cut.count == 2 && cut.first?.outcome?.contains("no data") == true, "\(cut)")
            var busy = try library.request("/busy")
            busy.retry = RetryPolicy(limit: 2, delay: .seconds(0.01))
            let refused = try await session.download(busy, to: .folder(library.files)).value.attempts
            #expect(refused.count == 2 && refused.first?.outcome?.contains("503") == true, "\(refused)")
            var later = try library.request("/later")
            later.schedule = DownloadSchedule(start: Date(timeIntervalSinceNow: 3600))
            let task = try await session.download(later, to: .folder(library.files))
            guard case .waiting(.schedule, until: .some)? = await task.wait(for: .waiting) else {
                Issue.record("the download does not wait for its time window")
                return
            }
            await session.close()
        }
    }

    /// A machine without a network until a test connects it.
    private final class Machine: LocalNetwork {
        let isUp = Mutex(false)

        func hasChanged() -> Bool { true }
        func usableAddresses() -> Set<String>? { nil }
        func reaches(_ address: String, from source: NetworkPath.Source?) -> Bool? { isUp.withLock(\.self) }
        func has(_ source: NetworkPath.Source) -> Bool { isUp.withLock(\.self) }
        func nameServers() -> [String] { ["10.0.0.53"] }
        func timeAsleep() -> Duration { .zero }
    }

    /// An adapter that leads to the server once the network is up, and to a closed port of this machine before.
    private struct Way: RequestAdapter {
        let machine: Machine
        let url: String

        func adapt(_ request: DownloadRequest) async throws -> DownloadRequest {
            var request = request
            request.url = try SourceURL(machine.isUp.withLock(\.self) ? url : "http://0.0.0.0:1/file.bin")
            return request
        }
    }

    @Test(
        "State waiting(network) (NetworkReachabilityManager in Alamofire): waiting for the network uses no attempt")
    func network() async throws {
        let content = content
        try await withLibrary(serving: content) { library in
            let machine = Machine()
            let session = try await DownloadSession(
                library.configuration(), adapter: Way(machine: machine, url: library.server.url()), network: machine)
            var request = try library.request()
            request.retry = RetryPolicy(limit: 1, delay: .seconds(60))
            let task = try await session.download(request, to: .folder(library.files))
            guard case .waiting(.network, _)? = await task.wait(for: .waiting) else {
                Issue.record("the download does not wait for the network")
                return
            }
            machine.isUp.withLock { $0 = true }
            #expect(try await task.value.byteCount == content.size)
            await session.close()
        }
    }

    @Test("No more transfers run at a time than the limit permits")
    func limit() async throws {
        try await withLibrary(serving: Content(seed: 42, size: 400_000)) { library in
            var configuration = library.configuration()
            configuration.maxConcurrent = 2
            let session = try await DownloadSession(configuration: configuration)
            let requests = try (1...6).map { number in
                var request = try library.request("/\(number)")
                request.connections = 1
                return request
            }
            for task in try await session.download(requests, to: .folder(library.files)) { _ = try await task.value }
            #expect(library.server.log.peakConnections <= 2)
            await session.close()
        }
    }

    @Test(
        "DownloadError (AFError in Alamofire): a kind, an HTTP status, a description, and whether it is transient")
    func errors() async throws {
        try await withLibrary({ _ in FaultReply(status: 404) }) { library in
            let session = try await library.session()
            let task = try await session.download(library.request(), to: .folder(library.files))
            let error = try #require(await failure(of: task))
            #expect(error == .serverRefused(status: 404, phrase: "Not Found"))
            #expect(error.httpStatus == 404 && !error.isTransient && error.description == "404 Not Found")
            await session.close()
        }
    }
}
