import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Many pauses and resumes", .long, .serialized, .timeLimit(.minutes(5)))
    struct RoundsTests {
        let content = Content(seed: 410, size: 48 * mebibyte + 3)

        /// A slow answer that stalls after a part of the file, so that enough is left for every round of one connection.
        var slow: FaultReply {
            FaultReply(content, etag: "\"v1\"").with {
                $0.bytesPerSecond = Int(mebibyte / 2)
                $0.gate = Gate(after: 3 * mebibyte / 8)
            }
        }

        @Test("100 rounds of pause and resume in the background: the file is right, and nothing is leaked or stuck")
        func background() async throws {
            try await withDlm(holding: slow) { sandbox, server in
                let daemon = try await sandbox.startDaemon()
                try await sandbox.hand(["-x", "1", server.url()])
                #expect(await server.waitUntil { $0.bytesSent > mebibyte / 4 })
                try await rounds(5, in: sandbox, server)
                let before = try Usage(of: daemon)
                let begin = ContinuousClock.now
                try await rounds(100, in: sandbox, server)
                print("100 rounds of pause and resume: \(ContinuousClock.now - begin)")
                try await before.expectNoMore(in: daemon)
                let paused = try await sandbox.show(1)
                #expect(paused.state == "paused")
                #expect(paused.received < content.size)
                server.handle { [content] _ in FaultReply(content, etag: "\"v1\"") }
                server.releaseEnds()
                try await sandbox.performDone("resume", "1")
                #expect(try await sandbox.perform("wait", "1").stdout == sandbox.file("file.bin") + "\n")
                try expectFile(content, "file.bin", in: sandbox)
            }
        }

        /// Pauses and resumes the download in rounds, and leaves it paused. Most rounds are too short for any byte to
        /// arrive; in each tenth round some bytes arrive.
        private func rounds(_ count: Int, in sandbox: DlmSandbox, _ server: FaultServer) async throws {
            try await sandbox.performDone("resume", "1")
            for round in 1...count {
                let pause = try await sandbox.performDone("pause", "1", "--json")
                try #require(try pause.eventLines.map(\.event) == ["paused"], "\(round)")
                try #require(try pause.eventLines.map(\.state) == ["paused"], "\(round)")
                let before = server.log.bytesSent
                let resume = try await sandbox.performDone("resume", "1", "--json")
                try #require(try resume.eventLines.map(\.event) == ["resumed"], "\(round)")
                if round % 10 == 0 {
                    let isMoving = await server.waitUntil { $0.bytesSent > before + mebibyte / 16 }
                    try #require(isMoving, "stuck in round \(round)")
                }
            }
            try await sandbox.performDone("pause", "1")
        }

        /// The descriptors and threads of a process.
        struct Usage {
            /// The target of each descriptor.
            let descriptors: [String: String]
            let threads: Int

            init(of process: ForeignProcess) throws {
                let folder = "/proc/\(process.pid)/fd"
                let names = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
                    // A descriptor that is closed meanwhile does not count.
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")).map { (name, $0) }
                }
                descriptors = Dictionary(uniqueKeysWithValues: names)
                threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.pid)/task").count
            }

            /// Expects that the process has at most one descriptor and four threads more than before. Waits for this,
            /// because a connection ends a little after its last use. A descriptor that is opened only once is no leak:
            /// a leak shows in every round, or in the rounds in which bytes arrive. The system's pool of threads grows
            /// and shrinks a little.
            func expectNoMore(
                in process: ForeignProcess, sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let deadline = ContinuousClock.now + .seconds(45)
                var now = try Usage(of: process)
                while now.descriptors.count >= descriptors.count + 2, ContinuousClock.now < deadline {
                    await Task.yield()
                    now = try Usage(of: process)
                }
                let more = now.descriptors.filter { descriptors[$0.key] != $0.value }
                #expect(now.descriptors.count < descriptors.count + 2, "\(more)", sourceLocation: sourceLocation)
                #expect(now.threads <= threads + 4, sourceLocation: sourceLocation)
            }
        }
    }
}
