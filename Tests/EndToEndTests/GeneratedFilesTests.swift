import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("The completions that the program prints", .serialized, .timeLimit(.minutes(1)))
    struct GeneratedFilesTests {
        /// The root folder of the project.
        static let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

        @Test(
            "The program prints the completions in completions/; else run make generate",
            arguments: [("bash", "dlm.bash"), ("zsh", "_dlm"), ("fish", "dlm.fish")])
        func completions(shell: String, name: String) async throws {
            try await withDlm { sandbox in
                let result = try await sandbox.done("--generate-completion-script", shell)
                let file = Self.root.appending(path: "completions/\(name)")
                let committed = try String(contentsOf: file, encoding: .utf8)
                #expect(result.stdout == committed, "completions/\(name) is stale")
            }
        }
    }
}
