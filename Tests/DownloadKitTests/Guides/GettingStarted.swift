import DownloadKit
import Foundation

/// The code of GettingStarted.md, compiled. A test compares the two.
private enum GettingStarted {
    static func single(url: URL, folder: URL) async throws {
        let file = try await DownloadSession.download(url, to: .folder(folder))
        print(file.url, file.byteCount, file.response.contentType ?? "")
    }

    static func memory(url: URL) async throws -> Data {
        let body = try await DownloadSession.data(from: url, limit: 1_000_000)
        return body
    }

    static func first(folder: URL) async throws {
        let session = try await DownloadSession(configuration: .default)
        let task = try await session.download(
            DownloadRequest("https://example.org/file.iso"), to: .folder(folder))
        for await progress in task.progress {
            print(progress.fraction ?? 0, progress.speed ?? 0, progress.timeLeft ?? .zero)
        }
        let file = try await task.value
        print(file.url, file.byteCount, file.response.contentType ?? "")
        try await session.finishAndInvalidate()
    }

    static func request() throws -> DownloadRequest {
        var request = try DownloadRequest("https://example.org/file.iso")
            .header("Accept-Language", "de")
            .parameters(["version": "12"])
            .validate(contentTypes: ["application/*"], maximumSize: 5_000_000_000)
        request.checksum = Checksum("sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
        request.credential = Credential(user: "ann", password: "secret")
        request.retry.limit = 10
        request.timeouts.stall = .seconds(60)
        request.connections = .upTo(4)
        return request
    }

    static func sources(of request: inout DownloadRequest, listURL: URL) async throws {
        let body = try await DownloadSession.data(from: listURL, limit: 1 << 20)
        request.checksums = try ChecksumList(body, source: listURL.absoluteString)
        request.mirrors = [try SourceURL("https://mirror.example.org/file.iso")]
    }

    static func metalink(session: DownloadSession, document: URL, folder: URL) async throws {
        let metalink = try Metalink(Data(contentsOf: document), name: document.path)
        for task in try await session.download(metalink, to: .folder(folder)) {
            print(try await task.value.url)
        }
    }

    static func limits(session: DownloadSession) async throws {
        try await session.setLimits(maxConcurrent: 2)
        try await session.setRateLimit(5_000_000)
        try await session.pauseAll()
        try await session.resumeAll()
    }

    static func destinations(session: DownloadSession, request: DownloadRequest, folder: URL) async throws {
        _ = try await session.download(request, to: .folder(folder))
        _ = try await session.download(request, to: .file(folder.appending(path: "debian.iso"), ifExists: .overwrite))
    }

    static func control(task: DownloadTask) async throws {
        try await task.pause()
        try await task.resume()
        try await task.setRateLimit(1_000_000)
        let resumeData = try await task.cancel()
        print(resumeData?.received ?? 0)
    }

    static func failures(task: DownloadTask) async throws {
        do {
            print(try await task.value.url)
        } catch DownloadError.serverRefused(let status, _) {
            print("the server answered with \(status)")
        } catch DownloadError.verificationFailed(let reason) {
            print("not the file that was asked for: \(reason)")
        } catch let error as DownloadError where error.isTransient {
            print("worth another try later: \(error)")
        }
    }

    static func many(session: DownloadSession, urls: [String], folder: URL) async throws {
        let requests = try urls.map { try DownloadRequest($0) }
        let tasks = try await session.download(requests, to: .folder(folder))
        try await withThrowingTaskGroup(of: DownloadedFile.self) { group in
            for task in tasks { group.addTask { try await task.value } }
            for try await file in group { print(file.url.path) }
        }
    }
}
