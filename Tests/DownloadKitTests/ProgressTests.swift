import DownloadKit
import DownloadTestSupport
import Foundation
import Testing

@Suite("The library: progress and metrics", .inTurn, .timeLimit(.minutes(1)))
struct ProgressTests {
    private let content = Content(seed: 11, size: mebibyte)

    @Test("URLSessionTaskMetrics: each attempt has its own metrics")
    func metrics() async throws {
        let content = content
        try await withLibrary({ request in
            // The first attempt brings bytes, and then the server is busy.
            request.number == 2
                ? FaultReply(status: 503)
                : FaultReply(content, etag: "\"v1\"").with {
                    if request.number == 1 { $0.cut = .close(after: 300_000) }
                }
        }) { library in
            let session = try await library.session()
            var request = try library.request()
            request.connections = 1
            request.retry.delay = .seconds(0)
            let file = try await session.download(request, to: .folder(library.files)).value
            #expect(file.attempts.count == 2 && file.attempts.first?.received == 300_000)
            for attempt in file.attempts {
                let metrics = try #require(attempt.metrics)
                #expect(metrics.remoteAddress == "127.0.0.1" && metrics.httpVersion == "1.1")
                #expect(metrics.firstByte > 0 && metrics.total >= metrics.firstByte)
            }
            #expect(file.metrics == file.attempts.last?.metrics)
            #expect(file.response.url.string == library.server.url() && file.response.etag == "\"v1\"")
            #expect(file.response.acceptsRanges)
            await session.close()
        }
    }

    @Test("didWriteData, didResumeAtOffset: progress counts the bytes on disk, and ends with the download")
    func progress() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            let session = try await library.session()
            let task = try await session.download(library.request(), to: .folder(library.files))
            #expect(await task.waitForBytes(500_000))
            try await task.pause()
            let events = task.events
            library.server.releaseEnds()
            let progress = task.progress
            try await task.resume()
            for await event in events {
                guard case .didStart(let snapshot, let offset) = event else { continue }
                #expect(offset >= 500_000 && snapshot.progress.total == content.size)
                break
            }
            var last: DownloadProgress?
            for await element in progress {
                #expect(element.received >= 500_000)
                last = element
            }
            #expect(last?.state == .completed && last?.received == content.size && last?.fraction == 1)
            await session.close()
        }
    }

    @Test("As in the library Tiercel: speed and time left of a download, and the total of a session")
    func speed() async throws {
        let content = content
        // The transfer takes about a quarter of a minute.
        try await withLibrary({ _ in
            FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = 60_000 }
        }) { library in
            library.server.holdEnds()
            let session = try await library.session()
            let totals = session.progress
            var request = try library.request()
            request.connections = 1
            let task = try await session.download(request, to: .folder(library.files))
            var measured: DownloadProgress?
            for await progress in task.progress where progress.speed != nil && progress.timeLeft != nil {
                measured = progress
                break
            }
            #expect(measured.map { ($0.speed ?? 0) > 0 && ($0.timeLeft ?? .zero) > .zero } == true)
            let json = try JSONEncoder().encode(measured)
            #expect(String(decoding: json, as: UTF8.self).contains(/"secondsLeft":[0-9.]+[,}]/))
            #expect(try JSONDecoder().decode(DownloadProgress.self, from: json) == measured)
            try await task.pause()
            library.server.change(to: content, etag: "\"v1\"")
            library.server.releaseEnds()
            try await task.resume()
            _ = try await task.value
            var sum: SessionProgress?
            for await total in totals where total.completed == 1 {
                sum = total
                break
            }
            #expect(sum?.received == content.size && sum?.total == content.size && sum?.active == 0)
            await session.close()
        }
    }

    @Test("URLSessionTask.progress: a Progress is finished with the file, and pauses and cancels the download")
    func foundation() async throws {
        let (content, empty) = (content, Content(seed: 1, size: 0))
        try await withLibrary({ request in
            FaultReply(request.target == "/empty" ? empty : content, etag: "\"v1\"")
        }) { try await follow($0) }
    }

    @MainActor private func follow(_ library: Library) async throws {
        library.server.holdEnds()
        let session = try await library.session()
        let task = try await session.download(library.request(), to: .folder(library.files))
        let (parent, progress) = (Progress(totalUnitCount: 1), task.makeProgress())
        #expect(progress.isIndeterminate && progress.kind == .file)
        parent.addChild(progress, withPendingUnitCount: 1)
        while progress.isIndeterminate || progress.completedUnitCount < 500_000 { await Task.yield() }
        #expect(progress.totalUnitCount == content.size)
        #expect(parent.fractionCompleted > 0 && !parent.isFinished)
        parent.pause()
        #expect(await task.wait(for: .paused) != nil)
        library.server.releaseEnds()
        parent.resume()
        _ = try await task.value
        while !parent.isFinished { await Task.yield() }
        #expect(progress.completedUnitCount == content.size)

        let small = try await session.download(library.request("/empty"), to: .folder(library.files)).makeProgress()
        while !small.isFinished { await Task.yield() }

        var request = try library.request("/paused.bin")
        request.startsPaused = true
        let paused = try await session.download(request, to: .folder(library.files))
        let follower = paused.makeProgress()
        paused.makeProgress().cancel()
        #expect(await failure(of: paused) == .cancelled)
        while !follower.isCancelled { await Task.yield() }
        #expect(!follower.isFinished)
        await session.close()
    }

    @Test("As in the library Tiercel: the tasks of each session, one store for several sessions, validation by digest")
    func digests() async throws {
        try await withLibrary(serving: content) { library in
            let (one, two) = (try await library.session(), try await library.session())
            #expect(one.identifier != two.identifier)
            // The store has the downloads of both sessions, but each session only lists its own.
            var paused = try (library.request("/one.bin"), library.request("/two.bin"))
            (paused.0.startsPaused, paused.1.startsPaused) = (true, true)
            let ofOne = try await one.download(paused.0, to: .folder(library.files))
            let ofTwo = try await two.download(paused.1, to: .folder(library.files))
            #expect(try await one.tasks.map(\.id) == [ofOne.id])
            #expect(try await two.tasks.map(\.id) == [ofTwo.id])
            var right = try library.request("/right.bin")
            right.checksum = Checksum(algorithm: .sha256, digest: content.sha256)
            let file = try await one.download(right, to: .folder(library.files)).value
            #expect(file.verified == VerifiedChecksum(Checksum(algorithm: .sha256, digest: content.sha256), by: .user))
            var wrong = try library.request("/wrong.bin")
            wrong.checksum = Checksum(algorithm: .md5, digest: String(repeating: "0", count: 32))
            let task = try await two.download(wrong, to: .folder(library.files))
            guard case .verificationFailed(.checksum)? = await failure(of: task) else {
                Issue.record("a wrong digest was accepted")
                return
            }
            #expect(try await task.state.kind == .failed)
            #expect(!library.names.contains("wrong.bin"))
            await one.close()
            await two.close()
        }
    }
}
