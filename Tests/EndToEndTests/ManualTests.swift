import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Runs the examples of the manual as they are written, page by page; see ``RecipeTests``.
    @Suite("The examples of the manual", .serialized, .timeLimit(.minutes(3)))
    struct ManualTests {
        static let folder = GeneratedFilesTests.root.appending(path: "man")

        static let pages = (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? []

        /// Returns the commands in the section EXAMPLES of a page, in order.
        static func examples(of page: String) throws -> [String] {
            let text = try String(contentsOf: folder.appending(path: page), encoding: .utf8)
            let section = text.components(separatedBy: "\n.SH ").first { $0.hasPrefix("EXAMPLES\n") } ?? ""
            return section.matches(of: /\n\.nf\n(.+)\n\.fi\n/).map { match in
                String(match.1).replacing("\\-", with: "-").replacing("\\e", with: "\\")
            }
        }

        /// Returns the commands that make the downloads for the examples of a page. Each page needs different
        /// downloads.
        private static func preparation(for page: String) -> String {
            let urls = (1...8).map { "https://example.org/f\($0)" }.joined(separator: " ")
            let held = "dlm get -b --paused \(urls)"
            return switch page {
            case "dlm.1", "dlm-pause.1", "dlm-cancel.1", "dlm-priority.1", "dlm-limit.1", "dlm-resume.1": held
            case "dlm-show.1", "dlm-remove.1", "dlm-wait.1", "dlm-watch.1": "\(held); dlm resume --all; dlm wait --all"
            case "dlm-list.1": "dlm get https://example.org/gone"
            case "dlm-set-url.1": "dlm get -b --paused https://example.org/f1 https://example.org/f2 $iso"
            case "dlm-verify.1":
                "dlm get https://example.org/f1 https://example.org/x.zip; dlm get --checksum-file SHA256SUMS $iso"
            case "dlm-manifest.1": "dlm get -i urls.txt --manifest manifest-0.jsonl"
            default: ":"
            }
        }

        @Test("The examples of a page work, one after the other", arguments: pages)
        func examples(page: String) async throws {
            let examples = try Self.examples(of: page)
            #expect(!examples.isEmpty)
            try await withNginx { sandbox, nginx in
                let proxy = try nginx.proxy()
                defer { proxy.stop() }
                let kitchen = Kitchen(
                    sandbox: sandbox, nginx: nginx, proxy: proxy, recipe: Recipe(title: page, blocks: []))
                try kitchen.prepare()
                for number in 1...8 { try nginx.add(Kitchen.small, as: "f\(number)") }
                try nginx.add(Kitchen.small, as: "x.zip")
                let sums = "\(Kitchen.iso.sha256)  debian-12.iso\n"
                try nginx.add(Content(sums), as: "SHA256SUMS")
                try sandbox.root.write(sums, to: "files/SHA256SUMS")
                try sandbox.root.write("https://example.org/f1\nhttps://example.org/f2\n", to: "files/urls.txt")
                let iso = "iso=https://example.org/debian-12.iso; "
                _ = try await kitchen.type(iso + Self.preparation(for: page))
                let postgres = page == "dlm-work.1" ? try await PostgresServer() : nil
                for example in examples where example != "dlm events | jq -r .event" {
                    let command = example.replacing("sha256:HEX", with: "sha256:\(Kitchen.small.sha256)")
                        .replacing("postgres://db.example.org/dlm", with: "'\(postgres?.url("postgres") ?? "")'")
                    // Each of these examples is for a file that does not exist yet.
                    let start = page == "dlm-get.1" ? "rm -f debian-12.iso; " : "TOKEN=x; "
                    let result = try await kitchen.type(start + "set -o pipefail; " + command)
                    #expect(result.ending == .exited(0), "\(example): \(result.stdout)\(result.stderr)")
                }
                await postgres?.stop()
                if page == "dlm-get.1" {
                    try await kitchen.type("dlm wait --all").expectSuccess()
                    try kitchen.expectFile("debian-12.iso")
                    try kitchen.expectFile("iso/debian.iso")
                    try kitchen.expectFile("data/f2", is: Kitchen.small)
                }
                if page == "dlm-set-url.1" {
                    try await kitchen.type("dlm resume 3; dlm wait 3").expectSuccess()
                    try kitchen.expectFile("debian-12.iso")
                }
            }
        }

        @Test("A pipe from dlm events continues until it is ended")
        func events() async throws {
            #expect(try Self.examples(of: "dlm-events.1").contains("dlm events | jq -r .event"))
            try await withDlm(serving: FaultReply(Content(seed: 1, size: 1000))) { sandbox, server in
                let process = try sandbox.startShell("$dlm events | jq --unbuffered -r .event", shell: "/bin/bash")
                defer { process.send(SIGTERM) }
                // The pipe prints nothing until an event comes after its start, so downloads are added until it prints
                // one.
                var isTold = false
                for number in 1...50 where !isTold {
                    _ = try await sandbox.run("get", server.url("/\(number)"))
                    isTold = process.standardOutput.contains("added\n")
                }
                #expect(isTold)
            }
        }

        @Test("The pages have no errors of markup, and have the usual sections", arguments: pages)
        func lint(page: String) async throws {
            let path = Self.folder.appending(path: page).path
            // The pages have no date, so that they are the same on every day.
            let mandoc = try await ChildProcess(
                ProcessLaunch("/usr/bin/mandoc", ["-T", "lint", "-W", "warning", path])
            )
            .result()
            let complaints = mandoc.outputLines.filter { !$0.contains("missing date") }
            #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
            let shown = try await ChildProcess(ProcessLaunch("/usr/bin/mandoc", ["-T", "utf8", path])).result()
            // Bold letters are printed twice, with a backspace between.
            let text = shown.stdout.replacing(/.\x08/, with: "")
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS", "FILES", "ENVIRONMENT"] {
                #expect(text.contains("\n\(section)\n"), "\(section)")
            }
        }
    }
}
