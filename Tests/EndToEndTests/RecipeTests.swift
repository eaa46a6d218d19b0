import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Runs the recipes of the README as they are written. `https://example.org` is an nginx behind a proxy of the
    /// test. The shell is bash, and a line of a crontab runs with the environment of cron.
    @Suite("Recipes of the README", .serialized, .timeLimit(.minutes(3)))
    struct RecipeTests {
        @Test("Each recipe has a test, and each test has a recipe")
        func titles() throws {
            #expect(try Recipe.all().map(\.title) == RecipeCase.all.map(\.title))
        }

        @Test("Recipe", arguments: RecipeCase.all)
        func recipe(_ recipeCase: RecipeCase) async throws {
            let recipe = try #require(try Recipe.all().first { $0.title == recipeCase.title })
            try await withNginx { sandbox, nginx in
                let proxy = try nginx.proxy()
                defer { proxy.stop() }
                let kitchen = Kitchen(sandbox: sandbox, nginx: nginx, proxy: proxy, recipe: recipe)
                try kitchen.prepare()
                try await recipeCase.check(kitchen)
            }
        }
    }
}

/// One recipe of the README.
struct Recipe {
    let title: String
    /// The fenced blocks with their languages: `sh` is typed, `crontab` is run by cron, and any other block is a file.
    let blocks: [(language: String, text: String)]

    static func all() throws -> [Recipe] {
        let readme = try String(
            contentsOf: EndToEnd.GeneratedFilesTests.root.appending(path: "README.md"), encoding: .utf8)
        let section = readme.components(separatedBy: "\n## ").first { $0.hasPrefix("Recipes\n") } ?? ""
        return section.components(separatedBy: "\n### ").dropFirst().map { text in
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            var blocks: [(language: String, text: String)] = []
            var open: (language: String, lines: [Substring])?
            for line in lines.dropFirst() {
                if let block = open, line == "```" {
                    blocks.append((block.language, block.lines.map { $0 + "\n" }.joined()))
                    open = nil
                } else if open != nil {
                    open?.lines.append(line)
                } else if line.hasPrefix("```") {
                    open = (String(line.dropFirst(3)), [])
                }
            }
            return Recipe(title: String(lines[0]), blocks: blocks)
        }
    }

    func block(_ language: String) throws -> String {
        try #require(blocks.first { $0.language == language }?.text, "\(title): no block of \(language)")
    }

    /// Returns the commands of the crontab, in order.
    func cronCommands() throws -> [String] {
        try block("crontab").split(separator: "\n").map { line in
            line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true).last.map(String.init) ?? ""
        }
    }
}

/// The surroundings in which a recipe is tested.
struct Kitchen {
    let sandbox: DlmSandbox
    let nginx: Nginx
    let proxy: TunnelProxy
    let recipe: Recipe

    static let iso = Content(seed: 1, size: 300_000)
    static let small = Content("a,b\n1,2\n")

    func prepare() throws {
        for name in ["debian-12.iso", "backup.tar", "report.zip"] { try nginx.add(Self.iso, as: name) }
        try nginx.add(Self.small, as: "prices.csv")
        // The folder contains only the program under test.
        try sandbox.root.makeFolder("bin")
        try FileManager.default.createSymbolicLink(
            atPath: sandbox.root("bin/dlm"), withDestinationPath: try DlmSandbox.binary)
    }

    /// The variables that cron sets (crontab(5)), and the proxy that leads to the server.
    private var environment: [String: String] {
        [
            "PATH": "\(sandbox.root("bin")):/usr/bin:/bin", "HOME": sandbox.root("home"), "LOGNAME": "me",
            "SHELL": "/bin/sh", "https_proxy": proxy.url, "CURL_CA_BUNDLE": nginx.certificates.authority,
        ]
    }

    /// Runs the text in bash, in the folder of the downloads.
    func type(_ text: String) async throws -> ChildProcess.Result {
        try await run("/bin/bash", text, in: sandbox.files, environment.merging(["LANG": "C.UTF-8"]) { $1 })
    }

    /// Runs the text as cron does: by `sh`, in the home folder, and with only a few variables.
    func runFromCron(_ text: String) async throws -> ChildProcess.Result {
        try await run("/bin/sh", text, in: sandbox.root("home"), environment)
    }

    private func run(
        _ shell: String, _ text: String, in folder: String, _ environment: [String: String]
    ) async throws -> ChildProcess.Result {
        var launch = ProcessLaunch(shell, ["-c", text])
        launch.folder = folder
        launch.environment = environment.merging(Sanitizer.environment) { own, _ in own }
        return try await ChildProcess(launch).result()
    }

    func typeAll() async throws -> ChildProcess.Result { try await type(try recipe.block("sh")) }

    func expectFile(_ name: String, is content: Content = iso, sourceLocation: SourceLocation = #_sourceLocation) throws
    {
        #expect(sandbox.root.exists("files/\(name)"), "\(recipe.title)", sourceLocation: sourceLocation)
        #expect(try sha256(of: sandbox.file(name)) == content.sha256, "\(recipe.title)", sourceLocation: sourceLocation)
    }
}

extension ChildProcess.Result {
    func expectSuccess(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(ending == .exited(0), "\(stdout)\(stderr)", sourceLocation: sourceLocation)
    }
}
