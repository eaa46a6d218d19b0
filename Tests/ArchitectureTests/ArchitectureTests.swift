import Testing

@Suite(.serialized) struct ArchitectureTests {
    @Test("The tree keeps every rule", arguments: Rule.all)
    func tree(_ rule: Rule) throws {
        let violations = try SourceTree.files().flatMap(rule.check)
        #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
    }

    @Test("The tree that is checked is the whole one")
    func coverage() throws {
        let files = try SourceTree.files()
        let modules = Set(files.filter { $0.isSource && $0.isSwift }.map(\.module))
        #expect(modules == Set(Rule.walls.keys))
        for path in [
            "Sources/DownloadCore/HTTP/ContentRange.swift", "Sources/CCurl/include/CCurl.h",
            "Sources/CSystem/CSystem.c", "Tests/ArchitectureTests/ArchitectureTests.swift",
        ] {
            #expect(files.contains { $0.path == path && !$0.text.isEmpty }, "\(path)")
        }
    }

    @Test(
        "No wall has a door into another module of ours but DownloadCore, except DownloadKit's and the program's, and to the server"
    )
    func star() {
        for (module, allowed) in Rule.walls where !["DownloadKit", "dlm"].contains(module) {
            // The server on TCP uses the one on the Unix socket, with its own rules before it.
            let shared = module == "DownloadRPC" ? ["DownloadCore", "DownloadControl"] : ["DownloadCore"]
            #expect(allowed.isDisjoint(with: Rule.walls.keys.filter { !shared.contains($0) }), "\(module)")
        }
        #expect(Rule.walls["dlm"]?.intersection(Rule.walls.keys) == ["DownloadKit", "DownloadRPC"])
        #expect(Rule.walls["DownloadCore"]?.isDisjoint(with: ["CCurl", "GRDB", "FlyingFox", "ArgumentParser"]) == true)
    }
}
