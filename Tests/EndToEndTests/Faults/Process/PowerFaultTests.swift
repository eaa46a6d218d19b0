import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Loss of power", .serialized, .timeLimit(.minutes(10)))
    struct PowerFaultTests {
        struct Trial: Sendable, CustomStringConvertible {
            let loss: PowerCut.Loss
            let point: KillPoint
            var connections = 1
            var size = 5 * mebibyte + 77
            var hasChecksum = false
            var target = KillTrial.Target.free
            /// The number of random numbers to skip, so that trials differ.
            var number = 0

            var description: String {
                "\(number): \(loss) at \(kill)"
            }

            var kill: KillTrial {
                KillTrial(
                    point: point, connections: connections, size: size, target: target, hasChecksum: hasChecksum)
            }
            var cell: FaultTrial {
                FaultTrial(area: .power, fault: "\(loss): \(kill.place)", moment: .resume, connections: connections)
            }
        }

        static var trials: [Trial] {
            var trials: [Trial] = []
            let targets = [KillTrial.Target.free, .free, .overwrite, .rename]
            for point in KillPoint.ofDownload {
                for loss in PowerCut.Loss.allCases {
                    for (connections, size) in [(1, 5 * mebibyte + 77), (4, 9 * mebibyte + 5), (1, 300_000)] {
                        for turn in 0..<(loss == .mixed ? 5 : 1) {
                            trials.append(
                                Trial(
                                    loss: loss, point: point, connections: connections, size: size,
                                    hasChecksum: turn % 2 == 1, target: size > mebibyte ? targets[turn % 4] : .free,
                                    number: trials.count))
                        }
                    }
                }
            }
            for point in KillPoint.ofSmallFile {
                for loss in PowerCut.Loss.allCases {
                    for _ in 0..<(loss == .mixed ? 5 : 1) {
                        trials.append(Trial(loss: loss, point: point, size: KillTrial.small, number: trials.count))
                    }
                }
            }
            return trials
        }

        static let losses = FaultTrial.short(PowerCut.Loss.allCases, each: 3)

        @Test("After a loss of power at any point, with any loss of unsynced data, resume makes the right file")
        func anyPoint() async throws {
            let random = SeededGenerator(for: "Loss of power")
            try await concurrently(FaultTrial.short(Self.trials, each: 53), atMost: 4) { trial in
                var random = random
                for _ in 0..<trial.number { _ = random.next() }
                try await Self.expectRecovers(trial, using: &random)
            }
        }

        private static func expectRecovers(_ trial: Trial, using random: inout SeededGenerator) async throws {
            try await withPowerCut(serving: trial.kill.reply) { power, server in
                let sandbox = power.sandbox
                if trial.target != .free {
                    try KillTrial.older.write(to: sandbox.file("file.bin"))
                    try power.settle()
                }
                let words = trial.kill.arguments(server.url())
                if trial.kill.waitsForTime { server.holdEnds() }
                let killed = try await power.start(words) { $0.environment["DLM_FAULT_POINT"] = "\(trial.point)" }
                    .result()
                server.releaseEnds()
                #expect(killed.ending == .signalled(SIGKILL), "\(trial): \(killed.stderr)")
                try power.cut(trial.loss, wereNamed: trial.size > 200_000, using: &random)
                try trial.kill.expectNoLie(in: sandbox)
                let sent = await server.bytesSentInAll()
                let listed = try await sandbox.list()
                // The record of the download is durable, and so is the record of its partial file.
                #expect(listed.count == 1, "\(trial)")
                let result = try await power.run("resume", "1")
                try trial.cell.judge(
                    result, in: sandbox, right: [trial.kill.content], errors: [], as: trial.kill.name)
                try trial.kill.expectFiles(in: sandbox)
                // A file that is recorded as complete is not fetched again after any loss. A marked file is not fetched
                // again if nothing was lost.
                let isFinished = trial.point == .beforeCompleted || trial.point == .afterCompleted
                let isMarked =
                    KillPoint.beforeFinishingMark < trial.point && trial.point < .beforeTruncate
                    && trial.loss == .lazy && trial.size > KillTrial.small
                if isFinished || isMarked { #expect(server.log.bytesSent == sent, "\(trial): fetched again") }
            }
        }

        @Test("Synced bytes are not fetched again, whenever the power fails")
        func progress() async throws {
            let cases = PowerCut.Loss.allCases.flatMap { loss in [1, 4].map { (loss, $0) } }
            try await concurrently(FaultTrial.short(cases, each: 5), atMost: 4) { loss, connections in
                try await Self.expectProgress(loss, connections, cuts: FaultTrial.isFull ? 8 : 1)
            }
        }

        private static func expectProgress(_ loss: PowerCut.Loss, _ connections: Int, cuts: Int64) async throws {
            let rate = 4 * mebibyte
            let content = Content(seed: 310, size: (cuts + 1) * 4 * rate)
            // Each answer stalls after a part of the file, so that enough is left for every cut.
            let slow = FaultReply(content, etag: "\"v1\"").with {
                $0.bytesPerSecond = Int(rate) / connections
                $0.gate = Gate(after: 4 * rate / Int64(connections) + mebibyte)
            }
            var random = SeededGenerator(for: "What was synced, \(loss), \(connections)")
            try await withPowerCut(serving: slow) { power, server in
                for cut in 1...cuts {
                    let target = server.log.bytesSent + Int64.random(in: 3 * rate...4 * rate, using: &random)
                    let get = try power.start(["get", "-x", "\(connections)", server.url()])
                    #expect(await server.waitUntil { $0.bytesSent >= target })
                    try await get.killed()
                    try power.cut(loss, using: &random)
                    #expect(power.sandbox.names == ["file.bin.part"], "cut \(cut)")
                }
                let (kept, before) = (try await power.sandbox.show(1).received, server.log.bytesSent)
                server.handle { _ in FaultReply(content, etag: "\"v1\"") }
                let result = try await power.run("resume", "1")
                try FaultTrial(
                    area: .power, fault: "\(loss): at random moments", moment: .resume, connections: connections
                ).judge(result, in: power.sandbox, right: [content], errors: [])
                // There is a sync each half second here, and the checkpoint after each sync records the synced bytes.
                // Bytes that are recorded as written, but not as synced, are fetched again.
                let sent = server.log.bytesSent - before
                #expect(sent <= content.size - kept + 5 * rate / 2, "\(loss): kept \(kept), sent \(sent)")
                #expect(!holdsToPromises || server.log.bytesSentTwice() <= cuts * 5 * rate / 2)
            }
        }

        @Test(
            "Power fails while dlm discards an older version: the file is right, although the older bytes may be back")
        func startingOver() async throws {
            let points = [KillPoint.beforeTruncate, .afterTruncate, .beforeSync, .afterSync, .beforeFinishingMark]
            let cases = points.flatMap { point in PowerCut.Loss.allCases.map { (point, $0) } }
            // The download lasts long enough for a sync and its record.
            let lossOfLine: @Sendable (inout FaultReply) -> Void = {
                $0.cut = .close(after: 6 * mebibyte)
                $0.bytesPerSecond = Int(4 * mebibyte)
            }
            try await concurrently(FaultTrial.short(cases, each: 5), atMost: 4) { point, loss in
                let old = FaultReply(Content(seed: 313, size: 9 * mebibyte), etag: "\"old\"")
                let new = FaultReply(Content(seed: 314, size: 8 * mebibyte), etag: "\"new\"")
                var random = SeededGenerator(for: "Starting over, \(point), \(loss)")
                try await withPowerCut(serving: old.with(lossOfLine)) { power, server in
                    // With one connection, the connection is lost at the same place each time.
                    let words = ["get", "-x", "1", "--retries", "0", server.url()]
                    expectFailure(4, of: try await power.start(words).result())
                    server.handle { _ in new }
                    let killed = try await power.start(words) { $0.environment["DLM_FAULT_POINT"] = "\(point)" }
                        .result()
                    #expect(killed.ending == .signalled(SIGKILL), "\(killed.stderr)")
                    try power.cut(loss, using: &random)
                    server.handle { _ in old }
                    let result = try await power.run("resume", "1")
                    try FaultTrial(area: .power, fault: "\(loss): \(point) of another version", moment: .resume)
                        .judge(result, in: power.sandbox, right: [old.content, new.content], errors: [])
                    #expect(power.sandbox.names == ["file.bin"])
                }
            }
        }

        @Test("If power fails while many small files share a sync, every reported file is complete")
        func batch() async throws {
            let points = KillPoint.ofSmallFile
            let cases = points.flatMap { point in
                PowerCut.Loss.allCases.flatMap { loss in [1, 5, 20].map { (point, loss, $0) } }
            }
            try await concurrently(FaultTrial.short(cases, each: 29), atMost: 4) { point, loss, count in
                var random = SeededGenerator(for: "Many small files, \(point), \(loss), \(count)")
                let content = Content(seed: 315, size: 50_000)
                try await withPowerCut(serving: FaultReply(content, etag: "\"v1\"")) { power, server in
                    let names = (10..<40).map { "\($0).bin" }
                    let words = ["get"] + names.map { server.url("/" + $0) }
                    // If files share a sync, the point may be passed fewer than `count` times. Then nothing kills the
                    // command.
                    let killed = try await power.start(words) {
                        $0.environment["DLM_FAULT_POINT"] = "\(point):\(count)"
                    }
                    .result()
                    let reported = killed.outputLines.map { ($0 as NSString).lastPathComponent }
                    try power.cut(loss, wereNamed: false, using: &random)
                    let what = "\(point):\(count), \(loss)"
                    for name in reported { try expectFile(content, name, in: power.sandbox, what) }
                    for name in names where power.sandbox.exists(name) {
                        #expect(try sha256(of: power.sandbox.file(name)) == content.sha256, "\(what)")
                    }
                    #expect(try await power.sandbox.list().count == names.count, "\(what)")
                    let result = try await power.run("resume", "1-\(names.count)")
                    #expect(result.ending == .exited(0), "\(what): \(result.stderr)")
                    for name in names { try expectFile(content, name, in: power.sandbox, what) }
                    #expect(power.sandbox.names == names)
                    FaultTrial(area: .power, fault: "\(loss): \(point), many small files", moment: .resume)
                        .note(result, isRight: result.ending == .exited(0))
                }
            }
        }

        @Test("Files that were reported as complete exist after a loss of power", arguments: losses, [false, true])
        func reported(loss: PowerCut.Loss, isNew: Bool) async throws {
            let content = Content(seed: 311, size: 300_000)
            var random = SeededGenerator(for: "What was reported")
            try await withPowerCut(serving: FaultReply(content, etag: "\"v1\""), isNew: isNew) { power, server in
                let names = (0..<12).map { "file\($0).bin" }
                let many = try await power.start(["get"] + names.map { server.url("/" + $0) }).result()
                #expect(many.ending == .exited(0), "\(many.stderr)")
                let result = try await power.run("get", "-d", "a/b", server.url())
                #expect(result.ending == .exited(0), "\(result.stderr)")
                try power.cut(loss, using: &random)
                for name in names + ["a/b/file.bin"] { try expectFile(content, name, in: power.sandbox, loss) }
                #expect(power.sandbox.names == ["a"] + names.sorted())
                let sent = await server.bytesSentInAll()
                let again = try await power.run("get", "-d", "a/b", server.url())
                #expect(again.ending == .exited(0), "\(again.stderr)")
                #expect(server.log.bytesSent == sent)
                FaultTrial(area: .power, fault: "\(loss): after it was reported", moment: .fresh)
                    .note(again, isRight: again.ending == .exited(0))
            }
        }

        @Test("Downloads of the background session exist after a loss of power, and continue", arguments: losses)
        func background(loss: PowerCut.Loss) async throws {
            let content = Content(seed: 312, size: 4 * mebibyte)
            let slow = FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(mebibyte) }
            var random = SeededGenerator(for: "What was handed over")
            try await withPowerCut(serving: slow) { power, server in
                let started = try await power.run("daemon", "start", "--json")
                let daemon = try power.sandbox.daemon(started)
                let names = ["a", "b", "c"]
                let handed = try await power.start(["get", "-b"] + names.map { server.url("/" + $0) }).result()
                #expect(handed.outputLines == ["1", "2", "3"], "\(handed.stderr)")
                daemon.send(SIGKILL)
                #expect(await daemon.waitForEnd())
                try power.cut(loss, using: &random)
                server.handle { _ in FaultReply(content, etag: "\"v1\"") }
                _ = try await power.run("daemon", "start")
                let waited = try await power.run("wait", "1-3")
                #expect(waited.ending == .exited(0), "\(waited.stderr)")
                for name in names { try expectFile(content, name, in: power.sandbox, loss) }
                #expect(power.sandbox.names == names)
                FaultTrial(area: .power, fault: "\(loss): with a background session", moment: .fresh)
                    .note(waited, isRight: waited.ending == .exited(0))
            }
        }
    }
}
