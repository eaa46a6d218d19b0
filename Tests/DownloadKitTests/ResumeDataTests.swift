import DownloadKit
import DownloadTestSupport
import Foundation
import Testing

@Suite("The library: resume data", .inTurn, .timeLimit(.minutes(1)))
struct ResumeDataTests {
    private let content = Content(seed: 21, size: 2 * mebibyte)

    /// Cancels a download once half of the file is on disk, in a session that ends with the download.
    private func cancelled(_ library: Library, _ request: DownloadRequest) async throws -> ResumeData {
        library.server.holdEnds()
        defer { library.server.releaseEnds() }
        let session = try await library.session()
        let task = try await session.download(request, to: .folder(library.files))
        #expect(await task.waitForBytes(mebibyte))
        let data = try #require(try await task.cancel())
        #expect(data == (try await task.resumeData))
        await session.close()
        return data
    }

    @Test(
        "cancel(byProducingResumeData:), downloadTask(withResumeData:): bytes on disk are not fetched again")
    func resuming() async throws {
        try await withLibrary(serving: content) { library in
            let data = try await cancelled(library, library.request())
            #expect(data.received >= mebibyte && data.total == content.size && data.etag == "\"v1\"")
            let kept = try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(data))
            #expect(kept.partialFile?.path == library.root("files/file.bin.part"))
            let later = try await library.session()
            let before = library.server.log.bytesSent
            let file = try await later.download(resumingWith: kept).value
            #expect(file.byteCount == content.size)
            #expect(try library.holds(content))
            #expect(library.server.log.bytesSent - before < content.size * 3 / 4)
            await later.close()
        }
    }

    @Test("Resume data works in a session that does not know the download")
    func otherStore() async throws {
        try await withLibrary(serving: content) { library in
            let data = try await cancelled(library, library.request())
            let before = library.server.log.bytesSent
            let session = try await library.session(.ephemeral)
            _ = try await session.download(resumingWith: data).value
            #expect(try library.holds(content))
            #expect(library.server.log.bytesSent - before < content.size * 3 / 4)
            #expect(library.names == ["file.bin"])
            await session.close()
        }
    }

    @Test("The resume data of a failed download can be resumed")
    func failed() async throws {
        let content = content
        try await withLibrary({ _ in
            FaultReply(content, etag: "\"v1\"").with { $0.cut = .close(after: mebibyte) }
        }) { library in
            let session = try await library.session()
            var request = try library.request()
            request.retry.limit = 0
            request.connections = 1
            let task = try await session.download(request, to: .folder(library.files))
            guard case .networkFailed(.connectionLost, _)? = await failure(of: task) else {
                Issue.record("the lost connection was not reported")
                return
            }
            let data = try #require(try await task.resumeData)
            #expect(data.received == mebibyte)
            library.server.change(to: content, etag: "\"v1\"")
            _ = try await session.download(resumingWith: data).value
            #expect(try library.holds(content))
            await session.close()
        }
    }

    @Test("If the Swift task that waits for a file is cancelled, the download is cancelled and its resume data kept")
    func cancellation() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            let session = try await library.session()
            let task = try await session.download(library.request(), to: .folder(library.files))
            let waiting = Task { try await task.value }
            #expect(await task.waitForBytes(mebibyte))
            waiting.cancel()
            await #expect(throws: DownloadError.cancelled) { try await waiting.value }
            #expect(try await task.state == .cancelled)
            #expect(try #require(try await task.resumeData).received >= mebibyte)
            library.server.releaseEnds()
            try await task.resume()
            _ = try await task.value
            #expect(try library.holds(content))
            await session.close()
        }
    }

    @Test("Resume data has no passwords, so a resumed download must be given them again")
    func secrets() async throws {
        let content = content
        try await withLibrary({ request in
            request["Authorization"] == "Basic YW5uOnNlY3JldHdvcmQ="
                ? FaultReply(content, etag: "\"v1\"") : FaultReply(status: 401)
        }) { library in
            var request = try library.request()
            request.credential = Credential(user: "ann", password: "secretword")
            let data = try JSONEncoder().encode(try await cancelled(library, request))
            #expect(!String(decoding: data, as: UTF8.self).contains("secretword"))
            let kept = try JSONDecoder().decode(ResumeData.self, from: data)
            let session = try await library.session()
            let without = try await session.download(resumingWith: kept)
            #expect(await failure(of: without) == .requestInvalid(.missingSecrets(["the password of ann"])))
            let again = try await session.download(resumingWith: kept, credential: request.credential)
            _ = try await again.value
            #expect(try library.holds(content))
            await session.close()
        }
    }

    @Test("Resume data whose file lies outside of its folder is refused")
    func hostile() async throws {
        try await withLibrary(serving: content) { library in
            let data = try JSONEncoder().encode(try await cancelled(library, library.request()))
            let text = String(decoding: data, as: UTF8.self)
                .replacing("\"fileName\":\"file.bin\"", with: "\"fileName\":\"..\\/file.bin\"")
            let hostile = try JSONDecoder().decode(ResumeData.self, from: Data(text.utf8))
            let session = try await library.session()
            await #expect(throws: DownloadError.unexpected("the resume data is damaged")) {
                try await session.download(resumingWith: hostile)
            }
            await session.close()
        }
    }
}
