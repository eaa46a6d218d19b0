import DownloadCore
import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import DownloadSystem

@Suite("RedirectingRequest: a small answer, after any redirects", .inTurn, .timeLimit(.minutes(1)))
struct RedirectingRequestTests {
    private static let url = "https://a.example/start"

    private func request() throws -> DownloadRequest {
        var request = DownloadRequest(
            url: try SourceURL.parse(Self.url).get().url, destination: Destination(folder: "/"))
        request.headers = [RequestHeader(name: "X-Secret", value: "s")]
        return request
    }

    private func asked(
        _ request: DownloadRequest, over transport: FakeTransport, largest: Int = 100, strictHosts: HSTSStore? = nil,
        time: any TimeSource = SystemTime()
    ) -> RedirectingRequest {
        RedirectingRequest(
            request: request, transport: transport, userAgent: "dlm", strictHosts: strictHosts, time: time,
            largest: largest)
    }

    /// Returns a transport that answers each URL with its redirect, or else with "ok".
    private func transport(_ redirects: [String: (Int, String)]) -> FakeTransport {
        FakeTransport { request, _ in
            guard let (status, target) = redirects[request.url.string] else {
                return .scripted(
                    ResponseHead(status: 200), body: [Array("o".utf8), Array("k".utf8)], ending: .complete)
            }
            return .scripted(
                ResponseHead(status: status, redirectURL: target), body: [Array("moved".utf8)], ending: .complete)
        }
    }

    @Test("Redirects are followed to the last answer; the user's fields stay within their origin")
    func follows() async throws {
        let transport = transport([
            Self.url: (302, "https://a.example/next"), "https://a.example/next": (307, "https://b.example/file"),
        ])
        let outcome = try await asked(try request(), over: transport).run()
        #expect(outcome.last.answer.body == Array("ok".utf8) && outcome.last.url.string == "https://b.example/file")
        #expect(outcome.verdict == .body(offset: 0, end: nil, total: nil))
        #expect(outcome.redirects.map(\.answer.head?.status) == [302, 307])
        #expect(outcome.redirects.allSatisfy { $0.answer.body.isEmpty })
        let name = try #require(HTTPField.Name("X-Secret"))
        #expect(transport.requests.map { $0.options.fields[name] } == ["s", "s", nil])
    }

    @Test("A POST becomes a GET without data after a 302, and stays a POST after a 307")
    func method() async throws {
        var request = try request()
        request.http.body = RequestBody(Array("a=1".utf8))
        let transport = transport([
            Self.url: (307, "https://a.example/next"), "https://a.example/next": (302, "https://a.example/file"),
        ])
        _ = try await asked(request, over: transport).run()
        #expect(transport.requests.map(\.options.method) == [.post, .post, .get])
        #expect(transport.requests.map { $0.options.body != nil } == [true, true, false])
    }

    @Test("A refused redirect, or a redirect beyond the limit, is the verdict of the last answer")
    func refused() async throws {
        var request = try request()
        request.redirect.limit = 1
        let circle = transport([Self.url: (302, "https://a.example/b"), "https://a.example/b": (302, Self.url)])
        let outcome = try await asked(request, over: circle).run()
        #expect(outcome.verdict == .failed(.protocolViolated(.tooManyRedirects(1))) && circle.requests.count == 2)
        let down = transport([Self.url: (302, "http://a.example/file")])
        let refused = try await asked(try self.request(), over: down).run()
        #expect(refused.verdict == .failed(.protocolViolated(.redirectRefused("from https to http"))))
        #expect(down.requests.count == 1)
    }

    @Test("A host that is known to want https gets its requests over https, even after a redirect")
    func strictHosts() async throws {
        let folder = try TemporaryFolder()
        let hosts = HSTSStore(path: folder.path + "/hsts")
        hosts.learn("max-age=1000", of: "a.example")
        hosts.learn("max-age=1000", of: "b.example")
        var request = try request()
        request.url = try SourceURL.parse("http://a.example/start").get().url
        let transport = transport([Self.url: (302, "http://b.example/file")])
        let outcome = try await asked(request, over: transport, strictHosts: hosts).run()
        #expect(transport.requests.map(\.url.string) == [Self.url, "https://b.example/file"])
        #expect(outcome.last.answer.body == Array("ok".utf8))
        hosts.flush()
    }

    @Test("A body that is too large is not read to its end")
    func tooLarge() async throws {
        let outcome = try await asked(try request(), over: transport([:]), largest: 1).run()
        #expect(outcome.last.answer.isTooLarge && outcome.last.answer.result.ending == .refused)
        #expect(outcome.last.answer.body == Array("o".utf8))
    }

    @Test("An answer that does not arrive ends at the time limit")
    func late() async throws {
        let time = ManualTime(leaps: true)
        let silent = FakeTransport { _, _ in .scripted(ResponseHead(status: 200), body: [], ending: nil) }
        let outcome = try await asked(try request(), over: silent, time: time).run()
        #expect(outcome.last.answer.isLate && outcome.last.answer.result.ending == .cancelled)
    }

    @Test("The body of an error is dropped")
    func error() async throws {
        let failing = FakeTransport { _, _ in
            .scripted(ResponseHead(status: 404, phrase: "Not Found"), body: [Array("page".utf8)], ending: .complete)
        }
        let outcome = try await asked(try request(), over: failing).run()
        #expect(outcome.verdict == .failed(.serverRefused(status: 404, phrase: "Not Found")))
        #expect(outcome.last.answer.body.isEmpty)
    }

    @Test("A request ends when the task that waits for its answer is cancelled")
    func cancelled() async throws {
        let silent = FakeTransport { _, _ in .scripted(ResponseHead(status: 200), body: [], ending: nil) }
        let asked = asked(try request(), over: silent)
        let task = Task { try await asked.run() }
        _ = await silent.waitForRequests(1)
        task.cancel()
        let outcome = try await task.value
        #expect(outcome.last.answer.result.ending == .cancelled && !outcome.last.answer.isLate)
    }
}
