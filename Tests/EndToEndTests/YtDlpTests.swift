import DownloadTestSupport
import Foundation
import Synchronization
import Testing

/// The path of yt-dlp, where make drop-in-test has installed it.
private let ytDlp = ProcessInfo.processInfo.environment["DLM_YT_DLP"]

extension EndToEnd {
    /// Tests yt-dlp from PyPI, which make drop-in-test installs.
    @Suite("DropIn: yt-dlp", .serialized, .timeLimit(.minutes(5)), .enabled(if: ytDlp != nil))
    struct YtDlpTests {
        static let content = Content(seed: 252, size: 3 << 20)

        static let page = Content(
            "<!DOCTYPE html><html><head><title>clip</title></head><body><video src='/clip.mp4'></video></body></html>")

        @Test(
            "yt-dlp downloads the video of a page with dlm, over a connection that is cut twice",
            arguments: ["aria2c", "wget"])
        func video(program: String) async throws {
            let cuts = Mutex(0)
            let script: FaultServer.Handler = { request in
                guard request.target == "/clip.mp4" else {
                    return FaultReply(Self.page).with { $0.fields = [("Content-Type", "text/html")] }
                }
                let isCut = request["User-Agent"]?.contains("Mozilla") == true && request["Range"] != nil
                return FaultReply(Self.content, etag: "\"v1\"").with {
                    $0.fields = [("Content-Type", "video/mp4")]
                    let number = cuts.withLock { count in
                        if isCut { count += 1 }
                        return count
                    }
                    if isCut, number <= 2 { $0.cut = .close(after: 1 << 20) }
                }
            }
            try await withDlm(script) { sandbox, server in
                let links = try DropInTests.links(in: sandbox)
                var launch = try sandbox.launch([
                    "--downloader", program, "--no-cache-dir", "--no-mtime", "-o", "v [%(id)s].%(ext)s",
                    server.url("/page"),
                ])
                launch.executable = try #require(ytDlp)
                launch.environment["PATH"] = "\(links):/usr/bin:/bin"
                let result = try await ChildProcess(launch).result()
                #expect(result.ending == .exited(0), "\(result.stdout) \(result.stderr)")
                // The download in the store shows that dlm fetched the file, and not a downloader of yt-dlp.
                #expect(try await sandbox.list().map(\.state) == ["completed"], "\(result.stdout)")
                let name = try #require(sandbox.names.first, "\(result.stdout)")
                #expect(sandbox.names.count == 1 && name.hasSuffix(".mp4"), "\(sandbox.names)")
                try expectFile(Self.content, name, in: sandbox)
                #expect(cuts.withLock { $0 } >= 3)
            }
        }
    }
}
