import CSystem
import DownloadKit
import Foundation
import Glibc

/// The download of a list from a server, with the same retries and checks as other downloads. The bytes of the list go
/// through a pipe to its reader.
enum ListDownload {
    /// Returns whether the value of `-i` is a URL.
    static func isURL(_ place: String) -> Bool {
        guard let mark = place.range(of: "://") else { return false }
        return !place[..<mark.lowerBound].contains("/")
    }

    /// Starts the download. If the pipe is full, the transfer waits for the reader.
    static func begin(_ place: String, _ maker: RequestMaker, in context: Context) throws -> InputList {
        let (url, credential) = try RequestMaker.address(place).get()
        var request = try maker.companion(of: [place])(url)
        if let credential { request.credential = credential }
        // Options about the files do not apply to their list.
        request.connections = 1
        (request.hooks, request.schedule, request.pacing, request.startsPaused) = (nil, nil, nil, false)
        request.followsMetalink = false
        var (readEnd, writeEnd) = (Int32(-1), Int32(-1))
        guard dlm_pipe(&readEnd, &writeEnd) == 0 else {
            throw DownloadError.fileFailed(.system(operation: "pipe", errno: errno), path: url.string)
        }
        let failure = FailureRecord()
        Task.detached { [request, writeEnd] in
            do {
                try await fetch(request, to: writeEnd, in: context)
            } catch let error as DownloadError {
                failure.record(ChecksumFile.Failure(url: url, error: error))
            } catch {
                failure.record(error)
            }
            // The reader gets the error after the bytes that were fetched.
            close(writeEnd)
        }
        return InputList(descriptor: readEnd, name: url.string) { failure.last }
    }

    private static func fetch(_ request: DownloadRequest, to descriptor: Int32, in context: Context) async throws {
        var configuration = SessionConfiguration(kind: .stream(descriptor: descriptor), stateFolder: "")
        configuration.time = context.time
        let service = try await context.open(configuration, context.environment) { [console = context.console] in
            console.report($0)
        }
        do {
            let events = await service.events()
            _ = try await service.add([request])
            try await end(of: events)
            await service.close()
        } catch {
            await service.close()
            throw error
        }
    }

    private static func end(of events: DownloadEvents) async throws {
        for await event in events {
            switch event {
            case .didComplete: return
            case .didFail(_, let error): throw error
            case .didCancel, .didRemove: throw DownloadError.cancelled
            default: continue
            }
        }
        throw DownloadError.sessionUnavailable(.shuttingDown)
    }
}
