import DownloadKit
import DownloadTestSupport
import Foundation
import Testing

@Suite("The library: changes of a download", .inTurn, .timeLimit(.minutes(1)))
struct TaskTests {
    private let content = Content(seed: 31, size: 2 * mebibyte)

    @Test("A paused download takes another priority, speed limit and URL, and continues at the new URL")
    func changes() async throws {
        let date = "Tue, 14 Nov 2023 22:13:20 GMT"
        try await withLibrary({ _ in FaultReply(content, etag: "\"v1\"", lastModified: date) }) { library in
            library.server.holdEnds()
            let session = try await library.session()
            let url = try #require(URL(string: library.server.url("/file.bin")))
            let task = try await session.download(url, to: .folder(library.files))
            #expect(await task.waitForBytes(mebibyte))
            for await progress in session.progress {
                guard let fraction = progress.fraction, fraction > 0 else { continue }
                #expect(fraction < 1)
                break
            }
            try await task.pause()
            #expect(try await task.resumeData?.lastModified == date)
            try await task.setPriority(7)
            try await task.setRateLimit(mebibyte * 100)
            try await task.setURL(#require(URL(string: library.server.url("/moved.bin"))))
            let noURL = try #require(URL(string: "mailto:a@example.org"))
            await #expect(throws: DownloadError.self) { try await task.setURL(noURL) }
            await #expect(throws: DownloadError.self) { try await task.setRateLimit(-1) }
            library.server.releaseEnds()
            try await task.resume()
            let file = try await task.value
            #expect(file.byteCount == content.size)
            #expect(try library.holds(content))
            let requests = library.server.log.entries.map(\.request.target)
            #expect(requests.first == "/file.bin" && requests.last == "/moved.bin")
            await session.close()
        }
    }

    @Test("A request with an impossible number is refused, and nothing is recorded")
    func impossible() async throws {
        try await withLibrary(serving: content) { library in
            let session = try await library.session()
            var request = try library.request()
            request.rateLimit = 0
            await #expect(throws: DownloadError.self) {
                try await session.download(request, to: .folder(library.files))
            }
            request.rateLimit = nil
            request.timeouts.stall = .seconds(-1)
            await #expect(throws: DownloadError.self) {
                try await session.download([library.request("/ok"), request], to: .folder(library.files))
            }
            #expect(try await session.tasks.isEmpty)
            #expect(library.server.log.entries.isEmpty)
            await session.close()
        }
    }

    @Test("A download whose server lost the file continues from the mirrors that the task is given")
    func mirrors() async throws {
        try await withLibrary({ request in
            request.target == "/gone.bin" ? FaultReply(status: 404) : FaultReply(content, etag: "\"v1\"")
        }) { library in
            let session = try await library.session()
            var request = try library.request("/gone.bin")
            request.startsPaused = true
            let task = try await session.download(request, to: .file(library.files.appending(path: "file.bin")))
            let mirror = try #require(URL(string: library.server.url("/mirror.bin")))
            try await task.setMirrors([mirror])
            let noURL = try #require(URL(string: "mailto:a@example.org"))
            await #expect(throws: DownloadError.self) { try await task.setMirrors([noURL]) }
            try await task.resume()
            #expect(try await task.value.byteCount == content.size)
            #expect(try library.holds(content))
            await session.close()
        }
    }

    @Test("pauseAll() and resumeAll() change all downloads of a session, and its limits change while it runs")
    func all() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            let session = try await library.session()
            let tasks = try await session.download(
                ["/a.bin", "/b.bin"].map { try library.request($0) }, to: .folder(library.files))
            for task in tasks { #expect(await task.waitForBytes(100_000)) }
            try await session.pauseAll()
            for task in tasks { #expect(try await task.state == .paused(.user)) }
            try await session.setLimits(maxConcurrent: 1)
            try await session.setRateLimit(mebibyte * 100)
            await #expect(throws: DownloadError.self) { try await session.setLimits(maxPerHost: 0) }
            await #expect(throws: DownloadError.self) { try await session.setRateLimit(0) }
            try await session.resumeAll()
            #expect(await tasks[0].wait(for: .running) == .running)
            #expect(try await tasks[1].state == .queued)
            library.server.releaseEnds()
            for task in tasks { #expect(try await task.value.byteCount == content.size) }
            await session.close()
        }
    }

    @Test("remove() leaves the finished file, and deletes it if asked; the download is no longer known")
    func removal() async throws {
        try await withLibrary(serving: content) { library in
            let session = try await library.session()
            let kept = try await session.download(library.request("/kept.bin"), to: .folder(library.files))
            let deleted = try await session.download(library.request("/deleted.bin"), to: .folder(library.files))
            _ = try await (kept.value, deleted.value)
            try await kept.remove()
            try await deleted.remove(deletingFile: true)
            #expect(library.names == ["kept.bin"])
            await #expect(throws: DownloadError.noSuchDownload(kept.id)) { try await kept.state }
            #expect(try await session.tasks.isEmpty)
            await session.close()
        }
    }
}
