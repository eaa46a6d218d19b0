import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("The files that `make generate` writes", .serialized, .timeLimit(.minutes(1)))
    struct GeneratedFilesTests {
        /// The root folder of the project.
        static let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

        @Test("The manual pages are up to date with the commands; else run make generate")
        func manual() async throws {
            try await withDlm { sandbox in
                let result = try await sandbox.run("manual", sandbox.files)
                #expect(result.ending == .exited(0), "\(result.stderr)")
                let folder = Self.root.appending(path: "man")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == sandbox.names)
                for name in sandbox.names {
                    let committed = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                    #expect(try sandbox.root.read("files/\(name)") == committed, "man/\(name) is stale")
                }
            }
        }

        @Test(
            "The completions are up to date with the commands; else run make generate",
            arguments: [("bash", "dlm.bash"), ("zsh", "_dlm"), ("fish", "dlm.fish")])
        func completions(shell: String, name: String) async throws {
            try await withDlm { sandbox in
                let result = try await sandbox.run("--generate-completion-script", shell)
                #expect(result.ending == .exited(0), "\(result.stderr)")
                let file = Self.root.appending(path: "completions/\(name)")
                let committed = try String(contentsOf: file, encoding: .utf8)
                #expect(result.stdout == committed, "completions/\(name) is stale")
            }
        }
    }
}
