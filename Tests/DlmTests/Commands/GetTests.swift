import DownloadCore
import DownloadKit
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("The requests that get makes", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct GetTests {
    @Test("Options of a download reach the request, and -j reaches the configuration of the session")
    func options() async throws {
        let service = FollowerTests.completing()
        let hex = String(repeating: "ab", count: 32)
        let (status, captured) = try await run(
            [
                "get", "https://me:pw@example.org/a?b=c#d", "-d", "/nowhere", "-o", "x", "-x", "4",
                "--if-exists", "rename", "--checksum", "SHA256:\(hex)", "--retries", "9", "--retry-delay", "2m",
                "--connect-timeout", "3s", "--stall-timeout", "1m", "--max-redirects", "2", "--priority", "7", "-k",
                "-H", "A: b", "--header", "Authorization: Bearer t", "-j", "40",
            ], service)
        #expect(status == 0, "\(captured.errors)")
        let request = try #require(service.requests.first)
        #expect(request.url.string == "https://example.org/a?b=c")
        #expect(request.credential == Credential(user: "me", password: "pw"))
        #expect(request.destination == Destination(folder: "/nowhere", fileName: "x", ifExists: .rename))
        #expect(request.connections == 4)
        #expect(request.checksum == Checksum(algorithm: .sha256, digest: hex))
        #expect(request.retry == RetryPolicy(limit: 9, delay: .seconds(120), maximumDelay: .seconds(120)))
        #expect(request.timeouts == .init(connect: .seconds(3), stall: .seconds(60)))
        #expect(request.redirect == RedirectPolicy(limit: 2))
        #expect(request.priority == 7)
        #expect(request.trust == .insecure)
        #expect(
            request.headers == [
                RequestHeader(name: "A", value: "b"), RequestHeader(name: "Authorization", value: "Bearer t"),
            ])
        let configuration = try #require(service.configuration)
        #expect(configuration.maxConcurrent == 40 && configuration.maxPerHost == 40)
        #expect(configuration.stateFolder == "/tmp/dlm-tests-state/dlm")
    }

    @Test("Without options a request has the defaults of the library, except that a digest is looked up")
    func defaults() async throws {
        let service = FollowerTests.completing()
        _ = try await run(["get", "http://a/x"], service)
        var expected = DownloadRequest(
            url: .example("http://a/x"), destination: Destination(folder: "/"))
        expected.proof = .auto
        #expect(service.requests == [expected])
    }

    @Test("A negative priority is accepted")
    func negativePriority() async throws {
        let service = FollowerTests.completing()
        _ = try await run(["get", "--priority=-5", "http://a/x"], service)
        #expect(service.requests.first?.priority == -5)
    }

    @Test("--ephemeral opens a session that records nothing, and needs no home folder")
    func ephemeral() async throws {
        let service = FollowerTests.completing()
        let (status, captured) = try await run(["get", "--ephemeral", "http://a/x"], service) { $0.environment = [:] }
        #expect(status == 0, "\(captured.errors)")
        #expect(service.configuration?.kind == .ephemeral)
        let (refused, usage) = try await run(["get", "-b", "--ephemeral", "http://a/x"], FakeService())
        #expect(refused == 2 && usage.errorLines.count == 1)
    }

    @Test("The failure of a download that is not recorded does not suggest dlm resume")
    func ephemeralFailure() async throws {
        let service = FollowerTests.failing(.serverRefused(status: 503, phrase: "Busy"))
        let (_, recorded) = try await run(["get", "http://a/x"], service)
        #expect(recorded.errors.contains("dlm resume"))
        let other = FollowerTests.failing(.serverRefused(status: 503, phrase: "Busy"))
        let (_, captured) = try await run(["get", "--ephemeral", "http://a/x"], other)
        #expect(captured.errorLines.count == 1 && !captured.errors.contains("dlm resume"))
    }

    @Test("Without a home folder, get prints one line and ends with status 12")
    func noHome() async throws {
        let (status, captured) = try await run(["get", "http://a/x"], FakeService()) { $0.environment = [:] }
        #expect(status == 12)
        #expect(captured.errorLines.count == 1)
    }

    @Test("--json streams events and ends with a finished line for each download")
    func json() async throws {
        let service = FollowerTests.failing(.serverRefused(status: 404, phrase: "Not Found"))
        let (_, captured) = try await run(["get", "--json", "http://a/x"], service)
        #expect(captured.outputLines.count == 1)
        #expect(captured.output.contains(#""event":"finished""#))
        #expect(captured.output.contains(#""httpStatus":404"#))
    }
}
