import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("The program of a hook", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct HookProcessTests {
    private func start(
        _ script: String, in folder: TemporaryFolder, input: String = "", environment: [String: String] = [:]
    ) throws -> HookProcess {
        try folder.write("#!/bin/sh\n" + script, to: "hook.sh")
        #expect(chmod(folder("hook.sh"), 0o700) == 0)
        return try HookProcess.start(
            folder("hook.sh"), environment: environment.merging(["PATH": "/usr/bin:/bin"]) { own, _ in own },
            folder: folder.path, input: input
        ).get()
    }

    @Test("It reads its input, has its environment and its folder, and tells how it ended")
    func runs() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let process = try start(
            "pwd >out; cat >>out; printf '%s' \"$WORD\" >>out; ls /proc/self/fd | wc -l >fds; exit 3", in: folder,
            input: "{}\n", environment: ["WORD": "a'b\n$x"])
        #expect(await process.end(within: .seconds(30)) == .exited(3))
        #expect(try folder.read("out") == "\(folder.path)\n{}\na'b\n$x")
        // The three standard descriptors, and the one that `ls` opens to list them.
        #expect(try folder.read("fds").trimmingCharacters(in: .whitespacesAndNewlines) == "4")
        let killed = try start("kill -9 $$", in: folder)
        #expect(await killed.end(within: .seconds(30)) == .signalled(SIGKILL))
    }

    @Test("At its time limit it ends with all its group, also when it ignores SIGTERM")
    func timeLimit() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for trap in ["", "trap '' TERM; "] {
            let process = try start("\(trap)sleep 300 & echo $! >child; wait", in: folder)
            #expect(await process.end(within: .milliseconds(300)) == .timedOut)
            let child = try #require(pid_t(try folder.read("child").filter(\.isNumber)))
            let left = ForeignProcess(child)
            #expect(await left?.waitForEnd() ?? true, "the child is left")
        }
    }

    @Test("When its task is cancelled it ends")
    func cancelled() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let process = try start("exec sleep 300", in: folder)
        let task = Task { await process.end(within: .seconds(200)) }
        task.cancel()
        #expect(await task.value == .stopped)
    }

    @Test("What cannot be run says why")
    func cannotRun() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        func failure(_ path: String) -> String? {
            switch HookProcess.start(path, environment: [:], folder: "/", input: "") {
            case .success: nil
            case .failure(let failure): failure.text
            }
        }
        #expect(failure(folder("none"))?.contains("No such file") == true)
        try folder.write("echo", to: "text")
        #expect(chmod(folder("text"), 0o700) == 0)
        #expect(failure(folder("text"))?.contains("#!") == true)
    }
}
