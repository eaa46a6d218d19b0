import DownloadKit
import DownloadTestSupport
import Foundation

/// The library as its user sees it, in a folder of its own, with a fault server.
struct Library: Sendable {
    let root: TemporaryFolder
    let server: FaultServer

    var files: URL { URL(fileURLWithPath: root("files"), isDirectory: true) }
    var names: [String] { root.names(in: "files") }

    func configuration(_ configuration: SessionConfiguration = .default) -> SessionConfiguration {
        var configuration = configuration
        configuration.stateFolder = root("state")
        return configuration
    }

    func session(_ configuration: SessionConfiguration = .default) async throws -> DownloadSession {
        try await DownloadSession(configuration: self.configuration(configuration))
    }

    func request(_ path: String = "/file.bin") throws -> DownloadRequest { try DownloadRequest(server.url(path)) }

    /// Waits until the beginning of the content is in the partial file.
    func waitForBeginning(of content: Content, _ name: String = "file.bin") async throws {
        let beginning = Data(content.bytes(0..<100))
        while true {
            let file = FileHandle(forReadingAtPath: root("files/\(name).part"))
            if try file?.read(upToCount: beginning.count) == beginning { return }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    func holds(_ content: Content, _ name: String = "file.bin") throws -> Bool {
        try sha256(of: root("files/\(name)")) == content.sha256
    }
}

/// Runs a test with a folder and a fault server of its own.
func withLibrary(
    _ handler: @escaping FaultServer.Handler, tls: FaultServer.Security? = nil, _ body: (Library) async throws -> Void
) async throws {
    let library = Library(root: try TemporaryFolder(), server: try FaultServer(tls: tls, handler))
    defer { library.server.stop() }
    try await body(library)
}

func withLibrary(serving content: Content, _ body: (Library) async throws -> Void) async throws {
    try await withLibrary({ _ in FaultReply(content, etag: "\"v1\"") }, body)
}

extension DownloadTask {
    /// Waits until `count` bytes are on disk. Returns false if the progress ends before.
    func waitForBytes(_ count: Int64) async -> Bool {
        for await progress in self.progress where progress.received >= count { return true }
        return false
    }

    /// Waits until the download is in one of these states. Returns nil if the progress ends before.
    func wait(for kinds: DownloadState.Kind...) async -> DownloadState? {
        for await progress in self.progress where kinds.contains(progress.state.kind) { return progress.state }
        return nil
    }
}

/// Returns the error that ends a download, or nil if it completes.
func failure(of task: DownloadTask) async -> DownloadError? {
    do {
        _ = try await task.value
        return nil
    } catch {
        return error as? DownloadError
    }
}

let mebibyte: Int64 = 1 << 20
