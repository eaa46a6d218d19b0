import DownloadTestSupport
import Foundation
import Synchronization
import Testing

extension EndToEnd {
    @Suite("Everything at once", .serialized, .timeLimit(.minutes(2)))
    struct DisorderTests {
        static let files = AnyFiles(size: 12 * mebibyte + 3)

        /// Returns a random command about the downloads 1 to 4.
        static func words(_ random: inout some RandomNumberGenerator) -> [String] {
            let id = "\(Int.random(in: 1...4, using: &random))"
            let number = "\(Int.random(in: 1...9, using: &random))"
            return switch Int.random(in: 0..<9, using: &random) {
            case 0, 1: ["pause", id]
            case 2, 3: ["resume", "-b", id]
            case 4: ["cancel", id]
            case 5: ["limit", number + "M", id]
            case 6: ["priority", number, id]
            case 7: ["limit", number + "M"]
            default: ["pause", "--all"]
            }
        }

        @Test("Many commands pause, resume, cancel and limit the same downloads while the background session is killed")
        func verbs() async throws {
            try await withDlm(holding: Self.files.handler(bytesPerSecond: mebibyte)) { sandbox, server in
                var random = SeededGenerator(for: "Everything at once")
                let first = try await sandbox.startDaemon("-j", "2")
                let names = ["a", "b", "c"]
                try await sandbox.hand(names.map { server.url("/" + $0) })
                let get = try sandbox.start("get", server.url("/d"))
                #expect(await server.waitUntil { $0.requests(to: "/d").count == 1 })
                let scripts = (0..<4).map { _ in (0..<15).map { _ in Self.words(&random) } }
                let signals = [SIGKILL, SIGTERM, SIGKILL]
                let done = Observed(0)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for script in scripts {
                        group.addTask {
                            for words in script {
                                let result = try await sandbox.run(words)
                                // If the session is killed before its answer is complete, the command ends with status
                                // 12.
                                let allowed: [ChildProcess.Ending] = [.exited(0), .exited(12)]
                                #expect(allowed.contains(result.ending), "\(words) \(result.stderr)")
                                #expect(result.duration < promised(within: .seconds(20)), "\(words)")
                                done.update { $0 += 1 }
                            }
                        }
                    }
                    group.addTask {
                        var daemon = first
                        for (index, signal) in signals.enumerated() {
                            _ = await done.wait { $0 >= (index + 1) * 15 }
                            daemon.send(signal)
                            #expect(await daemon.waitForEnd())
                            daemon = try await sandbox.startDaemon("-j", "2")
                        }
                    }
                    try await group.waitForAll()
                }
                let states = try await sandbox.list().map(\.state)
                #expect(states.count == 4 && states.allSatisfy { $0 != "failed" }, "\(states)\n\(sandbox.daemonLog)")

                server.handle(Self.files.handler())
                server.releaseEnds()
                try await sandbox.done("pause", "1-4")
                try await sandbox.done("limit", "none", "1-4")
                try await sandbox.done("limit", "none")
                try await sandbox.done("resume", "-b", "1-4")
                try await sandbox.done("wait", "1-4")
                try Self.files.expect(names + ["d"], in: sandbox)
                let ending = try await get.result().ending
                #expect(ending == .exited(0) || ending == .exited(11))
            }
        }
    }
}
