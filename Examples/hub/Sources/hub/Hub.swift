import DownloadKit
import Foundation

/// Downloads the files of a model from a server like the Hugging Face Hub: `hub SERVER MODEL REVISION FOLDER`.
///
/// A revision such as `main` moves, so the program asks for its commit first, and stores the files in a folder with the
/// name of the commit. If the program is started again, it continues incomplete files and skips complete files.
///
/// The server redirects a request for a large file to a store, with a signed link. The redirect has the SHA-256 digest
/// of the file in `X-Linked-Etag`. DownloadKit compares the digest before the file gets its name, and requests a new
/// link if the link has expired. DownloadKit does not send the token in `HF_TOKEN` to the store.
@main
struct Hub {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5 else { fatalError("usage: hub SERVER MODEL REVISION FOLDER") }
        let (server, model) = (arguments[1], arguments[2])
        let list = try request("\(server)/api/models/\(model)/revision/\(arguments[3])")
        let commit = try JSONDecoder().decode(Commit.self, from: await DownloadSession.data(for: list, limit: 64 << 20))
        try commit.check()
        let folder = URL(fileURLWithPath: arguments[4], isDirectory: true).appending(path: commit.sha)

        let session = try await DownloadSession()
        var tasks: [DownloadTask] = []
        for name in commit.siblings.map(\.rfilename) {
            let path = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
            let file = try request("\(server)/\(model)/resolve/\(commit.sha)/\(path)")
            tasks.append(try await session.download(file, to: .file(folder.appending(path: name), ifExists: .skip)))
        }
        for task in tasks {
            let file = try await task.value
            print("\(file.url.path): \(file.byteCount) bytes, \(file.verified?.checksum.description ?? "no digest")")
        }
        await session.close()
    }

    static func request(_ url: String) throws -> DownloadRequest {
        let request = try DownloadRequest(url)
        guard let token = ProcessInfo.processInfo.environment["HF_TOKEN"] else { return request }
        return request.header("Authorization", "Bearer \(token)")
    }
}

/// The server's description of a commit.
struct Commit: Decodable {
    struct File: Decodable { let rfilename: String }
    struct UnusableName: Error { let name: String }

    /// The identifier of the commit.
    let sha: String
    /// All files of the commit.
    let siblings: [File]

    /// Throws an error if a name leads out of the folder.
    func check() throws {
        for name in [sha] + siblings.map(\.rfilename) {
            let parts = name.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.allSatisfy({ !["", ".", ".."].contains($0) }) else { throw UnusableName(name: name) }
        }
    }
}
