/// A rule that every file must keep. The rule checks the path and the text of a file, so tests can check a rule with a
/// text that breaks the rule.
struct Rule: Sendable, CustomStringConvertible {
    let description: String
    let check: @Sendable (SourceFile) -> [Violation]

    static let all: [Rule] = [
        imports, coreWithoutIO, includes, publicWords, printing, curlNames, forcedTries, sleeping, clocks,
        featureMacros, optionNames, knownBook,
    ]

    /// The walls of docs/architecture.md: the modules that each module may import. SwiftPM does not enforce them,
    /// because it compiles the import of any module that some dependency brings in.
    static let walls: [String: Set<String>] = [
        "DownloadCore": ["Foundation", "Synchronization", "CSystem", "HTTPTypes", "Glibc"],
        "DownloadSystem": ["DownloadCore", "Foundation", "Synchronization", "CSystem", "HTTPTypes", "Glibc"],
        "DownloadEngine": [
            "DownloadCore", "DownloadSystem", "Foundation", "Synchronization", "CSystem", "HTTPTypes", "Glibc",
        ],
        "CurlTransport": [
            "CCurl", "CSystem", "DownloadCore", "DownloadSystem", "HTTPTypes", "Foundation", "Synchronization", "Glibc",
        ],
        "DownloadStorage": [
            "GRDB", "GRDBSQLite", "DownloadCore", "DownloadSystem", "CSystem", "Foundation", "Synchronization", "Glibc",
        ],
        "DownloadStoragePostgres": ["CPostgres", "DownloadCore", "DownloadSystem", "Foundation", "Synchronization"],
        "DownloadControl": [
            "NIOCore", "NIOPosix", "NIOHTTP1", "DownloadCore", "DownloadSystem", "CSystem", "HTTPTypes", "Foundation",
            "Synchronization", "Glibc",
        ],
        "DownloadRPC": [
            "NIOCore", "NIOHTTP1", "NIOWebSocket", "DownloadCore", "DownloadSystem", "DownloadControl", "CSystem",
            "Foundation", "Synchronization", "Glibc",
        ],
        "DownloadKitTesting": [
            "DownloadCore", "DownloadSystem", "HTTPTypes", "Dispatch", "Foundation", "Synchronization",
        ],
        "DownloadKit": [
            "DownloadCore", "DownloadSystem", "DownloadEngine", "CurlTransport", "DownloadStorage", "DownloadControl",
            "CSystem", "Foundation", "Synchronization", "Logging",
        ],
        "dlm": [
            "DownloadKit", "DownloadRPC", "DownloadStoragePostgres", "ArgumentParser", "Yams", "CSystem", "Foundation",
            "Synchronization", "Glibc",
        ],
    ]

    static let imports = Rule(description: "A module imports only what its row in the table `walls` allows") { file in
        guard file.isSource, file.isSwift else { return [] }
        guard let allowed = walls[file.module] else {
            return [Violation(path: file.path, line: 1, message: "module \(file.module) has no row in the walls")]
        }
        return matches(in: file) { tokens, index in
            guard let module = importedModule(tokens, index), !allowed.contains(module) else { return nil }
            return "\(file.module) must not import \(module)"
        }
    }

    /// Calls with which I/O begins. What reads or writes a descriptor needs one of them first.
    private static let callsOfTheSystem: Set = [
        "open", "openat", "creat", "stat", "lstat", "access", "mkdir", "rename", "unlink", "readlink", "realpath",
        "socket", "getenv", "kill", "posix_spawn",
    ]

    static let coreWithoutIO = Rule(description: "DownloadCore does no I/O") { file in
        guard file.isSource, file.module == "DownloadCore" else { return [] }
        return matches(in: file) { tokens, index in
            let (name, before) = (text(tokens, index), text(tokens, index - 1))
            let isCall =
                callsOfTheSystem.contains(name) && text(tokens, index + 1) == "("
                && (before != "." || text(tokens, index - 2) == "Glibc") && !["func", "case"].contains(before)
                || ["String", "Data"].contains(text(tokens, index - 2)) && before == "(" && name.hasPrefix("contentsOf")
            let isForeign = ["ProcessInfo", "FileManager", "FileHandle", "Process", "Thread"].contains(name)
            // `dlm_find` is memmem(3).
            let isC = name.hasPrefix("dlm_") && name != "dlm_find"
            return isCall || isForeign || isC ? "\(name) belongs to DownloadSystem" : nil
        }
    }

    static let includes = Rule(description: "Only CCurl includes libcurl, only CSystem includes OpenSSL") { file in
        lines(of: file, when: file.isSource && !file.isSwift) { line in
            guard let header = directive("include", in: line) else { return nil }
            if header.contains("curl/"), file.module != "CCurl" { return "libcurl belongs to CCurl" }
            if header.contains("openssl/"), file.module != "CSystem" { return "OpenSSL belongs to CSystem" }
            return nil
        }
    }

    static let publicWords = Rule(description: "`public` stands only in the library's modules") { file in
        let modules = ["DownloadCore", "DownloadKit", "DownloadKitTesting"]
        guard file.isSource, file.isSwift, !modules.contains(file.module) else { return [] }
        let declarations: Set = ["class", "func", "var", "let", "subscript", "init", "override", "static", "final"]
        return matches(in: file) { tokens, index in
            if text(tokens, index - 1) == "." { return nil }
            let isOpen = text(tokens, index) == "open" && declarations.contains(text(tokens, index + 1))
            return isOpen || text(tokens, index) == "public" ? "use package instead of public" : nil
        }
    }

    static let printing = Rule(description: "Only Sources/dlm/Output prints") { file in
        guard file.isSource, file.isSwift, !file.path.hasPrefix("Sources/dlm/Output/") else { return [] }
        return matches(in: file) { tokens, index in
            guard ["print", "debugPrint", "dump"].contains(text(tokens, index)), text(tokens, index + 1) == "(",
                text(tokens, index - 1) != "func",
                text(tokens, index - 1) != "." || text(tokens, index - 2) == "Swift"
            else { return nil }
            return "\(text(tokens, index)) belongs to dlm/Output"
        }
    }

    static let curlNames = Rule(description: "No name of libcurl outside of CCurl and CurlTransport") { file in
        guard file.isSource, file.isSwift, file.module != "CurlTransport" else { return [] }
        return matches(in: file) { tokens, index in
            let name = text(tokens, index)
            let isCurl = name.hasPrefix("curl_") || name.prefix { $0 != "_" }.hasPrefix("CURL") && name.contains("_")
            return isCurl ? "\(name) belongs to CurlTransport" : nil
        }
    }

    static let forcedTries = Rule(description: "No `try!` in Sources") { file in
        guard file.isSource, file.isSwift else { return [] }
        return matches(in: file) { tokens, index in
            // `try !a` is a negation.
            guard text(tokens, index) == "try", text(tokens, index + 1) == "!",
                tokens[index].end == tokens[index + 1].start
            else { return nil }
            return "handle the error"
        }
    }

    /// The files that may sleep. They contain the time limit of a wait, the time that a running download gets before it
    /// is interrupted, and the clocks of tests.
    static let placesThatSleep: Set = [
        "Tests/DownloadTestSupport/Observed.swift", "Tests/EndToEndTests/EndToEnd.swift",
        "Tests/DownloadTestSupport/ManualTime.swift", "Tests/DownloadCoreTests/Time/ManualTimeTests.swift",
        "Tests/DownloadTestSupport/HurriedTime.swift", "Tests/DownloadSystemTests/SystemTimeTests.swift",
    ]

    static let sleeping = Rule(description: "No test sleeps to wait for something") { file in
        guard file.isTest, file.isSwift, !placesThatSleep.contains(file.path) else { return [] }
        return matches(in: file) { tokens, index in
            let name = text(tokens, index)
            guard ["sleep", "usleep", "nanosleep"].contains(name), text(tokens, index + 1) == "(" else { return nil }
            return "wait for the event, with a time limit"
        }
    }

    static let featureMacros = Rule(description: "The C headers define no _GNU_SOURCE") { file in
        lines(of: file, when: file.isSource && file.path.hasSuffix(".h")) { line in
            let defined = directive("define", in: line)?.split(whereSeparator: \.isWhitespace).first
            return defined == "_GNU_SOURCE" ? "defined in a header it breaks the import of Glibc" : nil
        }
    }

    /// The file whose strings may contain commands of dlm: the token of the metrics is such a string, hashed with a
    /// secret. No user reads the hashed string.
    static let fileWithCommands = "Sources/DownloadRPC/Access/RPCSecret.swift"

    static let optionNames = Rule(description: "The messages of the library name no options or commands of dlm") {
        file in
        let isMeant = file.isSource && file.isSwift && file.module != "dlm" && file.path != fileWithCommands
        return lines(of: file, when: isMeant) { line in
            let code = line.drop(while: \.isWhitespace).hasPrefix("//") ? "" : line
            let text = code.firstRange(of: " // ").map { code[..<$0.lowerBound] } ?? code
            guard text.contains(/"[^"]*(--[a-z]|\bdlm [a-z])/) else { return nil }
            return "advice that names options and commands belongs to dlm/Output/ErrorText"
        }
    }
}

extension Rule {
    /// Returns the token at `index`, or an empty text outside the tokens.
    static func text(_ tokens: [Token], _ index: Int) -> String {
        tokens.indices.contains(index) ? tokens[index].text : ""
    }

    /// Returns `Foundation` at the `import` of `@_exported public import struct Foundation.Date`.
    private static func importedModule(_ tokens: [Token], _ index: Int) -> String? {
        guard text(tokens, index) == "import", text(tokens, index - 1) != "." else { return nil }
        let kinds: Set = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor", "macro"]
        let module = text(tokens, index + (kinds.contains(text(tokens, index + 1)) ? 2 : 1))
        return module.filter { $0 != "`" }
    }

    static func matches(
        in file: SourceFile, _ message: (_ tokens: [Token], _ index: Int) -> String?
    ) -> [Violation] {
        let tokens = file.tokens
        return tokens.indices.compactMap { index in
            message(tokens, index).map { Violation(path: file.path, line: tokens[index].line, message: $0) }
        }
    }

    private static func lines(
        of file: SourceFile, when applies: Bool, _ message: (Substring) -> String?
    ) -> [Violation] {
        guard applies else { return [] }
        return file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .compactMap { index, line in
                message(line).map { Violation(path: file.path, line: index + 1, message: $0) }
            }
    }

    /// Returns the text after `#name` on a line of C, or nil if the line is something else.
    private static func directive(_ name: String, in line: Substring) -> Substring? {
        let trimmed = line.drop(while: \.isWhitespace)
        guard trimmed.first == "#" else { return nil }
        let word = trimmed.dropFirst().drop(while: \.isWhitespace)
        guard word.hasPrefix(name) else { return nil }
        return word.dropFirst(name.count)
    }
}
