import DownloadTestSupport
import Testing

@testable import dlm

@Suite("The manual", .inTurn, .serialized)
struct ManualPageTests {
    @Test("Every page has the usual sections and all options")
    func sections() throws {
        let commands = try CommandDescription.root().visibleCommands
        #expect(
            commands.map(\.commandName) == [
                "get", "list", "show", "pause", "resume", "cancel", "remove", "wait", "watch", "events", "limit",
                "priority", "set-url", "verify", "work", "manifest", "daemon", "rpc", "doctor", "config",
            ])
        let pages = try ManualPage.all()
        for page in pages {
            for section in [
                "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "FILES", "ENVIRONMENT",
            ] {
                #expect(page.text.contains("\n.SH \(section)\n"), "\(page.fileName): \(section)")
            }
        }
        for command in commands {
            let page = try #require(pages.first { $0.fileName == "dlm-\(command.commandName).1" })
            for name in command.visibleArguments.flatMap({ $0.names ?? [] }) {
                #expect(page.text.contains(Roff.escaped(name.text)), "\(command.commandName) \(name.text)")
            }
        }
    }

    @Test(
        "Text in a page cannot become a macro", arguments: [(".x", "\\&.x"), ("'x", "\\&'x"), ("a\\b-c", "a\\eb\\-c")])
    func escaping(text: String, roff: String) {
        #expect(Roff.escaped(text) == roff)
    }
}
