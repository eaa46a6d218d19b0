import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

/// The places in the program where ``FaultPoint`` can kill it, in the order of a download.
enum KillPoint: String, CaseIterable, Sendable {
    case afterAdd, beforeCreate, afterCreate, afterReserve, afterWrite, beforeCheckpoint, afterCheckpoint
    case committing, committed
    case beforeChecksum, beforeSync, afterSync, beforeFinishingMark, afterFinishingMark
    case beforeName, afterName, beforeCompleted, afterCompleted
    /// The points before and after dlm discards all bytes because the remote file has changed.
    case beforeTruncate, afterTruncate
    case pausing, paused, partialRemoved, removing
    /// The points of a small file, which has no name until it is complete.
    case unnamedCreated, unnamedWritten

    /// The points that a download passes if it takes at least a second.
    static let ofDownload = allCases.filter { $0 < .beforeTruncate }
    /// The points that every new small file passes.
    static let ofSmallFile: [KillPoint] =
        [.afterAdd, .committing, .committed]
        + allCases.filter { .unnamedCreated <= $0 || .beforeFinishingMark <= $0 && $0 < .beforeTruncate }

    static func < (one: KillPoint, other: KillPoint) -> Bool {
        (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }

    /// Returns whether all bytes are on disk and recorded at this point. A file of up to 1 MiB is recorded only with
    /// the finishing mark. A small file disappears unless it has its name.
    func hasEverything(of size: Int64) -> Bool {
        if size <= KillTrial.small { return .afterName <= self && self < .beforeTruncate }
        return (size > mebibyte ? KillPoint.committed : .beforeFinishingMark) < self && self < .beforeTruncate
    }
}

/// One download that is killed, and its expected result.
struct KillTrial: Sendable, CustomStringConvertible {
    enum Target: CaseIterable {
        case free, overwrite, rename
    }

    var point: KillPoint
    var count = 1
    var connections = 1
    var size = 5 * mebibyte + 77
    var target = Target.free
    var hasChecksum = false
    /// Whether `dlm resume` continues the download. Otherwise the same `dlm get` does.
    var resumes = false

    var description: String {
        "\(point):\(count) -x \(connections) \(size) \(target)\(hasChecksum ? " checksum" : "")\(resumes ? " resume" : "")"
    }

    static let small: Int64 = 100_000
    var place: String { "\(point)\(size <= Self.small ? ", small file" : "")" }

    var content: Content { Content(seed: 300, size: size) }
    var name: String { target == .rename ? "file (1).bin" : "file.bin" }
    /// Whether the point is at a checkpoint. Then the server must hold back the end of the file until the checkpoint.
    var waitsForTime: Bool { point == .beforeCheckpoint || point == .afterCheckpoint }
    /// The reply of the server. It is slow enough for a checkpoint if the point is at a checkpoint.
    var reply: FaultReply {
        FaultReply(content, etag: "\"v1\"").with {
            if waitsForTime { $0.bytesPerSecond = Int(size) * 10 / 8 / connections }
        }
    }

    static let older = Content(seed: 301, size: mebibyte + 5)

    func arguments(_ url: String) -> [String] {
        var words = ["get", "-x", "\(connections)", url]
        if target == .overwrite { words += ["--if-exists", "overwrite"] }
        if target == .rename { words += ["--if-exists", "rename"] }
        if hasChecksum { words += ["--checksum", "sha256:\(content.sha256)"] }
        return words
    }

    var cell: FaultTrial {
        FaultTrial(area: .process, fault: "kill -9 at \(place)", moment: .fresh, connections: connections)
    }

    /// Expects that a file under the final name is complete, wherever the process was killed.
    func expectNoLie(in sandbox: DlmSandbox) throws {
        if target != .free, sandbox.exists("file.bin") {
            let found = try sha256(of: sandbox.file("file.bin"))
            #expect(found == Self.older.sha256 || target == .overwrite && found == content.sha256, "\(self)")
        }
        if target != .overwrite, sandbox.exists(name) {
            #expect(try sha256(of: sandbox.file(name)) == content.sha256, "\(self)")
        }
        if target == .overwrite { #expect(sandbox.exists("file.bin"), "\(self): the old file is gone") }
    }

    /// Expects the files that must exist in the end.
    func expectFiles(in sandbox: DlmSandbox) throws {
        #expect(sandbox.names == (target == .rename ? ["file (1).bin", "file.bin"] : ["file.bin"]), "\(self)")
        if target == .rename { #expect(try sha256(of: sandbox.file("file.bin")) == Self.older.sha256, "\(self)") }
    }
}

extension KillPoint: Comparable {}

extension DlmSandbox {
    /// Runs a command until the fault point kills it. If the point is not passed, the command ends normally.
    func run(_ arguments: [String], until point: KillPoint, count: Int = 1) async throws -> ChildProcess.Result {
        var launch = try launch(arguments)
        launch.environment["DLM_FAULT_POINT"] = "\(point):\(count)"
        return try await ChildProcess(launch).result()
    }
}

extension EndToEnd {
    @Suite("Killed at every point", .serialized, .timeLimit(.minutes(10)))
    struct ProcessFaultTests {
        static var trials: [KillTrial] {
            var trials: [KillTrial] = []
            for point in KillPoint.ofDownload {
                let isTimed = point == .beforeCheckpoint || point == .afterCheckpoint
                for (connections, size) in [(1, 5 * mebibyte + 77), (4, 9 * mebibyte + 5), (1, 300_000)] {
                    for target in KillTrial.Target.allCases {
                        for hasChecksum in [false, true] where hasChecksum || point != .beforeChecksum || size > 1 << 20
                        {
                            for resumes in [false, true] {
                                trials.append(
                                    KillTrial(
                                        point: point, connections: connections,
                                        size: isTimed ? max(size, mebibyte) : size, target: target,
                                        hasChecksum: hasChecksum, resumes: resumes))
                            }
                        }
                    }
                }
                if point == .committing || point == .committed || point == .afterWrite {
                    for count in 2...4 { trials.append(KillTrial(point: point, count: count, resumes: count % 2 == 0)) }
                }
            }
            for point in KillPoint.ofSmallFile {
                for resumes in [false, true] {
                    trials.append(KillTrial(point: point, size: KillTrial.small, resumes: resumes))
                }
            }
            return trials
        }

        @Test(
            "After a kill at any point, the next command makes the right file; a complete file is not fetched again")
        func anyPoint() async throws {
            // The stride shares no divisor with the dimensions of the table, so all values of each dimension are
            // tested.
            try await concurrently(FaultTrial.short(Self.trials, each: 37), atMost: 4) {
                try await Self.expectRecovers($0)
            }
        }

        private static func expectRecovers(_ trial: KillTrial) async throws {
            try await withDlm(serving: trial.reply) { sandbox, server in
                if trial.target != .free { try KillTrial.older.write(to: sandbox.file("file.bin")) }
                let words = trial.arguments(server.url())
                if trial.waitsForTime { server.holdEnds() }
                let killed = try await sandbox.run(words, until: trial.point, count: trial.count)
                server.releaseEnds()
                #expect(killed.ending == .signalled(SIGKILL), "\(trial): \(killed.stderr)")
                #expect(killed.stdout.isEmpty || trial.point == .afterCompleted, "\(trial)")
                try trial.expectNoLie(in: sandbox)
                let sent = await server.bytesSentInAll()
                let next = trial.resumes ? ["resume", try await sandbox.onlyID()] : words
                let result = try await sandbox.run(next)
                try trial.cell.judge(result, in: sandbox, right: [trial.content], errors: [], as: trial.name)
                try trial.expectFiles(in: sandbox)
                #expect(try await sandbox.list().map(\.state) == ["completed"], "\(trial)")
                if trial.point.hasEverything(of: trial.size) {
                    #expect(server.log.bytesSent == sent, "\(trial): fetched again")
                }
            }
        }

        @Test("If a download is killed again while it recovers from a kill, the next command completes it")
        func twice() async throws {
            let pairs = KillPoint.ofDownload.flatMap { first in KillPoint.ofDownload.map { (first, $0) } }
            try await concurrently(FaultTrial.short(pairs, each: 79), atMost: 4) { first, second in
                let trial = KillTrial(
                    point: first, connections: first == .afterWrite ? 4 : 1, hasChecksum: second == .afterSync)
                try await withDlm(serving: trial.reply) { sandbox, server in
                    let words = trial.arguments(server.url())
                    if trial.waitsForTime { server.holdEnds() }
                    let killed = try await sandbox.run(words, until: first)
                    server.releaseEnds()
                    #expect(killed.ending == .signalled(SIGKILL), "\(trial): \(killed.stderr)")
                    let again = try await sandbox.run(words, until: second)
                    // If the second point comes before the first point, it may not be passed again. Then the command
                    // succeeds.
                    #expect([.signalled(SIGKILL), .exited(0)].contains(again.ending), "\(trial), \(second): \(again)")
                    try trial.expectNoLie(in: sandbox)
                    let result = try await sandbox.run("get", server.url())
                    try trial.cell.judge(result, in: sandbox, right: [trial.content], errors: [])
                    #expect(sandbox.names == ["file.bin"])
                    #expect(try await sandbox.list().map(\.state) == ["completed"], "\(trial), \(second)")
                    if first.hasEverything(of: trial.size) {
                        #expect(server.log.bytesSent <= trial.size, "\(trial), \(second)")
                    }
                }
            }
        }

        @Test("If a download is killed while it discards an older version, the next command completes it")
        func startingOver() async throws {
            let old = FaultReply(Content(seed: 302, size: 8 * mebibyte), etag: "\"old\"").with {
                $0.cut = .close(after: mebibyte)
            }
            let new = FaultReply(Content(seed: 303, size: 8 * mebibyte), etag: "\"new\"")
            let cases = [KillPoint.beforeTruncate, .afterTruncate].flatMap { point in
                // The older version may be back on the server, too.
                [(1, new), (4, new), (1, old.with { $0.cut = nil })].map { (point, $0.0, $0.1) }
            }
            try await concurrently(cases, atMost: 4) { point, connections, last in
                // One part arrives, and then nothing more.
                try await withDlm({ $0.number == 1 ? old : old.with { $0.cut = .silence } }) { sandbox, server in
                    let words = ["get", "-x", "\(connections)", "--retries", "0", server.url()]
                    let first = try await sandbox.run(words)
                    expectFailure(4, of: first)
                    server.handle { _ in new }
                    let killed = try await sandbox.run(words, until: point)
                    #expect(killed.ending == .signalled(SIGKILL), "\(killed.stderr)")
                    server.handle { _ in last }
                    let result = try await sandbox.run("resume", try await sandbox.onlyID())
                    try FaultTrial(
                        area: .process, fault: "kill -9 at \(point)", moment: .resume, connections: connections
                    ).judge(result, in: sandbox, right: [last.content], errors: [])
                    #expect(sandbox.names == ["file.bin"])
                }
            }
        }

        @Test("If a download is killed while it pauses, the next command completes it")
        func pausing() async throws {
            let content = Content(seed: 304, size: 4 * mebibyte)
            let whole = FaultReply(content, etag: "\"v1\"")
            let cases = [KillPoint.pausing, .paused].flatMap { point in [1, 4].map { (point, $0) } }
            try await concurrently(cases, atMost: 4) { point, connections in
                let slow = whole.with { $0.bytesPerSecond = Int(2 * mebibyte) / connections }
                try await withDlm(holding: slow) { sandbox, server in
                    let get = try sandbox.start("get", "-x", "\(connections)", server.url()) {
                        $0.environment["DLM_FAULT_POINT"] = "\(point)"
                    }
                    try await sandbox.waitToRecord(mebibyte / 2)
                    get.send(SIGTERM)
                    #expect(try await get.result().ending == .signalled(SIGKILL))
                    let (kept, before) = (try await sandbox.show(1).received, server.log.bytesSent)
                    server.handle { _ in whole }
                    server.releaseEnds()
                    let result = try await sandbox.run("resume", try await sandbox.onlyID())
                    try FaultTrial(area: .process, fault: "kill -9 at \(point)", connections: connections)
                        .judge(result, in: sandbox, right: [content], errors: [])
                    ResumeTests.expectKept(kept, of: content, server, since: before, point)
                    #expect(!holdsToPromises || server.log.bytesSentTwice() <= 2 * mebibyte)
                }
            }
        }

        @Test(
            "After a kill during remove, the next download is right, whether or not the old download was removed",
            arguments: [KillPoint.partialRemoved, .removing], [false, true])
        func removing(point: KillPoint, isRepeated: Bool) async throws {
            let content = Content(seed: 305, size: 6 * mebibyte)
            let reply = FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(4 * mebibyte) }
            try await withDlm(serving: reply) { sandbox, server in
                _ = try await sandbox.interrupt("get", server.url(), with: SIGTERM, after: mebibyte, from: server)
                let killed = try await sandbox.run(["remove", "1"], until: point)
                #expect(killed.ending == .signalled(SIGKILL))
                if isRepeated, try await !sandbox.list().isEmpty { try await sandbox.done("remove", "1") }
                server.handle { _ in FaultReply(content, etag: "\"v1\"") }
                let result = try await sandbox.run("get", server.url())
                try FaultTrial(area: .process, fault: "kill -9 while it is removed", moment: .resume)
                    .judge(result, in: sandbox, right: [content], errors: [])
            }
        }

        @Test("The background session, killed at any point, continues when it is started again")
        func background() async throws {
            try await concurrently(FaultTrial.short(KillPoint.ofDownload, each: 6), atMost: 2) { point in
                let trial = KillTrial(point: point, connections: 4)
                try await withDlm(serving: trial.reply) { sandbox, server in
                    let started = try await sandbox.run("daemon", "start", "--json") {
                        $0.environment["DLM_FAULT_POINT"] = "\(point)"
                    }
                    let daemon = try sandbox.daemon(started)
                    if trial.waitsForTime { server.holdEnds() }
                    let handed = try await sandbox.run("get", "-b", "-x", "4", server.url())
                    // The session may be killed before it can answer.
                    #expect([.exited(0), .exited(12)].contains(handed.ending), "\(trial): \(handed.stderr)")
                    #expect(await daemon.waitForEnd(), "\(trial)")
                    server.releaseEnds()
                    try trial.expectNoLie(in: sandbox)
                    let sent = await server.bytesSentInAll()
                    _ = try await sandbox.startDaemon()
                    let result = try await sandbox.perform("wait", "1")
                    #expect(result.ending == .exited(0), "\(trial): \(result.stderr)")
                    try expectFile(trial.content, "file.bin", in: sandbox, trial)
                    #expect(sandbox.names == ["file.bin"])
                    if point.hasEverything(of: trial.size) {
                        #expect(server.log.bytesSent == sent, "\(trial): fetched again")
                    }
                    FaultTrial(area: .process, fault: "background session: kill -9 at \(point)", connections: 4)
                        .note(result, isRight: true)
                }
            }
        }

        @Test("The program has exactly the fault points that the tests use")
        func points() throws {
            let tests = URL(fileURLWithPath: #filePath).pathComponents.prefix { $0 != "Tests" }
            let sources = NSString.path(withComponents: tests + ["Sources"])
            var found: Set<String> = []
            for path in try FileManager.default.subpathsOfDirectory(atPath: sources) where path.hasSuffix(".swift") {
                let text = try String(contentsOfFile: "\(sources)/\(path)", encoding: .utf8)
                for match in text.matches(of: /FaultPoint\.reached\("(\w+)"\)/) { found.insert(String(match.1)) }
            }
            // The points of -c, of hooks and of pieces have their own tests (ContinueTests, HookTests,
            // HashingFaultTests).
            let elsewhere: Set = ["beforeAdopt", "afterAdopt", "beforeHookTaken", "afterHookTaken", "pieceHashed"]
            #expect(found == elsewhere.union(KillPoint.allCases.map(\.rawValue)))
        }
    }
}
