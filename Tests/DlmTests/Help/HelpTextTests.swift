import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Help", .inTurn, .serialized)
struct HelpTextTests {
    private func text(_ line: String) throws -> String {
        try #require(HelpText.text(line.split(separator: " ").map { String($0) }))
    }

    @Test(
        "The help of dlm and of dlm get fits in 80 columns and 50 lines",
        arguments: ["--help", "get --help", "help", "help get"])
    func fits(line: String) throws {
        let lines = try text(line).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 50)
        for line in lines { #expect(line.count <= 80, "\(line)") }
    }

    @Test("Each command is in one group")
    func groups() throws {
        let names = HelpText.commandGroups.flatMap(\.names)
        #expect(try names.sorted() == CommandDescription.root().visibleCommands.map(\.commandName).sorted())
        let help = try text("help")
        for (title, _) in HelpText.commandGroups { #expect(help.contains("\n\n\(title):\n")) }
    }

    @Test("The short help of get has six examples that can be typed, and fifteen options that exist")
    func short() throws {
        let get = try #require(CommandDescription.root().visibleCommands.first { $0.commandName == "get" })
        #expect(HelpText.examples.count == 6 && HelpText.options.count == 15)
        #expect(HelpText.options.prefix(7).map(\.name) == OptionOrder.first)
        for (name, _) in HelpText.options {
            #expect(get.visibleArguments.contains { $0.isNamed(name) }, "\(name)")
            #expect(try text("get --help").contains("--\(name)"))
        }
        for example in HelpText.examples {
            let words = try #require(DocumentationTests.words(example.command))
            #expect(throws: Never.self, "\(example.command)") { try DLM.command(words) }
        }
    }

    @Test("--help-all has every option of get, and the most used options come first")
    func all() throws {
        let get = try #require(CommandDescription.root().visibleCommands.first { $0.commandName == "get" })
        let all = try text("get --help-all")
        for argument in get.visibleArguments {
            for name in argument.names ?? [] { #expect(all.contains(name.text), "\(name.text)") }
        }
        let places = try OptionOrder.first.map { try #require(all.firstRange(of: "--\($0)")).lowerBound }
        #expect(places == places.sorted())
        for line in all.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        #expect(HelpText.text(["list", "--help"]) == nil)
    }

    @Test("No description has words such as the latter, and each --no-x option has a description of its own")
    func words() throws {
        for command in try CommandDescription.root().visibleCommands {
            for argument in command.visibleArguments {
                let text = argument.abstract ?? ""
                for riddle in [
                    "at first", "the former", "the latter", "unless given", "so many", "so long", "The default",
                ] {
                    #expect(!text.contains(riddle), "\(command.commandName): \(text)")
                }
                guard let name = argument.names?.first?.name, name.hasPrefix("no-") else { continue }
                let positive = command.visibleArguments.first { $0.isNamed(String(name.dropFirst(3))) }
                #expect(positive?.abstract != text, "\(name)")
            }
        }
    }

    @Test("dlm.1 has no headings and no options of the commands, which have pages of their own")
    func root() throws {
        let page = try #require(try ManualPage.all().first { $0.fileName == "dlm.1" }).text
        #expect(!page.contains("dlm dlm") && !page.contains("\\-\\-limit\\-rate") && page.contains(".SH OTHER NAMES"))
    }

    @Test(
        "A description for fish is one short line",
        arguments: [
            ("Use IPv4 alone.", "Use IPv4 alone"),
            ("When the final name is taken: fail, overwrite it", "When the final name is taken"),
            ("Read it (PEM), then; stop.", "Read it"),
            (
                "Look up names and passwords by host in this file that is described by many words",
                "Look up names and passwords by host in this file that is..."
            ),
        ])
    func fish(text: String, clause: String) {
        #expect(FishScript.clause(of: text) == clause)
        let line = "complete -c 'dlm' -l 'x' -d 'The server\\'s name: \(text)' -rfka 'a b'"
        #expect(FishScript.mended(line) == "complete -c 'dlm' -l 'x' -d 'The server\\'s name' -rfka 'a b'")
    }
}
