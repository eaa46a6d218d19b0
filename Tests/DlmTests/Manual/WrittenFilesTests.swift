import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

/// `make generate` runs this suite with `DLM_WRITE_DOCUMENTS`. Then each test writes its files anew before it compares them.
@Suite("The files that `make generate` writes", .inTurn, .serialized)
struct WrittenFilesTests {
    private func compare(_ path: String, with text: String) throws {
        if ProcessInfo.processInfo.environment["DLM_WRITE_DOCUMENTS"] != nil {
            try Data(text.utf8).write(to: DocumentationTests.root.appending(path: path))
        }
        #expect(try DocumentationTests.text(path) == text, "\(path) is stale; run: make generate")
    }

    @Test("The manual pages are up to date with the commands")
    func manual() throws {
        let pages = try ManualPage.all()
        for page in pages { try compare("man/\(page.fileName)", with: page.text) }
        let folder = DocumentationTests.root.appending(path: "man").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == pages.map(\.fileName).sorted())
    }

    @Test(
        "The completions are up to date with the commands",
        arguments: [("bash", "dlm.bash"), ("zsh", "_dlm"), ("fish", "dlm.fish")])
    func completions(shell: String, name: String) throws {
        let words = ["--generate-completion-script", shell]
        let request = try #require(throws: (any Error).self) { try DLM.command(words) }
        let report = UsageReport(request, arguments: words)
        #expect(report.status == 0)
        try compare("completions/\(name)", with: report.message + "\n")
    }

    @Test("docs/drop-in.md is up to date with the tables")
    func dropIn() throws { try compare("docs/drop-in.md", with: DropInPage.text) }
}
