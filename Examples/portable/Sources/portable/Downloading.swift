import Foundation

#if canImport(DownloadKit)
    import DownloadKit
#endif

/// The part of a downloader that this program needs. `URLSession` has it on Apple's platforms, and `DownloadSession` on
/// Linux.
protocol Downloading: Sendable {
    /// Downloads a file. If the Swift task is cancelled, the download is cancelled, too.
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - file: The place of the finished file. An existing file is replaced.
    ///   - resumeData: The resume data of an earlier call for the same file; nil to begin.
    ///   - progress: Is called with the number of bytes so far, and the size of the file if it is known.
    /// - Throws: ``Interrupted``.
    func download(
        _ url: URL, to file: URL, resumingWith resumeData: Data?,
        progress: @escaping @Sendable (_ received: Int64, _ total: Int64?) -> Void
    ) async throws
}

/// A download that was cancelled or has failed.
struct Interrupted: Error {
    /// The bytes with which the same downloader continues, also in a later process; nil if it has to begin again.
    let resumeData: Data?
    let reason: any Error
}

#if canImport(DownloadKit)
    extension DownloadSession: Downloading {
        func download(
            _ url: URL, to file: URL, resumingWith resumeData: Data?,
            progress: @escaping @Sendable (_ received: Int64, _ total: Int64?) -> Void
        ) async throws {
            let task =
                if let resumeData {
                    try await download(resumingWith: JSONDecoder().decode(ResumeData.self, from: resumeData))
                } else {
                    try await download(url, to: .file(file, ifExists: .overwrite))
                }
            let reports = Task { for await now in task.progress { progress(now.received, now.total) } }
            do { _ = try await task.value } catch {
                // The current task may be cancelled, so the call needs a new task.
                let data = try? await Task { try await task.resumeData }.value
                throw Interrupted(resumeData: try data.map(JSONEncoder().encode), reason: error)
            }
            await reports.value
        }
    }
#else
    extension URLSession: Downloading {
        func download(
            _ url: URL, to file: URL, resumingWith resumeData: Data?,
            progress: @escaping @Sendable (_ received: Int64, _ total: Int64?) -> Void
        ) async throws {
            let (results, continuation) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
            let finish = { @Sendable (temporary: URL?, response: URLResponse?, error: (any Error)?) -> Void in
                // The temporary file is deleted when this closure returns.
                continuation.yield(Result { try Self.move(temporary, response, error, to: file) })
            }
            let task =
                resumeData.map { downloadTask(withResumeData: $0, completionHandler: finish) }
                ?? downloadTask(with: url, completionHandler: finish)
            let observation = task.progress.observe(\.completedUnitCount) { now, _ in
                progress(now.completedUnitCount, now.isIndeterminate ? nil : now.totalUnitCount)
            }
            defer { observation.invalidate() }
            task.resume()
            let result = await withTaskCancellationHandler {
                // A new task, because the results are wanted after the cancellation, too.
                await Task { await results.first { _ in true } }.value
            } onCancel: {
                // The resume data is in the error that the closure above is given.
                task.cancel { _ in }
            }
            do { try result?.get() } catch {
                let data = (error as NSError).userInfo[NSURLSessionDownloadTaskResumeData] as? Data
                throw Interrupted(resumeData: data, reason: error)
            }
        }

        private static func move(
            _ temporary: URL?, _ response: URLResponse?, _ error: (any Error)?, to file: URL
        ) throws {
            if let error { throw error }
            // URLSession counts every answer as success.
            guard let temporary, let status = (response as? HTTPURLResponse)?.statusCode, 200..<300 ~= status else {
                throw URLError(.badServerResponse)
            }
            try? FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(at: temporary, to: file)
        }
    }
#endif
