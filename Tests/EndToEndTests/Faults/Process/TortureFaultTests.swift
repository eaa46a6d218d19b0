import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Torture: one call fails", .serialized, .long, .timeLimit(.minutes(FaultTrial.isFull ? 60 : 5)))
    struct TortureFaultTests {
        /// The work of the tortured process.
        enum Course {
            /// It downloads everything.
            case whole
            /// It gets SIGTERM after a part of the file has come.
            case interrupted
            /// It resumes a download that got SIGTERM.
            case resumed
        }

        /// A command whose calls fail, one in each trial.
        struct Command: Sendable, CustomTestStringConvertible {
            let testDescription: String
            var course = Course.whole
            /// The number of connections; nil for the automatic number.
            let connections: Int?
            let contents: [Content]
        }

        static let commands = [
            Command(
                testDescription: "one connection", connections: 1,
                contents: [Content(seed: 310, size: 2 * mebibyte)]),
            Command(
                testDescription: "four connections", connections: 4,
                contents: [Content(seed: 311, size: 8 * mebibyte)]),
            Command(
                testDescription: "interrupted", course: .interrupted, connections: 4,
                contents: [Content(seed: 312, size: 8 * mebibyte)]),
            Command(
                testDescription: "resumed", course: .resumed, connections: 4,
                contents: [Content(seed: 313, size: 8 * mebibyte)]),
            Command(
                testDescription: "20 small files", connections: nil,
                contents: (0..<20).map { Content(seed: 320 + UInt64($0), size: 1000 + 900 * Int64($0)) }),
        ]

        /// The signals with which a library ends the program after a failed call: libdispatch and NIO by a trap, and
        /// libcurl 7.88 by a division by the size of a hash that it could not allocate. The next run must be right.
        private static let fatal = [
            "open": SIGILL, "eventfd": SIGILL, "thread": SIGILL, "close": SIGILL, "libcurl": SIGFPE,
        ]

        private let library: String

        init() throws {
            library = (try DlmSandbox.binary as NSString).deletingLastPathComponent + "/libTorture.so"
            try #require(FileManager.default.fileExists(atPath: library))
        }

        private static func name(_ index: Int) -> String { "f\(index).bin" }

        private func launch(
            _ sandbox: DlmSandbox, _ server: FaultServer, _ command: Command, _ torture: (kind: String, number: Int)?
        ) throws -> ProcessLaunch {
            let urls = command.contents.indices.map { server.url("/" + Self.name($0)) }
            let get = ["get", "--retry-delay", "0", "-x", command.connections.map(String.init) ?? "auto"] + urls
            var launch = try sandbox.launch(torture != nil && command.course == .resumed ? ["resume", "1"] : get)
            if let torture {
                launch.environment["LD_PRELOAD"] = library
                // A backtrace of a crash takes longer than the trial.
                launch.environment["SWIFT_BACKTRACE"] = "enable=no"
                launch.environment["DLM_TORTURE"] =
                    "\(sandbox.root.path)/home/calls \(torture.kind) \(torture.number)"
            }
            return launch
        }

        /// Runs the command with a call that fails. Without `number`, no call fails.
        private func run(
            _ sandbox: DlmSandbox, _ server: FaultServer, _ command: Command, _ kind: String, _ number: Int
        ) async throws -> ChildProcess.Result {
            if command.course != .whole { server.holdEnds() }
            if command.course == .resumed {
                let first = try ChildProcess(try launch(sandbox, server, command, nil))
                try await sandbox.waitToRecord(mebibyte)
                try await first.expectEnd(by: SIGTERM)
                server.releaseEnds()
            }
            let process = try ChildProcess(try launch(sandbox, server, command, (kind, number)))
            if command.course == .interrupted {
                // The failed call may end the process before so many bytes have come.
                let isDue = Observed(false)
                Task { if await process.waitForEnd(atMost: .seconds(45)) { isDue.update { $0 = true } } }
                Task {
                    if await server.waitUntil({ $0.bytesSent >= 4 * mebibyte }) { isDue.update { $0 = true } }
                }
                #expect(await isDue.wait { $0 })
                process.send(SIGTERM)
                server.releaseEnds()
            }
            return try await process.result()
        }

        /// Returns the number of calls of each kind.
        private func counts(_ sandbox: DlmSandbox) throws -> [(kind: String, count: Int)] {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: sandbox.root("home/calls"))))
            return stride(from: 0, to: bytes.count, by: 32).map { start in
                let name = bytes[start..<start + 24].prefix { $0 != 0 }
                let count = bytes[start + 24..<start + 32].reversed().reduce(0) { $0 << 8 | Int($1) }
                return (String(decoding: name, as: UTF8.self), count)
            }
        }

        private func withServer(
            _ command: Command, _ body: @Sendable (DlmSandbox, FaultServer) async throws -> Void
        ) async throws {
            try await withDlm({ request in
                let index = Int(request.target.dropFirst(2).prefix { $0 != "." }) ?? 0
                return FaultReply(command.contents[index], etag: "\"v1\"")
            }) { sandbox, server in try await body(sandbox, server) }
        }

        /// Returns what is wrong with the files under the final names. All must be there if `isWhole` is set.
        private func faults(_ sandbox: DlmSandbox, _ command: Command, isWhole: Bool) throws -> [String] {
            try command.contents.enumerated().compactMap { index, content in
                let name = Self.name(index)
                guard sandbox.exists(name) else { return isWhole ? "\(name) is missing" : nil }
                return try sha256(of: sandbox.file(name)) == content.sha256 ? nil : "\(name) is wrong"
            }
        }

        private func torture(_ command: Command, _ kind: String, _ number: Int, of calls: String) async throws {
            try await withServer(command) { sandbox, server in
                let trial = FaultTrial(
                    area: .torture, fault: "\(kind), \(command.testDescription), \(calls)",
                    connections: command.connections ?? 0)
                let result: ChildProcess.Result
                do { result = try await run(sandbox, server, command, kind, number) } catch {
                    Issue.record("\(trial) number \(number): \(error)")
                    return
                }
                var faults = try faults(sandbox, command, isWhole: result.ending == .exited(0))
                var outcome = "right"
                switch result.ending {
                case .exited(0): break
                case .exited(let status):
                    outcome = "error \(status)"
                    if !result.errorLines.contains(where: { $0.hasPrefix("dlm: ") }) { faults.append("no clear line") }
                case .signalled(SIGTERM) where command.course == .interrupted: outcome = "paused"
                case .signalled(let signal):
                    outcome = "signal \(signal)"
                    if Self.fatal[kind] != signal { faults.append("crashed") }
                }
                let next = try await ChildProcess(try launch(sandbox, server, command, nil)).result()
                if next.ending != .exited(0) { faults.append("then \(next.ending): \(next.stderr)") }
                faults += try self.faults(sandbox, command, isWhole: true)
                if sandbox.names != command.contents.indices.map(Self.name).sorted() {
                    faults.append("left \(sandbox.names)")
                }
                #expect(faults.isEmpty, "\(trial) number \(number): \(faults) \(result.stderr)")
                trial.note(outcome: faults.isEmpty ? outcome : "WRONG: \(outcome)")
            }
        }

        /// Returns the numbers of the calls that fail: all of them, or a few.
        private func numbers(of count: Int, _ kind: String) -> [Int] {
            let most = FaultTrial.isFull ? 60 : 2
            if count <= most { return Array(1...count) }
            var random = SplitMix64(seed: UInt64(kind.utf8.reduce(0) { $0 &* 31 &+ Int($1) }))
            return (0..<most).map { _ in Int.random(in: 1...count, using: &random) }
        }

        @Test(
            "Whichever call fails, the file is right or the error is clear, and the next run is right",
            arguments: commands)
        func torture(command: Command) async throws {
            let counted = Observed<[(kind: String, count: Int)]>([])
            try await withServer(command) { sandbox, server in
                let result = try await run(sandbox, server, command, "open", 0)
                let expected =
                    command.course == .interrupted ? ChildProcess.Ending.signalled(SIGTERM) : .exited(0)
                #expect(result.ending == expected, "\(result.stderr)")
                let found = try counts(sandbox)
                counted.update { $0 = found }
            }
            let trials = counted.value.filter { $0.count > 0 }.flatMap { kind, count in
                let numbers = numbers(of: count, kind)
                let calls = numbers.count == count ? "each of \(count) calls" : "\(numbers.count) of \(count) calls"
                return numbers.map { (kind: kind, number: $0, calls: calls) }
            }
            #expect(trials.count > 30)
            try await concurrently(trials, atMost: 4) { try await torture(command, $0.kind, $0.number, of: $0.calls) }
        }
    }
}
