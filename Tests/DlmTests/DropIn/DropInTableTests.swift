import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Tables of other programs' options", .inTurn, .serialized)
struct DropInTableTests {
    @Test(
        "Each option is in one row, and its translation is an option of dlm get", arguments: DropInProgram.allCases)
    func rows(program: DropInProgram) throws {
        var seen = Set<String>()
        for option in program.options {
            for name in option.names {
                #expect(name.hasPrefix("-") && seen.insert(name).inserted, "\(name)")
            }
            let words: [String] =
                switch option.effect {
                case .option(let name, _): ["--\(name)"]
                case .words(let words): words
                case .either(let on, let off): on + off
                case .part, .needless, .ignored, .refused: []
                }
            for word in words where word.hasPrefix("-") {
                let name = word.hasPrefix("--") ? OptionCatalog.get.option(named: word.dropFirst(2)) : nil
                let letter = word.last.flatMap { OptionCatalog.get.option(letter: $0) }
                #expect(name != nil || !word.hasPrefix("--") && letter != nil, "\(option.names): \(word)")
            }
        }
    }

    @Test("dlm get explains the long options of the other program", arguments: DropInProgram.allCases)
    func hints(program: DropInProgram) throws {
        let get = try #require(try CommandDescription.root().subcommands?.first { $0.commandName == "get" })
        let names = get.visibleArguments.flatMap { $0.names ?? [] }.map(\.name)
        for name in program.options.flatMap(\.names)
        where name.hasPrefix("--") && !names.contains(String(name.dropFirst(2))) {
            #expect(ForeignOption.meaning(of: name, in: names) != nil, "\(name)")
        }
    }

    @Test(
        "Failures have the statuses that callers of the program know",
        arguments: [
            (.fileFailed(.exists, path: "/x"), 13, 3, 23), (.fileFailed(.noSpace(needed: nil), path: "/x"), 9, 3, 23),
            (.networkFailed(.nameResolution, TransportDiagnosis(code: 6, message: "")), 19, 4, 6),
            (.networkFailed(.connect, TransportDiagnosis(code: 7, message: "")), 6, 4, 7),
            (.networkFailed(.stalled, TransportDiagnosis(code: 0, message: "")), 2, 4, 28),
            (.networkFailed(.connectionLost, TransportDiagnosis(code: 18, message: "")), 6, 4, 18),
            (.trustFailed(TransportDiagnosis(code: 60, message: "")), 6, 5, 60),
            (.authenticationFailed(status: 401), 24, 6, 22), (.protocolViolated(.tooManyRedirects(3)), 23, 7, 47),
            (.serverRefused(status: 404, phrase: ""), 3, 8, 22), (.serverRefused(status: 500, phrase: ""), 22, 8, 22),
            (.serverRefused(status: 503, phrase: ""), 29, 8, 22),
            (
                .verificationFailed(.checksum(expected: Checksum(algorithm: .md5, digest: ""), actual: "")), 32, 1, 18
            ), (.cancelled, 31, 1, 42), (.requestInvalid(.malformedURL("")), 28, 2, 3),
        ] as [(DownloadError, Int32, Int32, Int32)])
    func statuses(error: DownloadError, aria2c: Int32, wget: Int32, curl: Int32) {
        #expect(DropInProgram.aria2c.status(of: error, error.exitStatus) == aria2c)
        #expect(DropInProgram.wget.status(of: error, error.exitStatus) == wget)
        #expect(DropInProgram.curl.status(of: error, error.exitStatus) == curl)
    }

    @Test("Success is status 0, and an unknown failure has a status above 0")
    func unknown() {
        for program in DropInProgram.allCases {
            #expect(program.status(of: nil, 0) == 0)
            for status: Int32 in [1, 2, 12] { #expect(program.status(of: nil, status) > 0) }
        }
    }

    @Test(
        "--help and --version say that dlm answers, and --version has a version in the form of the other program",
        arguments: [
            (DropInProgram.aria2c, "aria2 version 1."), (.wget, "GNU Wget 1."), (.curl, "curl 8."),
        ])
    func information(program: DropInProgram, start: String) async throws {
        func output(_ option: String) async throws -> String {
            let captured = try CapturedConsole()
            let line = try DropInCommandLine([option], of: program)
            let command = DropInCommand(program: program, line: line)
            #expect(try await command.run(in: .testing(captured, FakeService())) == 0)
            return captured.output
        }
        let version = try await output("--version")
        #expect(version.hasPrefix(start) && version.contains("in the place of \(program.rawValue)"), "\(version)")
        let help = try await output("--help")
        #expect(help.hasPrefix("dlm ") && help.contains("docs/drop-in.md"), "\(help)")
    }
}
