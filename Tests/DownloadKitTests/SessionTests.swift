import DownloadKit
import DownloadTestSupport
import Foundation
import Testing

/// The table in docs/library.md names these tests.
@Suite("The library: sessions", .inTurn, .timeLimit(.minutes(1)))
struct SessionTests {
    private let content = Content(seed: 1, size: 300_000)

    @Test("Shared session: tasks begin when they are made, or when they are resumed; a handle keeps the session alive")
    func sharedSession() async throws {
        try await withLibrary(serving: content) { library in
            var held = try library.request("/held.bin")
            held.startsPaused = true
            func start() async throws -> (DownloadTask, DownloadTask) {
                let session = try await library.session()
                return (
                    try await session.download(library.request(), to: .folder(library.files)),
                    try await session.download(held, to: .folder(library.files))
                )
            }
            let (task, paused) = try await start()
            let file = try await task.value
            #expect(file.url.path == library.files.appending(path: "file.bin").path && file.byteCount == content.size)
            #expect(try library.holds(content))
            #expect(try await paused.state == .paused(.user))
            try await paused.resume()
            _ = try await paused.value
            #expect(library.names == ["file.bin", "held.bin"])
        }
    }

    @Test("One call downloads a file, continues the file of a cancelled call, and ends with the error of the download")
    func oneCall() async throws {
        try await withLibrary({ request in
            request.target == "/missing" ? FaultReply(status: 404) : FaultReply(content, etag: "\"v1\"")
        }) { library in
            let (configuration, files) = (library.configuration(), Destination.folder(library.files))
            let url = try #require(URL(string: library.server.url("/file.bin")))
            library.server.holdEnds()
            let cancelled = Task {
                try await DownloadSession.download(url, to: files, configuration: configuration)
            }
            try await library.waitForBeginning(of: content)
            cancelled.cancel()
            await #expect(throws: DownloadError.cancelled) { try await cancelled.value }
            library.server.releaseEnds()
            let file = try await DownloadSession.download(url, to: files, configuration: configuration)
            #expect(file.url.lastPathComponent == "file.bin" && file.byteCount == content.size)
            #expect(try library.holds(content))
            #expect(library.server.log.entries.last?.range?.hasPrefix("bytes=0-") == false)
            let missing = try library.request("/missing")
            await #expect(throws: DownloadError.serverRefused(status: 404, phrase: "Not Found")) {
                try await DownloadSession.download(missing, to: files, configuration: configuration)
            }
        }
    }

    @Test("A body is fetched into memory up to a limit, and no file is written")
    func memory() async throws {
        try await withLibrary(serving: content) { library in
            let url = try #require(URL(string: library.server.url("/a")))
            #expect(try await DownloadSession.data(from: url, limit: 300_000) == Data(content.bytes(0..<content.size)))
            let error = await #expect(throws: DownloadError.self) {
                try await DownloadSession.data(from: url, limit: 299_999)
            }
            guard case .verificationFailed(.unverifiable)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(library.names == [])
        }
    }

    @Test("Configurations: default is recorded, ephemeral leaves nothing behind, background is found by identifier")
    func configurations() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            let first = try await library.session()
            let task = try await first.download(library.request("/a.bin"), to: .folder(library.files))
            #expect(await task.waitForBytes(100_000))
            await first.close()
            let second = try await library.session()
            #expect(try await second.resumable.map(\.request.url.path) == ["/a.bin"])
            await second.close()
            let ephemeral = try await library.session(.ephemeral)
            let unrecorded = try await ephemeral.download(library.request("/b.bin"), to: .folder(library.files))
            #expect(await unrecorded.waitForBytes(100_000))
            try await unrecorded.pause()
            #expect(library.names == ["a.bin.part", "b.bin.part"])
            await ephemeral.close()
            #expect(library.names == ["a.bin.part"])
            library.server.releaseEnds()
            let background = try await library.session(.background(identifier: "org.example.test"))
            let same = try await library.session(.background(identifier: "org.example.test"))
            _ = try await background.download(library.request("/c.bin"), to: .folder(library.files)).value
            #expect(same.identifier == "org.example.test")
            await same.close()
            await background.close()
        }
    }

    @Test("finishAndInvalidate lets every download end, and accepts no more")
    func finishing() async throws {
        try await withLibrary(serving: content) { library in
            var configuration = library.configuration()
            configuration.maxConcurrent = 1
            let session = try await DownloadSession(configuration: configuration)
            let requests = try (1...5).map { try library.request("/\($0).bin") }
            let tasks = try await session.download(requests, to: .folder(library.files))
            try await session.finishAndInvalidate()
            #expect(library.names == (1...5).map { "\($0).bin" })
            #expect(tasks.count == 5)
            await #expect(throws: DownloadError.sessionUnavailable(.shuttingDown)) {
                try await session.download(library.request("/6.bin"), to: .folder(library.files))
            }
        }
    }

    @Test("invalidateAndCancel cancels every download, which can be resumed by a later session")
    func invalidating() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            let session = try await library.session()
            let task = try await session.download(library.request(), to: .folder(library.files))
            #expect(await task.waitForBytes(100_000))
            async let error = failure(of: task)
            try await session.invalidateAndCancel()
            #expect(await error == .cancelled)
            library.server.releaseEnds()
            let later = try await library.session()
            let data = try #require(try await later.resumable.first)
            #expect(data.received >= 100_000)
            _ = try await later.download(resumingWith: data).value
            #expect(try library.holds(content))
            await later.close()
        }
    }

    @Test("SessionDelegate: one sequence of events, which ends with the session and does not keep it alive")
    func events() async throws {
        try await withLibrary(serving: content) { library in
            let session = try await library.session()
            let events = await session.events
            let task = try await session.download(library.request(), to: .folder(library.files))
            _ = try await task.value
            await session.close()
            var names: [String] = []
            for await event in events {
                switch event {
                case .didAdd: names.append("added")
                case .didStart(_, let offset): names.append("started at \(offset)")
                case .didComplete(let snapshot): names.append("completed \(snapshot.file?.lastPathComponent ?? "")")
                default: names.append("\(event)")
                }
            }
            #expect(names == ["added", "started at 0", "completed file.bin"])
            weak var gone: DownloadSession?
            func listen() async throws -> DownloadEvents {
                let session = try await library.session()
                gone = session
                return await session.events
            }
            // If nothing refers to the session, the session closes itself, which ends the sequence.
            for await event in try await listen() { Issue.record("\(event)") }
            #expect(gone == nil)
        }
    }

    @Test("One DownloadTask for each download: a second request for the same file joins the first")
    func joining() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            let (session, other) = (try await library.session(), try await library.session())
            let task = try await session.download(library.request(), to: .folder(library.files))
            let again = try await session.download(library.request(), to: .folder(library.files))
            // The download is also joined by another session, which may be in another process.
            let joined = try await other.download(library.request(), to: .folder(library.files))
            #expect(again.id == task.id && joined.id == task.id)
            library.server.releaseEnds()
            for task in [task, again, joined] { #expect(try await task.value.byteCount == content.size) }
            #expect(library.server.log.entries.count { $0.status == 206 && $0.start == 0 } == 1)
            await other.close()
            await session.close()
        }
    }

    @Test("didResume, didPause, didCancel: each change of state is announced once")
    func announcements() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            let session = try await library.session()
            let task = try await session.download(library.request(), to: .folder(library.files))
            let events = task.events
            #expect(await task.waitForBytes(100_000))
            for _ in 1...2 { try await task.pause() }
            for _ in 1...2 { try await task.resume() }
            #expect(await task.wait(for: .running) != nil)
            for _ in 1...2 { try await task.cancel() }
            await session.close()
            var names: [String] = []
            for await event in events {
                switch event {
                case .didPause: names.append("paused")
                case .didResume: names.append("resumed")
                case .didCancel: names.append("cancelled")
                default: continue
                }
            }
            #expect(names == ["paused", "resumed", "cancelled"])
        }
    }

    @Test("Delegate queues: a session can be used from many tasks at once")
    func concurrency() async throws {
        try await withLibrary(serving: Content(seed: 2, size: 5_000)) { library in
            let session = try await library.session()
            let sizes = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 1...40 {
                    group.addTask {
                        let task = try await session.download(
                            library.request("/\(number).bin"), to: .folder(library.files))
                        return try await task.value.byteCount
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(sizes == 200_000 && library.names.count == 40)
            await session.close()
        }
    }
}
