import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite(
        "Faults of a disk that is full", .serialized, .timeLimit(.minutes(3)),
        .enabled(if: SmallDisk.canMount, "needs root to mount a small tmpfs"))
    struct LocalDiskFaultTests {
        /// Runs a test with a small disk, usually of 16 MiB, at the download folder or another folder of the sandbox.
        private func onDisk(
            _ reply: FaultReply, of folder: KeyPath<DlmSandbox, String> = \.files, kibibytes: Int = 16 << 10,
            _ body: (DlmSandbox, FaultServer) async throws -> Void
        ) async throws {
            try await withDlm(serving: reply) { sandbox, server in
                let path = sandbox[keyPath: folder]
                try #require(SmallDisk.mount(kibibytes: kibibytes, at: path) == 0)
                defer { umount2(path, Int32(MNT_DETACH)) }
                try await body(sandbox, server)
            }
        }

        /// The free space in bytes at the beginning of the download.
        static let spaces: [Int64] = [
            mebibyte, 0, 4096, 64 << 10, 252 << 10, 256 << 10, 300 << 10, 3 * mebibyte, 6 * mebibyte - 4096,
            6 * mebibyte, 6 * mebibyte + 4096,
        ]

        @Test(
            "If a file of unknown size fills the disk, the status is 3; with more space the same command completes it",
            arguments: FaultTrial.short(spaces, each: 6))
        func unknownSize(space: Int64) async throws {
            let reply = LocalTrial.reply(connections: 1, framing: .chunked).with { $0.bytesPerSecond = nil }
            try await onDisk(reply) { sandbox, server in
                let trial = LocalTrial("disk full, \(space) bytes free, size unknown", sandbox, server)
                try SmallDisk.fill(sandbox.files, sparing: space)
                let result = try await trial.run()
                try trial.judge(result, errors: [3])
                guard result.ending != .exited(0) else { return }
                #expect(result.stderr.contains("no space left"), "\(result.stderr)")
                SmallDisk.empty(sandbox.files)
                try await trial.expectRecovery()
            }
        }

        @Test(
            "A file of known size that does not fit is refused before it is fetched",
            arguments: FaultTrial.short([1, 4], each: 2))
        func knownSize(connections: Int) async throws {
            try await onDisk(LocalTrial.reply(connections: connections)) { sandbox, server in
                let trial = LocalTrial("disk full, size known", connections: connections, sandbox, server)
                try SmallDisk.fill(sandbox.files, sparing: 5 * mebibyte)
                let result = try await trial.run()
                try trial.judge(result, errors: [3])
                #expect(result.stderr.contains("more bytes are needed"), "\(result.stderr)")
                #expect(sandbox.names == ["filler"])
                #expect(server.log.entries.count == 1)
                SmallDisk.empty(sandbox.files)
                try await trial.expectRecovery()
            }
        }

        @Test(
            "If another program fills the disk during the download, the file is right or the status is 3",
            arguments: FaultTrial.short([4, 1], each: 2), [false, true])
        func filled(connections: Int, comesBack: Bool) async throws {
            let reply = LocalTrial.reply(connections: connections)
            try await onDisk(reply) { sandbox, server in
                let fault = "disk filled underway" + (comesBack ? ", space returns at once" : "")
                let trial = LocalTrial(fault, moment: .middle, connections: connections, sandbox, server)
                let process = try await trial.start()
                try SmallDisk.fill(sandbox.files)
                if comesBack { SmallDisk.empty(sandbox.files) }
                server.releaseEnds()
                try trial.judge(try await process.result(), errors: [3])
                if sandbox.exists("file.bin") { return }
                SmallDisk.empty(sandbox.files)
                try await trial.expectRecovery(atMost: LocalTrial.content.size - mebibyte)
            }
        }

        @Test("If the disk fills up during a list of ten files, the status is 3, and every printed file is complete")
        func list() async throws {
            let content = Content(seed: 97, size: mebibyte)
            try await onDisk(FaultReply(content), kibibytes: 4 << 10) { sandbox, server in
                let list = (0..<10).map { server.url("/f\($0)") }.joined(separator: "\n")
                let result = try await sandbox.perform("get", "-i", "-") { $0.input = list }
                #expect(result.ending == .exited(3), "\(result.stderr)")
                for path in result.outputLines { #expect(try sha256(of: String(path)) == content.sha256) }
                #expect(result.outputLines.count == sandbox.names.filter { !$0.hasSuffix(".part") }.count)
            }
        }

        static let stores = [128, 64, 4, 32, 96, 112, 160, 192, 256, 512]

        @Test(
            "If the disk of the store is small, the file is right or the status is 3 or 12",
            arguments: FaultTrial.short(stores, each: 5))
        func smallStore(kibibytes: Int) async throws {
            try await onDisk(LocalTrial.reply(connections: 1), of: \.state, kibibytes: kibibytes) { sandbox, server in
                let trial = LocalTrial("the store's disk of \(kibibytes) KiB is full", sandbox, server)
                let result = try await trial.run()
                try trial.judge(result, errors: [3, 12])
                guard result.ending != .exited(0) else { return }
                #expect(result.stderr.contains("no space left"), "\(result.stderr)")
                try #require(SmallDisk.mount(kibibytes: 32 << 10, at: sandbox.state, flags: MS_REMOUNT) == 0)
                try await trial.expectRecovery()
            }
        }

        @Test(
            "If the disk of the store fills up, the status is 3, unless space returns before the end",
            arguments: FaultTrial.short([1, 4], each: 2), [StoreSpace.never, .beforeTheEnd])
        func storeFilled(connections: Int, space: StoreSpace) async throws {
            let reply = LocalTrial.reply(connections: connections)
            try await onDisk(reply, of: \.state) { sandbox, server in
                let fault = "the store's disk is filled underway" + (space == .never ? "" : ", space returns")
                let trial = LocalTrial(fault, moment: .middle, connections: connections, sandbox, server)
                let process = try await trial.start()
                try SmallDisk.fill(sandbox.state)
                if space == .beforeTheEnd {
                    await trial.waitForTraffic(mebibyte)
                    SmallDisk.empty(sandbox.state)
                }
                server.releaseEnds()
                let result = try await process.result()
                try trial.judge(result, errors: space == .never ? [3] : [])
                if space == .beforeTheEnd { return }
                #expect(result.stderr.contains("downloads.sqlite: no space left"), "\(result.stderr)")
                SmallDisk.empty(sandbox.state)
                // The download continues from the last recorded state, which may be from before the disk was full.
                try await trial.expectRecovery()
            }
        }

        enum StoreSpace { case never, beforeTheEnd }
    }
}
