import Testing

/// A text, its path, and the lines that a rule must report.
struct Sample: Sendable, CustomTestStringConvertible {
    let rule: Rule
    let path: String
    let text: String
    let lines: [Int]

    init(_ rule: Rule, _ path: String, _ text: String, _ lines: [Int]) {
        self.rule = rule
        self.path = path
        self.text = text
        self.lines = lines
    }

    var testDescription: String { "\(path): \(text.prefix(60))" }
}

@Suite(.serialized) struct RuleTests {
    @Test("A rule reports exactly the lines that break it", arguments: samples)
    func names(_ sample: Sample) {
        let violations = sample.rule.check(SourceFile(path: sample.path, text: sample.text))
        #expect(violations.map(\.line) == sample.lines, "\(violations)")
        #expect(violations.allSatisfy { $0.path == sample.path })
    }

    @Test("Every rule has a sample that breaks it", arguments: Rule.all)
    func coverage(_ rule: Rule) {
        #expect(Self.samples.contains { $0.rule.description == rule.description && !$0.lines.isEmpty })
    }

    static let samples =
        imports + coreWithoutIO + includes + publicWords + printing + curlNames + tries + sleeps + clocks + macros
        + options + knownBook

    static let core = "Sources/DownloadCore/HTTP/A.swift"
    static let curl = "Sources/CurlTransport/A.swift"
    static let program = "Sources/dlm/Commands/A.swift"

    static let options = [
        Sample(.optionNames, core, "let a = \"give --retries\"\nlet b = \"run: dlm list\" // --x", [1, 2]),
        Sample(.optionNames, core, "/// \"--retries\"\nlet a = \"dlm/1.0\" // \"dlm list\"\nlet b = \"<!--\"", []),
        Sample(.optionNames, program, "let a = \"give --retries\"", []),
    ]

    static let coreWithoutIO = [
        Sample(
            .coreWithoutIO, core,
            "open(path, 0)\nGlibc.stat(a, &b)\nString(contentsOfFile: a)\nProcessInfo.processInfo\ndlm_spawn(a)",
            [1, 2, 3, 4, 5]),
        Sample(
            .coreWithoutIO, core,
            "open.append(1)\ncase .open(let a)\nfunc open(_ a: Int)\ncase open(Int)\na.append(contentsOf: b)\ndlm_find(a)",
            []),
        Sample(.coreWithoutIO, curl, "open(path, 0)", []),
    ]

    static let knownBook = [
        Sample(
            .knownBook, "Sources/DownloadEngine/Session/A.swift",
            "func tick() { book.known.a() }\nfunc b() {\n book.entered.c(known)\n book.known.c()\n}", [4]),
        Sample(.knownBook, core, "func a() { book.known.b() }", []),
    ]

    static let imports = [
        Sample(.imports, core, "import Foundation\nimport HTTPTypes\nimport Synchronization\n", []),
        Sample(.imports, core, "import Foundation\nimport GRDB\n", [2]),
        Sample(.imports, core, "import CCurl", [1]),
        Sample(.imports, core, "  import\n  CurlTransport", [1]),
        Sample(
            .imports, core, "@_exported import GRDB\n@testable import GRDB\n@preconcurrency\nimport GRDB", [1, 2, 4]),
        Sample(.imports, core, "@_implementationOnly import GRDB; import ArgumentParser", [1, 1]),
        Sample(
            .imports, core, "public import GRDB\npackage import GRDB\ninternal import GRDB\nprivate import GRDB",
            [1, 2, 3, 4]),
        Sample(
            .imports, core,
            "@_spi(X) import GRDB\nimport struct GRDB.Row\nimport func Glibc.sleep\nimport class GRDB.X", [1, 2, 4]),
        Sample(.imports, core, "import FoundationNetworking\nimport `GRDB`\nimport Foundation.NSDate", [1, 2]),
        Sample(.imports, core, "#if canImport(GRDB)\nimport GRDB\n#endif", [2]),
        Sample(.imports, core, "/* import Foundation */ import /* a */ GRDB // import CCurl", [1]),
        Sample(.imports, core, "// import GRDB\n/* a /* b */ import GRDB */\nlet a = \"import GRDB\"", []),
        Sample(.imports, core, "let a = \"\"\"\n  import GRDB\n  \"\"\"\nlet b = x.import + y", []),
        Sample(.imports, curl, "import CCurl\nimport CSystem\nimport DownloadCore", []),
        Sample(.imports, curl, "import Logging\nimport DownloadStorage\nimport DownloadKit", [1, 2, 3]),
        Sample(.imports, "Sources/DownloadStorage/A.swift", "import GRDB\nimport CCurl\nimport CurlTransport", [2, 3]),
        Sample(.imports, "Sources/DownloadControl/A.swift", "import NIOCore\nimport NIOHTTP1\nimport Foundation", []),
        Sample(
            .imports, "Sources/DownloadControl/A.swift",
            "import NIOPosix\nimport CurlTransport\nimport CCurl\nimport DownloadStorage\nimport GRDB\nimport NIO",
            [2, 3, 4, 5, 6]),
        Sample(.imports, "Sources/DownloadKit/A.swift", "import DownloadControl\nimport NIOCore", [2]),
        Sample(.imports, "Sources/DownloadKit/A.swift", "import DownloadCore\nimport GRDB\nimport CCurl", [2, 3]),
        Sample(
            .imports, program, "import DownloadKit\nimport DownloadCore\nimport CurlTransport\nimport GRDB", [2, 3, 4]),
        Sample(.imports, curl, "import DownloadEngine", [1]), Sample(.imports, core, "import DownloadEngine", [1]),
        Sample(.imports, "Sources/DownloadStorage/A.swift", "import DownloadCore\nimport DownloadEngine", [2]),
        Sample(.imports, "Sources/DownloadControl/A.swift", "import DownloadEngine", [1]),
        Sample(.imports, "Sources/DownloadEngine/A.swift", "import DownloadCore\nimport CurlTransport", [2]),
        Sample(.imports, "Sources/Unknown/A.swift", "import Foundation", [1]),
        Sample(.imports, "Tests/DownloadCoreTests/A.swift", "import GRDB", []),
    ]

    static let includes = [
        Sample(.includes, "Sources/CCurl/include/CCurl.h", "#include <curl/curl.h>\n#include <openssl/evp.h>", [2]),
        Sample(.includes, "Sources/CSystem/CSystem.c", "#include <openssl/evp.h>\n # include \"curl/curl.h\"", [2]),
        Sample(.includes, "Sources/CSystem/CSystem.c", "// #include <curl/curl.h>\n#include <errno.h>", []),
    ]

    static let publicWords = [
        Sample(.publicWords, curl, "package struct A {}\npublic struct B {}\n  public  func c()", [2, 3]),
        Sample(.publicWords, program, "public\nlet a = 1\nopen class B { open func c() {} }", [1, 3, 3]),
        Sample(.publicWords, program, "public(set) var a = 1\n@usableFromInline public init() {}", [1, 2]),
        Sample(.publicWords, program, "// public\nlet a = \"public\"; let b = x.public; let `public` = 1", []),
        Sample(.publicWords, program, "let fd = open(path, 0); session.open(); func open() {}; publication()", []),
        Sample(.publicWords, core, "public struct A {}", []),
        Sample(.publicWords, "Sources/DownloadKit/A.swift", "public enum A {}", []),
    ]

    static let printing = [
        Sample(.printing, core, "print(1)\n  print (2)\nSwift.print(3)\ndebugPrint(4)\ndump(5)", [1, 2, 3, 4, 5]),
        Sample(.printing, program, "let a = b.map { print($0) }\nlet c = \"\\(print(1))\"", [1, 2]),
        Sample(.printing, program, "output.print(1)\nfunc print(_ a: Int) {}\nfingerprint(1)\nlet print = 1", []),
        Sample(.printing, program, "// print(1)\n\"print(1)\"\n#\"\"\"\n\" \\(print(1))\n\"\"\"#", []),
        Sample(.printing, "Sources/dlm/Output/A.swift", "print(1)", []),
        Sample(.printing, "Sources/dlm/OutputOther/A.swift", "print(1)", [1]),
    ]

    static let curlNames = [
        Sample(
            .curlNames, core, "let a = CURLE_OK\nset(CURLOPT_URL)\ncurl_easy_init()\nCURL_VERSION_TLS", [1, 2, 3, 4]),
        Sample(.curlNames, program, "CURLINFO_X, CURLM_OK, CURLSHOPT_X", [1, 1, 1]),
        Sample(
            .curlNames, program, "// CURLE_OK\nlet curlCode = error.curlCode\nlet a = \"CURLE_OK\"\nCurlTransport_x", []
        ),
        Sample(.curlNames, curl, "CURLE_OK", []),
    ]

    static let tries = [
        Sample(.forcedTries, core, "try! a()\nlet b = try!c()", [1, 2]),
        Sample(.forcedTries, core, "try !a()\ntry\n!b()\nwhere try !c()", []),
        Sample(.forcedTries, core, "// try! a()\ntry a()\ntry? a()\nlet b = \"try! c()\"\nretry!.d", []),
        Sample(.forcedTries, "Tests/DlmTests/A.swift", "try! a()", []),
    ]

    static let sleeps = [
        Sample(
            .sleeping, "Tests/DlmTests/A.swift", "try await Task.sleep(for: .seconds(1))\nusleep(3)\nGlibc.sleep(1)",
            [1, 2, 3]),
        Sample(.sleeping, "Tests/DlmTests/A.swift", "// sleep(1)\n\"sleep(1)\"\nasleep(1)\nlet sleep = 2", []),
        Sample(.sleeping, "Tests/DownloadTestSupport/Other.swift", "sleep(1)", [1]),
        Sample(.sleeping, "Tests/DownloadTestSupport/Observed.swift", "try await Task.sleep(for: limit)", []),
    ]

    static let clocks = [
        Sample(
            .clocks, core,
            "try await Task.sleep(for: limit)\nTask<Never, Never>.sleep(1)\nThread.sleep(1)\nsleep(1)\nusleep(1)",
            [1, 2, 3, 4, 5]),
        Sample(
            .clocks, core,
            "let a = ContinuousClock.now\nlet b = Date.now\nlet c: Date = .now\nf(at: .now)\n.now + .seconds(1)\nDispatchTime.now()",
            [1, 2, 3, 4, 5, 6, 6]),
        Sample(
            .clocks, program,
            "let a = Date()\nDate(timeIntervalSinceNow: 3)\na.timeIntervalSinceNow < 5\n(.now, [.now])",
            [1, 2, 2, 3, 4, 4]),
        Sample(
            .clocks, core,
            "queue.asyncAfter(deadline: .now() + 1) {}\npoll(nil, 0, 10)\nDispatchSource.makeTimerSource()",
            [1, 1, 2, 3]),
        Sample(.clocks, core, "let a = SystemTime().date\ntry await SystemTime().sleep(for: a)", [1, 2]),
        Sample(
            .clocks, core,
            "init(time: any TimeSource = SystemTime()) {}\nlet a: ContinuousClock.Instant = time.now\nparts.time.now + b",
            []),
        Sample(
            .clocks, core,
            "try await time.sleep(for: a)\nlet now = time.date\nDate(timeIntervalSince1970: 0)\npoll(&x, 1, 5)\nsleep.b()",
            []),
        Sample(.clocks, core, "// Task.sleep(1)\n\"Date()\"\nloop.now\nself.now = seen.now\nfunc sleep() {}", []),
        Sample(
            .clocks, "Sources/DownloadSystem/Time/SystemTime.swift", "Date()\nContinuousClock.now\nTask.sleep(1)", []),
        Sample(.clocks, "Sources/CurlTransport/CurlLoop.swift", "clock_gettime(a, &b)\nDate()", [2]),
        Sample(.clocks, curl, "clock_gettime(a, &b)", [1]),
        Sample(.clocks, "Tests/DlmTests/A.swift", "Date()\nContinuousClock.now", []),
    ]

    static let macros = [
        Sample(
            .featureMacros, "Sources/CSystem/include/CSystem.h", "#define _GNU_SOURCE\n # define  _GNU_SOURCE 1",
            [1, 2]),
        Sample(.featureMacros, "Sources/CSystem/include/CSystem.h", "// #define _GNU_SOURCE\n#define _GNU_SOURCES", []),
        Sample(.featureMacros, "Sources/CSystem/CSystem.c", "#define _GNU_SOURCE", []),
    ]
}
