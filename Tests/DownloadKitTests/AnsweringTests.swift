import DownloadKit
import DownloadKitTesting
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@Suite("The library: answers without a network", .inTurn, .timeLimit(.minutes(1)))
struct AnsweringTests {
    private let body = Data(Content(seed: 41, size: mebibyte).bytes(0..<mebibyte))

    /// Runs the body with a session whose requests are answered by the closure, and a folder for files.
    private func withSession(
        _ answer: @escaping @Sendable (TestRequest) -> TestAnswer,
        _ body: (DownloadSession, URL) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let session = try await DownloadSession(configuration: .ephemeral, transport: .answering(answer))
        try await body(session, URL(fileURLWithPath: folder("files"), isDirectory: true))
        await session.close()
    }

    @Test("Requests get the answers of a closure: bodies, redirects, statuses and failures")
    func answers() async throws {
        try await withSession({ [body] request in
            switch request.url.path {
            case "/file": TestAnswer(headers: ["ETag": "\"v1\"", "Content-Type": "application/zip"], body: body)
            case "/moved": TestAnswer(status: 302, headers: ["Location": "/file"])
            case "/post" where request.method == "POST":
                TestAnswer(body: (request.body ?? Data()) + Data((request.headers["x-token"] ?? "").utf8))
            case "/failing": .failure(.connect)
            default: TestAnswer(status: 404)
            }
        }) { session, folder in
            let file = try await session.download(
                DownloadRequest("https://example.org/moved"), to: .folder(folder)
            ).value
            #expect(try Data(contentsOf: file.url) == body && file.response.contentType == "application/zip")
            let form = try DownloadRequest("https://example.org/post").parameters(["a": "b"], encoding: .form)
                .header("X-Token", "t")
            let posted = try await session.download(form, to: .folder(folder)).value
            #expect(try Data(contentsOf: posted.url) == Data("a=bt".utf8))
            let missing = try await session.download(DownloadRequest("https://example.org/none"), to: .folder(folder))
            #expect(await failure(of: missing)?.httpStatus == 404)
            var request = try DownloadRequest("https://example.org/failing")
            request.retry.limit = 0
            let failing = try await session.download(request, to: .folder(folder))
            guard case .networkFailed(.connect, _)? = await failure(of: failing) else {
                Issue.record("the failure of the answer is not the failure of the download")
                return
            }
        }
    }

    @Test("A cut answer is continued with a range; without ranges, or for a new version, the file begins again")
    func cuts() async throws {
        for (ranges, changes) in [(true, false), (false, false), (true, true)] {
            let seen = Mutex<[String?]>([])
            try await withSession({ [body] request in
                seen.withLock { $0.append(request.headers["range"]) }
                var answer = TestAnswer(
                    headers: ["ETag": changes && request.number > 1 ? "\"v2\"" : "\"v1\""], body: body)
                answer.supportsRanges = ranges
                return request.number == 1
                    ? answer.failing(.connectionLost, after: 300_000) : answer
            }) { session, folder in
                var request = try DownloadRequest("https://example.org/file")
                request.retry.delay = .zero
                let file = try await session.download(request, to: .folder(folder)).value
                #expect(try Data(contentsOf: file.url) == body)
                let second = try #require(seen.withLock { $0.dropFirst().first ?? nil })
                #expect(second != "bytes=0-" && second.hasPrefix("bytes="))
            }
        }
    }

    @Test("A slow answer can be paused, and silence ends with the stall timeout")
    func slow() async throws {
        try await withSession({ [body] request in
            var answer = TestAnswer(headers: ["ETag": "\"v1\""], body: body)
            if request.url.path == "/silent" { return answer.failing(nil, after: 100_000) }
            if request.number == 1 { answer.delay = .seconds(100) }
            return answer
        }) { session, folder in
            let task = try await session.download(DownloadRequest("https://example.org/slow"), to: .folder(folder))
            #expect(await task.wait(for: .running) != nil)
            try await task.pause()
            try await task.resume()
            _ = try await task.value
            var request = try DownloadRequest("https://example.org/silent")
            request.timeouts.stall = .milliseconds(100)
            request.retry.limit = 0
            let silent = try await session.download(request, to: .folder(folder))
            guard case .networkFailed(.stalled, _)? = await failure(of: silent) else {
                Issue.record("silence did not end with the stall timeout")
                return
            }
        }
    }
}
