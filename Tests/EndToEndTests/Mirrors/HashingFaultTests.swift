import DownloadTestSupport
import Foundation
import Testing

#if DEBUG || DLM_FAULT_POINTS
    extension EndToEnd {
        @Suite("dlm ended while pieces are hashed", .serialized, .timeLimit(.minutes(3)))
        struct HashingFaultTests {
            static let content = Content(seed: 880, size: 8 * mebibyte + 3)
            static let length: Int64 = 256 << 10
            /// The wrong content. The wrong byte is in the 21st of 33 pieces, which is not hashed yet when the run ends
            /// after the fifth piece.
            static let wrong = content.flipping(5 * mebibyte + 1)

            enum End: CaseIterable { case killed, terminated }

            static func document(_ servers: [FaultServer]) -> String {
                var file = MetalinkText(size: content.size, urls: servers.map { $0.url() })
                file.pieces = MetalinkText.pieces(content, length: length)
                return MetalinkText.version4(file)
            }

            /// Runs a command that ends when the fifth piece is hashed. The rest of the pieces may be hashed before
            /// SIGTERM is handled. If one of them is wrong, the command may fail first.
            static func run(_ sandbox: DlmSandbox, endsBy end: End, mayFail: Bool = false, _ arguments: String...)
                async throws
            {
                var launch = try sandbox.launch(arguments)
                launch.environment["DLM_FAULT_POINT"] = "pieceHashed:5" + (end == .killed ? "" : ":stop")
                let process = try ChildProcess(launch)
                if end == .terminated {
                    try #require(await process.waitUntilStopped(), "\(process.standardError)")
                    process.send(SIGTERM)
                    process.send(SIGCONT)
                }
                let result = try await process.result()
                let isFailed = mayFail && end == .terminated && result.ending == .exited(9)
                #expect(
                    isFailed || result.ending == .signalled(end == .killed ? SIGKILL : SIGTERM), "\(result.stderr)")
            }

            @Test(
                "If a repair is ended early, the file is unchanged, and the resume finds the wrong piece",
                arguments: End.allCases)
            func repair(end: End) async throws {
                try await withDlm(serving: FaultReply(Self.content, etag: "\"v1\"")) { sandbox, server in
                    let document = try sandbox.write(metalink: Self.document([server]))
                    try Self.wrong.write(to: sandbox.file("file.bin"))
                    try await Self.run(sandbox, endsBy: end, "get", "--repair", "-x", "1", "-M", document)
                    // The rest of the pieces may be hashed before the signal is handled. In this case, the file has its
                    // partial name already, and the wrong piece does not count as written.
                    if end == .killed || sandbox.names != ["file.bin.part"] {
                        #expect(sandbox.names == ["file.bin"])
                        #expect(try sha256(of: sandbox.file("file.bin")) == Self.wrong.sha256)
                        #expect(server.log.entries.isEmpty)
                    }
                    let before = server.log.bytesSent
                    try await sandbox.expectDownloaded(Self.content, by: "resume", "1")
                    let sent = server.log.bytesSent - before
                    #expect(sent <= Self.length + 128 << 10, "\(sent)")
                }
            }

            @Test(
                "With one source, unhashed pieces do not count as right, and right pieces are not fetched again",
                arguments: End.allCases,
                [true, false])
            func atTheEnd(end: End, isRight: Bool) async throws {
                let reply = FaultReply(isRight ? Self.content : Self.wrong, etag: "\"v1\"")
                try await withDlm(serving: reply) { sandbox, server in
                    let document = try sandbox.write(metalink: Self.document([server]))
                    try await Self.run(sandbox, endsBy: end, mayFail: !isRight, "get", "-x", "1", "-M", document)
                    if end == .terminated, isRight, sandbox.names == ["file.bin"] {
                        #expect(try sha256(of: sandbox.file("file.bin")) == Self.content.sha256)
                        return
                    }
                    #expect(sandbox.names == ["file.bin.part"])
                    let received = try await sandbox.show(1).received
                    let knowsWrong = end == .terminated && !isRight && received == Self.content.size - Self.length
                    #expect(knowsWrong || received == Self.content.size)
                    let before = server.log.bytesSent
                    var result = try await sandbox.perform("resume", "1")
                    if !isRight {
                        #expect(result.ending == .exited(9), "\(result.stderr)")
                        #expect(!sandbox.exists("file.bin"))
                        server.handle { _ in FaultReply(Self.content, etag: "\"v1\"") }
                        result = try await sandbox.perform("resume", "1")
                    }
                    try expectDownloaded(Self.content, as: "file.bin", by: result, in: sandbox)
                    let pieces: Int64 = isRight ? 0 : knowsWrong ? 2 : 1
                    #expect(server.log.bytesSent - before <= pieces * (Self.length + 128 << 10))
                }
            }

            @Test(
                "With several sources, one with wrong bytes, unhashed pieces are hashed by the resume",
                arguments: End.allCases,
                [true, false])
            func together(end: End, liesOn: Bool) async throws {
                let honest: FaultServer.Handler = { _ in
                    FaultReply(Self.content).with { $0.bytesPerSecond = Int(4 * mebibyte) }
                }
                let liar: FaultServer.Handler = { _ in
                    FaultReply(Content(seed: 881, size: Self.content.size)).with {
                        $0.bytesPerSecond = Int(4 * mebibyte)
                    }
                }
                try await withMirrors([honest, liar]) { sandbox, mirrors in
                    let document = try sandbox.write(metalink: Self.document(mirrors.servers))
                    try await Self.run(sandbox, endsBy: end, "get", "-x", "2", "-M", document)
                    #expect(sandbox.names == ["file.bin.part"])
                    if !liesOn { mirrors.servers[1].handle(honest) }
                    try await sandbox.expectDownloaded(Self.content, by: "resume", "1")
                }
            }
        }
    }
#endif
