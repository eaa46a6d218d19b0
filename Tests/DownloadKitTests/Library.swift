import DownloadKit
import DownloadTestSupport
import Foundation

/// The library from the view of its user, with its own home folder and a fault server.
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

    func holds(_ content: Content, _ name: String = "file.bin") throws -> Bool {
        try sha256(of: root("files/\(name)")) == content.sha256
    }
}

/// Runs a test with its own home folder.
func withLibrary(
    _ handler: @escaping FaultServer.Handler, tls: FaultServer.Security? = nil, _ body: (Library) async throws -> Void
) async throws {
    let library = Library(root: try TemporaryFolder(), server: try FaultServer(tls: tls, handler))
    defer {
        library.server.stop()
        library.root.remove()
    }
    try await body(library)
}

func withLibrary(serving content: Content, _ body: (Library) async throws -> Void) async throws {
    try await withLibrary({ _ in FaultReply(content, etag: "\"v1\"") }, body)
}

extension DownloadTask {
    /// Waits until this number of bytes is present.
    func waitForBytes(_ count: Int64) async -> Bool {
        for await progress in self.progress where progress.received >= count { return true }
        return false
    }

    /// Waits until the download is in one of these states.
    func wait(for kinds: DownloadState.Kind...) async -> DownloadState? {
        for await progress in self.progress where kinds.contains(progress.state.kind) { return progress.state }
        return nil
    }
}

/// Returns the error with which a download ends, or nil if it completes.
func failure(of task: DownloadTask) async -> DownloadError? {
    do {
        _ = try await task.value
        return nil
    } catch {
        return error as? DownloadError
    }
}

let mebibyte: Int64 = 1 << 20
