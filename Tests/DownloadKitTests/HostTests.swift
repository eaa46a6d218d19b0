import DownloadKit
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

/// The host of a background session and its clients. The host and the clients are in one process here, and reach each
/// other over the session's socket, as two processes do.
@Suite("The library: runBackground", .inTurn, .timeLimit(.minutes(1)))
struct HostTests {
    private let content = Content(seed: 61, size: mebibyte)
    private let background = SessionConfiguration.background(identifier: "org.example.host")

    /// Records the events of the host.
    private final class Recorder: EventMonitor {
        private let recorded = Mutex<[String]>([])

        var names: [String] { recorded.withLock(\.self) }

        func session(_ session: String, didSend event: DownloadEvent) async {
            let name =
                switch event {
                case .didAdd: "added"
                case .didStart: "started"
                case .didComplete: "completed"
                case .didCancel: "cancelled"
                case .didPause: "paused"
                case .didResume: "resumed"
                default: "\(event)"
                }
            recorded.withLock { $0.append("\(session) \(name)") }
        }
    }

    private struct TokenAdapter: RequestAdapter {
        func adapt(_ request: DownloadRequest) async throws -> DownloadRequest { request.header("X-Token", "t1") }
    }

    /// Starts a host, and opens the session as a client once the host is alive.
    private func start(
        _ library: Library, adapter: (any RequestAdapter)? = nil,
        monitors: [any EventMonitor] = []
    ) async throws -> (host: Task<Void, any Error>, client: DownloadSession) {
        let configuration = library.configuration(background)
        let host = Task {
            try await DownloadSession.runBackground(configuration, idleTimeout: nil, monitors: monitors)
        }
        let directory = DownloadSession.sessions(stateFolder: configuration.stateFolder)
        defer { directory.close() }
        while !directory.isAlive("org.example.host") {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(directory.liveSessions() == ["org.example.host"])
        return (host, try await DownloadSession(configuration: configuration, adapter: adapter))
    }

    @Test("The host sends its events to its monitors, uses the client's adapter, and ends after finishAndInvalidate()")
    func finishing() async throws {
        try await withLibrary(serving: content) { library in
            let recorder = Recorder()
            let (host, client) = try await start(library, adapter: TokenAdapter(), monitors: [recorder])
            library.server.holdEnds()
            let task = try await client.download(library.request(), to: .folder(library.files))
            #expect(await task.waitForBytes(mebibyte / 2))
            async let end: Void = client.finishAndInvalidate()
            library.server.releaseEnds()
            try await end
            try await host.value
            #expect(try library.holds(content))
            #expect(recorder.names == ["added", "started", "completed"].map { "org.example.host \($0)" })
            #expect(library.server.log.entries.allSatisfy { $0.request["X-Token"] == "t1" })
        }
    }

    @Test("invalidateAndCancel() of a client ends the host, and a later client resumes with the resume data")
    func cancelling() async throws {
        let content = content
        try await withLibrary({ request in
            request["Authorization"] == "Basic YW5uOnNlY3JldHdvcmQ=" && request["X-Key"] == "k1"
                ? FaultReply(content, etag: "\"v1\"") : FaultReply(status: 401)
        }) { library in
            library.server.holdEnds()
            let (host, client) = try await start(library)
            let ann = Credential(user: "ann", password: "secretword")
            var request = try library.request().header("X-Key", "k1")
            request.credential = ann
            let task = try await client.download(request, to: .folder(library.files))
            #expect(await task.waitForBytes(mebibyte / 2))
            let data = try #require(try await task.cancel())
            try await client.invalidateAndCancel()
            try await host.value
            library.server.releaseEnds()
            let (next, later) = try await start(library)
            let before = library.server.log.bytesSent
            let resumed = try await later.download(
                resumingWith: data, credential: ann, headers: [RequestHeader(name: "X-Key", value: "k1")])
            #expect(try await resumed.value.byteCount == content.size)
            #expect(library.server.log.bytesSent - before < content.size * 3 / 4)
            #expect(try library.holds(content))
            await later.close()
            next.cancel()
            try await next.value
        }
    }

    @Test("A host whose Swift task is cancelled pauses the running downloads, and the next host continues them")
    func cancelledHost() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            let recorder = Recorder()
            let (host, client) = try await start(library, monitors: [recorder])
            let id = try await client.download(library.request(), to: .folder(library.files)).id
            #expect(try await client.task(id).waitForBytes(mebibyte / 2))
            let events = await client.events
            host.cancel()
            try await host.value
            // The client reads the last event of the host from the store, and then its sequence ends.
            var last: DownloadEvent?
            for await event in events { last = event }
            guard case .didPause? = last else {
                Issue.record("\(String(describing: last))")
                return
            }
            await #expect(throws: DownloadError.self) { try await client.task(id) }
            await client.close()
            library.server.releaseEnds()
            let (next, later) = try await start(library)
            #expect(try await later.task(id).value.byteCount == content.size)
            await later.close()
            next.cancel()
            try await next.value
            // With nothing left to do, a host ends by itself.
            try await DownloadSession.runBackground(library.configuration(background), idleTimeout: .zero)
            #expect(recorder.names.last == "org.example.host paused")
        }
    }

    @Test("A second host returns at once, and an impossible configuration is refused")
    func second() async throws {
        try await withLibrary(serving: content) { library in
            let (host, client) = try await start(library)
            try await DownloadSession.runBackground(library.configuration(background), idleTimeout: nil)
            #expect(try await client.tasks.isEmpty)
            try await client.finishAndInvalidate()
            try await host.value
            await #expect(throws: DownloadError.sessionUnavailable(.unusableIdentifier("a/b"))) {
                try await DownloadSession.runBackground(.background(identifier: "a/b"))
            }
            await #expect(
                throws: DownloadError.unexpected("the configuration is not one of a background session")
            ) {
                try await DownloadSession.runBackground(.ephemeral)
            }
            var homeless = background
            homeless.stateFolder = ""
            await #expect(throws: DownloadError.sessionUnavailable(.noHome)) {
                try await DownloadSession.runBackground(homeless)
            }
            await #expect(throws: DownloadError.sessionUnavailable(.noHome)) {
                try await DownloadSession(configuration: homeless)
            }
            // A file stands where the state folder should be.
            try library.root.write("", to: "file")
            var blocked = background
            blocked.stateFolder = library.root("file")
            await #expect(throws: DownloadError.self) { try await DownloadSession.runBackground(blocked) }
            await #expect(throws: DownloadError.self) { try await DownloadSession(configuration: blocked) }
        }
    }

    @Test("A session without a host program ends if another session asks for it, and then its sequences end")
    func endedByOther() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            let first = try await library.session(background)
            let second = try await library.session(background)
            let task = try await first.download(library.request(), to: .folder(library.files))
            #expect(await task.waitForBytes(mebibyte / 2))
            let events = task.events
            try await second.invalidateAndCancel()
            var last: DownloadEvent?
            for await event in events { last = event }
            guard case .didCancel? = last else {
                Issue.record("\(String(describing: last))")
                return
            }
            for await event in task.events { Issue.record("\(event)") }
            for await progress in task.progress { Issue.record("\(progress)") }
            for await progress in first.progress { Issue.record("\(progress)") }
            await first.close()
            let third = try await library.session(background)
            await #expect(throws: DownloadError.noSuchDownload(9)) { try await third.task(9) }
            await #expect(throws: DownloadError.cancelled) { try await third.task(task.id).value }
            await third.close()
        }
    }

    @Test("A host program that cannot be started, or that a signal ends, is reported")
    func unusableHosts() async throws {
        try await withLibrary(serving: content) { library in
            func failure(_ host: BackgroundHost) async -> DownloadError? {
                var configuration = library.configuration(background)
                configuration.host = host
                do {
                    _ = try await DownloadSession(configuration: configuration)
                    return nil
                } catch { return error as? DownloadError }
            }
            #expect(
                await failure(BackgroundHost(executable: library.root("none")))
                    == .sessionUnavailable(
                        .startFailed(
                            message: "cannot start \(library.root("none")): No such file or directory")))
            #expect(
                await failure(BackgroundHost(executable: "/bin/sh", arguments: ["-c", "kill -TERM $$"]))
                    == .sessionUnavailable(.startFailed(message: "/bin/sh was ended by signal 15")))
        }
    }
}
