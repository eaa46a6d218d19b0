import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadSystem

@Suite("The program of a hook", .inTurn, .serialized, .timeLimit(.minutes(1)))
struct UserProgramTests {
    private func start(
        _ script: String, in folder: TemporaryFolder, input: String = "", environment: [String: String] = [:]
    ) throws -> UserProgram {
        try folder.write("#!/bin/sh\n" + script, to: "hook.sh")
        #expect(chmod(folder("hook.sh"), 0o700) == 0)
        return try UserProgram.start(
            folder("hook.sh"), environment: environment.merging(["PATH": "/usr/bin:/bin"]) { own, _ in own },
            folder: folder.path, input: input)
    }

    @Test("A hook reads its input, has its environment and its folder, and reports how it ended")
    func runs() async throws {
        let folder = try TemporaryFolder()
        let process = try start(
            "pwd >out; cat >>out; printf '%s' \"$WORD\" >>out; ls /proc/self/fd | wc -l >fds; exit 3", in: folder,
            input: "{}\n", environment: ["WORD": "a'b\n$x"])
        #expect(await process.end(within: .seconds(30)) == .exited(3))
        #expect(try folder.read("out") == "\(folder.path)\n{}\na'b\n$x")
        // The three standard streams, and the descriptor with which ls lists them.
        #expect(try folder.read("fds").trimmingCharacters(in: .whitespacesAndNewlines) == "4")
        let killed = try start("kill -9 $$", in: folder)
        #expect(await killed.end(within: .seconds(30)) == .signalled(SIGKILL))
    }

    @Test("If other code has taken the exit status, the status is unknown, which is a failure")
    func lost() async throws {
        let pipe = Pipe()
        let process = try UserProgram.start(
            "/bin/sh", ["-c", "echo $$"], environment: [:], folder: "/", input: "",
            outputs: (pipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO))
        let text = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
        let child = try #require(pid_t(text.filter(\.isNumber)))
        #expect(waitpid(child, nil, 0) == child)
        #expect(await process.end(within: .seconds(30)) == .exited(nil))
    }

    @Test("At the time limit, a hook is ended with its process group, even if it ignores SIGTERM")
    func timeLimit() async throws {
        let folder = try TemporaryFolder()
        for trap in ["", "trap '' TERM; "] {
            var child: pid_t?
            // On a busy machine, the shell may not have started its child within a short limit.
            for limit in [0.3, 5, 40] where child == nil {
                let name = "child\(trap.count)"
                let process = try start("\(trap)sleep 300 & echo $! >\(name); wait", in: folder)
                #expect(await process.end(within: .seconds(limit)) == .timedOut)
                child = folder.exists(name) ? pid_t(try folder.read(name).filter(\.isNumber)) : nil
            }
            let left = ForeignProcess(try #require(child))
            #expect(await left?.waitForEnd() ?? true, "the child is left")
        }
    }

    @Test("A hook ends when its task is cancelled")
    func cancelled() async throws {
        let folder = try TemporaryFolder()
        let process = try start("exec sleep 300", in: folder)
        let task = Task { await process.end(within: .seconds(200)) }
        task.cancel()
        #expect(await task.value == .stopped)
    }

    @Test("A program that cannot be run gives the reason")
    func cannotRun() throws {
        let folder = try TemporaryFolder()
        func failure(_ path: String) -> String? {
            #expect(throws: UserProgram.StartFailure.self) {
                try UserProgram.start(path, environment: [:], folder: "/", input: "")
            }?.text
        }
        #expect(failure(folder("none"))?.contains("No such file") == true)
        try folder.write("echo", to: "text")
        #expect(chmod(folder("text"), 0o700) == 0)
        #expect(failure(folder("text"))?.contains("#!") == true)
    }
}
