import Dispatch
import Foundation

#if canImport(DownloadKit)
    import DownloadKit
#endif

/// Downloads one file with the same code on Linux and on Apple's platforms: `portable URL FILE`. SIGINT stops the
/// download, and leaves its resume data in `FILE.resume`. The next call continues with the data.
@main
struct Portable {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let url = URL(string: arguments[1]) else { fatalError("usage: portable URL FILE") }
        let file = URL(fileURLWithPath: arguments[2])
        #if canImport(DownloadKit)
            let session = try await DownloadSession()
        #else
            let session = URLSession.shared
        #endif
        let (interrupts, interrupt) = AsyncStream.makeStream(of: Void.self)
        let source = await onInterrupt { interrupt.yield() }
        let work = Task { try await fetch(url, to: file, with: session) }
        Task { for await _ in interrupts { work.cancel() } }
        let result = await work.result
        source.cancel()
        #if canImport(DownloadKit)
            await session.close()
        #endif
        try result.get()
    }

    /// Downloads the file, or continues its download. Knows nothing of the downloader but the protocol.
    static func fetch(_ url: URL, to file: URL, with downloader: any Downloading) async throws {
        let kept = file.appendingPathExtension("resume")
        do {
            try await downloader.download(url, to: file, resumingWith: try? Data(contentsOf: kept)) { received, total in
                print("\(received) of \(total.map(String.init) ?? "?") bytes")
            }
            try? FileManager.default.removeItem(at: kept)
        } catch let error as Interrupted {
            try error.resumeData?.write(to: kept)
            throw error.reason
        }
    }

    /// Calls an action at each SIGINT. Returns when Dispatch watches the signal.
    static func onInterrupt(_ action: @escaping @Sendable () -> Void) async -> any DispatchSourceSignal {
        // On Apple's platforms, Dispatch leaves the default action of the signal as it is, which ends the program.
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT)
        source.setEventHandler(handler: action)
        await withCheckedContinuation { continuation in
            source.setRegistrationHandler { continuation.resume() }
            source.resume()
        }
        return source
    }
}
