import DownloadKit
import DownloadKitTesting
import Foundation

/// The code of ComingFrom.md, compiled. A test compares the two.
private enum ComingFrom {
    static func configurations() async throws {
        let shared = try await DownloadSession(configuration: .default)
        let unrecorded = try await DownloadSession(configuration: .ephemeral)
        let background = try await DownloadSession(configuration: .background(identifier: "org.example.app"))
        print(shared.identifier, unrecorded.identifier, background.identifier)
    }

    static func tasks(session: DownloadSession, id: DownloadID) async throws {
        let unfinished = try await session.tasks
        let known = try await session.task(id)
        print(unfinished.count, known.request.url)
    }

    static func oneCall(url: URL, listURL: URL, folder: URL) async throws {
        let file = try await DownloadSession.download(url, to: .folder(folder))
        let list = try await DownloadSession.data(from: listURL, limit: 1_000_000)
        print(file.url, list.count)
    }

    static func delegate(session: DownloadSession) async {
        for await event in await session.events {
            switch event {
            case .didStart(let download, let offset): print(download.id, "runs from byte", offset)
            case .didPause(let download): print(download.id, "is paused")
            case .didComplete(let download): print(download.id, download.file ?? "")
            case .didFail(let download, let error): print(download.id, error)
            default: break
            }
        }
    }

    static func held(session: DownloadSession, folder: URL) async throws {
        var request = try DownloadRequest("https://example.org/file")
        request.startsPaused = true
        let task = try await session.download(request, to: .folder(folder))
        try await task.resume()
    }

    static func metrics(task: DownloadTask) async throws {
        let file = try await task.value
        for attempt in file.attempts {
            print(attempt.metrics?.connect ?? 0, attempt.metrics?.tls ?? 0, attempt.metrics?.firstByte ?? 0)
        }
    }

    static func progress(task: DownloadTask) async {
        let total = Progress(totalUnitCount: 1)
        total.addChild(await task.makeProgress(), withPendingUnitCount: 1)
    }

    static func testing(content: Data) async throws -> DownloadSession {
        let transport = SessionTransport.answering { request in
            request.url.path == "/file"
                ? TestAnswer(headers: ["ETag": "\"v1\""], body: content) : TestAnswer(status: 404)
        }
        let session = try await DownloadSession(configuration: .ephemeral, transport: transport)
        return session
    }

    static func headers() -> SessionConfiguration {
        var configuration = SessionConfiguration.default
        configuration.headers = [RequestHeader(name: "Accept-Language", value: "de, en;q=0.5")]
        configuration.maxConcurrent = 4
        configuration.rateLimit = 2_000_000
        return configuration
    }

    static func parameters() throws -> [DownloadRequest] {
        let query = try DownloadRequest("https://example.org/export").parameters(["year": "2026"])
        let form = try DownloadRequest("https://example.org/export").parameters(["year": "2026"], encoding: .form)
        return [query, form]
    }

    struct TokenAdapter: RequestAdapter {
        let token: @Sendable () async throws -> String

        func adapt(_ request: DownloadRequest) async throws -> DownloadRequest {
            request.header("Authorization", "Bearer \(try await token())")
        }
    }

    struct LoginRetrier: RequestRetrier {
        func retry(_ download: DownloadSnapshot, dueTo error: DownloadError) async -> RetryDecision {
            error.httpStatus == 401 && download.attempts.count < 3 ? .retry(after: .zero) : .usePolicy
        }
    }

    static func hooks(token: @escaping @Sendable () async throws -> String) async throws -> DownloadSession {
        try await DownloadSession(adapter: TokenAdapter(token: token), retrier: LoginRetrier())
    }

    static func policies() throws -> DownloadRequest {
        var request = try DownloadRequest("https://example.org/file")
        request.redirect = RedirectPolicy(limit: 5, schemes: ["https"])
        request.retry = RetryPolicy(limit: 10, delay: .seconds(2), maximumDelay: .seconds(120))
        request.timeouts.stall = .seconds(30)
        request.schedule = TimeWindow("01:00-06:00").map { DownloadSchedule(windows: [$0]) }
        return request
    }

    static func reachability(task: DownloadTask) async {
        for await progress in task.progress {
            if case .waiting(.network, _) = progress.state { print("waits for the network") }
        }
    }

    static func totals(session: DownloadSession) async {
        for await total in session.progress {
            print(total.received, total.total, total.speed ?? 0, total.completed)
        }
    }
}
