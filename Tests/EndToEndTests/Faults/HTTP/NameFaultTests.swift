import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Names from servers and URLs", .serialized, .timeLimit(.minutes(3)))
    struct NameFaultTests {
        /// A case of the table, and the content of its file, which no other case has.
        struct Numbered: Sendable {
            let number: Int
            let example: NameCase

            var content: Content { Content("the file of case \(number)") }
            var url: String { example.url.replacing("CASE", with: "case-\(number)") }

            var reply: FaultReply {
                FaultReply(content).with {
                    $0.lines = example.fields.map { Array("Content-Disposition: ".utf8) + $0 }
                }
            }

            static let all = NameCase.all.indices.map { Numbered(number: $0, example: NameCase.all[$0]) }

            /// The cases in rounds. All cases of a round have different names, so that one command can download them
            /// into one folder.
            static let rounds: [[Numbered]] = {
                var rounds: [(names: Set<[UInt8]>, cases: [Numbered])] = []
                for one in all where one.example.canBeFetched {
                    let name = Array(one.example.name.utf8)
                    if let free = rounds.firstIndex(where: { !$0.names.contains(name) }) {
                        rounds[free].names.insert(name)
                        rounds[free].cases.append(one)
                    } else {
                        rounds.append(([name], [one]))
                    }
                }
                return rounds.map(\.cases)
            }()
        }

        /// The program or person that reads the output.
        enum Reader: CaseIterable {
            case script, program, person
        }

        static let server: FaultServer.Handler = { request in
            let number = request.target.split(separator: "case-").last.flatMap { Int($0.prefix(while: \.isNumber)) }
            guard let number, Numbered.all.indices.contains(number) else { return FaultReply(status: 404) }
            return Numbered.all[number].reply
        }

        @Test(
            "Each file gets exactly its expected name in its folder, and no control characters are printed")
        func table() async throws {
            #expect(Numbered.all.count > 200)
            // The origins of wrong names: true for a URL, false for a header field.
            let wrong = Observed(Set<Bool>())
            try await withDlm(Self.server) { sandbox, server in
                let readers = FaultTrial.isFull ? Reader.allCases.map { [$0] } : [Reader.allCases]
                for (turn, readers) in readers.enumerated() {
                    let rounds = Numbered.rounds.enumerated().map { index, cases in
                        (folder: "\(turn)-\(index)", reader: readers[index % readers.count], cases: cases)
                    }
                    try await concurrently(rounds, atMost: 4) { round in
                        try await fetch(
                            round.cases, for: round.reader, to: round.folder, in: sandbox, from: server, wrong)
                    }
                }
                #expect(sandbox.root.names() == ["config", "files", "home", "state"])
                #expect(sandbox.root.names(in: "home").isEmpty)
                #expect(sandbox.names.allSatisfy { $0.wholeMatch(of: /[0-9]+-[0-9]+/) != nil })
            }
            for isURL in [true, false] {
                let count = Numbered.rounds.joined().count { $0.example.fields.isEmpty == isURL }
                let fault = "\(count) names in \(isURL ? "URLs" : "Content-Disposition fields")"
                FaultTrial(area: .name, fault: fault)
                    .note(outcome: wrong.value.contains(isURL) ? "WRONG: a name" : "right")
            }
        }

        private func fetch(
            _ cases: [Numbered], for reader: Reader, to folder: String, in sandbox: DlmSandbox,
            from server: FaultServer, _ wrong: Observed<Set<Bool>>
        ) async throws {
            let urls = cases.map { $0.url.replacing("HOST", with: "127.0.0.1:\(server.port)") }
            let options = reader == .program ? ["--json"] : reader == .person ? ["-v", "--color", "never"] : []
            var launch = try sandbox.launch(["get", "-d", folder] + options + urls)
            // Each command has a state folder of its own, because otherwise it would wait for the store of the others.
            launch.environment["XDG_STATE_HOME"] = sandbox.root("state/\(folder)")
            if reader == .person { launch.terminalColumns = 80 }
            let result = try await launch.result()
            #expect(result.ending == .exited(0), "\(result.stderr)")
            let names = Set(sandbox.root.names(in: "files/\(folder)").map { Array($0.utf8) })
            for one in cases {
                let isThere = names.contains(Array(one.example.name.utf8))
                let path = sandbox.file("\(folder)/\(one.example.name)")
                let isRight = isThere && (try? sha256(of: path)) == one.content.sha256
                #expect(isRight, "\(one.example) is not \(one.example.name.debugDescription)")
                if !isRight { wrong.update { $0.insert(one.example.fields.isEmpty) } }
            }
            #expect(names.count == cases.count, "\(names.map { String(decoding: $0, as: UTF8.self) })")
            let paths = cases.map { sandbox.file("\(folder)/\($0.example.name)") }
            expectHarmless(result, paths: paths, for: reader)
        }

        private func expectHarmless(_ result: ChildProcess.Result, paths: [String], for reader: Reader) {
            let isDangerous = { (scalar: Unicode.Scalar) in
                switch scalar.value {
                case 10: false
                case 0..<32, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
                default: false
                }
            }
            #expect(!result.stdout.unicodeScalars.contains(where: isDangerous))
            let told = result.outputLines.map { Array($0.utf8) }
            if reader == .program {
                let finished = told.compactMap { try? JSONDecoder().decode(FinishedLine.self, from: Data($0)) }
                #expect(
                    Set(finished.compactMap { $0.event == "finished" ? $0.path.map { Array($0.utf8) } : nil })
                        == Set(paths.map { Array($0.utf8) }))
            } else {
                #expect(Set(told) == Set(paths.map { Array($0.utf8) }))
            }
            // Removes the sequences that draw the progress bars, and those for bracketed paste. Colours are off.
            let drawn = result.stderr.replacing(
                /\u{1B}\[(?:[0-9]*[AJK]|\?2004[hl])|\r/.matchingSemantics(.unicodeScalar), with: "")
            #expect(!drawn.unicodeScalars.contains(where: isDangerous), "\(drawn.debugDescription)")
            if reader == .script { #expect(result.stderr == "") }
        }

        private struct FinishedLine: Decodable {
            let event: String
            let path: String?
        }
    }
}
