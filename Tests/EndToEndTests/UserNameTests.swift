import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Names from the user", .serialized, .timeLimit(.minutes(1)))
    struct UserNameTests {
        let content = Content("hello\n")

        @Test("-o and -d use a name unchanged, and a terminal shows it escaped")
        func asTheyAre() async throws {
            let names = [
                " ", "...", ".hidden", "~", "*", "$(id)", "a\\b", "a\u{1B}]0;owned\u{7}b\nc", "\u{202E}evil", "x.part",
                "-", "e\u{301}", NameCase.filled(250, "x"), "CON", "100%", "a\u{200B}",
            ]
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let names = FaultTrial.short(names, each: 2)
                for name in names {
                    let plain = try await sandbox.done("get", "-d", "plain", "-o", "./\(name)", server.url())
                    #expect(plain.stdout == sandbox.file("plain/\(name)") + "\n")
                    #expect(try sandbox.root.read("files/plain/\(name)") == "hello\n")
                    let shown = try await sandbox.run("get", "-v", "-d", name, server.url()) { $0.terminalColumns = 80 }
                    #expect(shown.ending == .exited(0), "\(shown.stderr)")
                    #expect(try sandbox.root.read("files/\(name)/file.bin") == "hello\n")
                    #expect(!shown.stderr.contains("\u{7}") && !shown.stderr.contains("\u{202E}"))
                    #expect(!shown.stderr.contains("\u{1B}]"))
                }
                #expect(sandbox.root.names(in: "files/plain").count == names.count)
                let listed = try await sandbox.perform("list", "--all", "--json")
                #expect(!listed.stdout.utf8.contains(0x1B) && !listed.stdout.unicodeScalars.contains("\u{202E}"))
            }
        }

        @Test(
            "An invalid name is refused in one line, and nothing is fetched",
            arguments: [
                (["-o", ""], 2), (["-o", "."], 2), (["-o", ".."], 2), (["-o", "a/.."], 2), (["-o", "a/"], 2),
                (["-o", "/"], 2), (["-o", NameCase.filled(251, "x")], 2), (["-o", "-rf"], 2), (["-d", ""], 2),
                (["-d", NameCase.filled(256, "x")], 3), (["-d", NameCase.filled(5000, "xyz/")], 3),
            ] as [([String], Int32)])
        func refused(options: [String], status: Int32) async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let result = try await sandbox.run(["get"] + options + [server.url()])
                expectFailure(status, of: result, options)
                if status == 2 { #expect(server.log.entries.isEmpty) }
                #expect(sandbox.root.names() == ["config", "files", "home", "state"])
            }
        }

        @Test(
            "Arguments that are not UTF-8 are refused, because they would lead to another name or URL",
            arguments: ["-o caf\\351", "-d d\\377", "SERVER/caf\\351"])
        func bytes(words: String) async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let words = words.replacing("SERVER", with: server.url(""))
                let result = try await sandbox.run("get", server.url()) {
                    $0.runInShell(after: "set -- \"$@\" $(printf -- '\(words)')")
                }
                expectFailure(2, of: result)
                #expect(result.stderr.contains("UTF-8"))
                #expect(sandbox.names.isEmpty && server.log.entries.isEmpty)
                let listed = try await sandbox.run("get", "-i", "list") {
                    $0.runInShell(after: "printf '\(server.url("/caf"))\\351\\n\(server.url("/b"))\\n' > list")
                }
                #expect(listed.ending == .exited(2), "\(listed.stderr)")
                #expect(listed.stderr.hasPrefix("dlm: list:1: is not UTF-8 text"), "\(listed.stderr)")
                #expect(sandbox.names == ["b", "list"])
            }
        }
    }
}
