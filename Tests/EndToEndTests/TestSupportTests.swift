import DownloadTestSupport
import Foundation
import Testing

/// Tests of the test tools, so that no other test passes only because a tool is broken.
@Suite("Test support", .timeLimit(.minutes(1)))
struct TestSupportTests {
    @Test("An exit status and a death by a signal are distinguished")
    func endings() async throws {
        let exited = try await ChildProcess(ProcessLaunch("/bin/sh", ["-c", "exit 143"])).result()
        #expect(exited.ending == .exited(143))
        let killed = try await ChildProcess(ProcessLaunch("/bin/sh", ["-c", "kill -TERM $$"])).result()
        #expect(killed.ending == .signalled(SIGTERM))
    }

    @Test("The simulated disk of a power cut keeps all synced bytes of a file without a name, even after two syncs")
    func unnamedOnPowerCut() async throws {
        try await withDlm { sandbox in
            let power = try PowerCut(sandbox)
            let script = """
                import ctypes, os, sys
                c = ctypes.CDLL(None)
                folder = os.open(sys.argv[1], os.O_RDONLY)
                file = os.open(sys.argv[1], os.O_TMPFILE | os.O_RDWR)
                for half in (b"first ", b"second"):
                    os.write(file, half)
                    c.syncfs(folder)
                # AT_FDCWD, AT_SYMLINK_FOLLOW
                c.linkat(-100, f"/proc/self/fd/{file}".encode(), folder, b"whole", 0x400)
                os.fsync(folder)
                """
            var launch = ProcessLaunch("/usr/bin/python3", ["-c", script, sandbox.files])
            try power.prepare(&launch)
            let result = try await ChildProcess(launch).result()
            #expect(result.ending == .exited(0), "\(result.stderr)")
            var random = SeededGenerator(for: "A file without a name")
            try power.cut(.strict, using: &random)
            let left = sandbox.exists("whole") ? try sandbox.root.read("files/whole") : nil
            #expect(left == "first second")
        }
    }

    @Test("A program that exceeds its time limit is killed and fails its test")
    func timeLimit() async throws {
        var launch = ProcessLaunch("/bin/sh", ["-c", "echo begun; sleep 60"])
        launch.timeLimit = .milliseconds(300)
        launch.environment = ["PATH": "/usr/bin:/bin"]
        let process = try ChildProcess(launch)
        await #expect(throws: ChildProcess.Failure.self) { try await process.result() }
    }

    @Test("Only the memory of the program itself is measured")
    func memory() async throws {
        var launch = ProcessLaunch("/bin/sh", ["-c", "read line"])
        launch.terminalColumns = 80
        launch.watchesMemory = true
        let process = try ChildProcess(launch)
        #expect(await process.waitForOutput { $0.peakResident > 0 })
        process.send(SIGKILL)
        let result = try await process.result()
        #expect(result.peakResident < 8 << 20)
    }

    @Test("Content is the same in pieces as in whole, and differs by seed and page")
    func content() throws {
        let content = Content(seed: 7, size: 20_001)
        let whole = content.bytes(0..<20_001)
        #expect(Array(whole[4090..<8200]) == content.bytes(4090..<8200))
        #expect(Set((0..<4).map { content.bytes($0 * 4096..<$0 * 4096 + 4096) }).count == 4)
        #expect(content.bytes(0..<64) != Content(seed: 8, size: 20_001).bytes(0..<64))
        let folder = try TemporaryFolder()
        try content.write(to: folder("file"))
        #expect(try sha256(of: folder("file")) == content.sha256)
        #expect(Content("abc").sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test(
        "The answer to a range follows the script",
        arguments: [
            (FaultReply.RangeBehaviour.honoured, 206, "bytes 10-19/100", 10),
            (.ignored, 200, nil, 100), (.withoutContentRange, 206, nil, 10),
            (.wrongStart(by: 5), 206, "bytes 15-19/100", 5), (.wrongEnd(by: 7), 206, "bytes 10-26/100", 17),
            (.wrongTotal(by: 1), 206, "bytes 10-19/101", 10), (.refused, 416, "bytes */100", nil),
            (.wrongBytes(by: 3), 206, "bytes 10-19/100", 10),
        ] as [(FaultReply.RangeBehaviour, Int, String?, Int?)])
    func ranges(behaviour: FaultReply.RangeBehaviour, status: Int, contentRange: String?, size: Int?) {
        var request = FaultRequest()
        request.fields = [("range", "bytes=10-19")]
        let reply = FaultReply(Content(seed: 1, size: 100)).with { $0.ranges = behaviour }
        let resolved = ResolvedReply(reply, to: request)
        #expect(resolved.status == status)
        #expect(resolved.fields.first { $0.name == "Content-Range" }?.value == contentRange)
        if let size { #expect(resolved.size == Int64(size)) }
    }

    @Test(
        "If-Range holds only for the same strong ETag or the same date",
        arguments: [
            ("\"a\"", 206), ("\"b\"", 200), ("W/\"a\"", 200), ("Tue, 01 Jan 2030 00:00:00 GMT", 206),
            ("Tue, 01 Jan 2031 00:00:00 GMT", 200),
        ])
    func ifRange(condition: String, status: Int) {
        var request = FaultRequest()
        request.fields = [("Range", "bytes=5-"), ("If-Range", condition)]
        let reply = FaultReply(
            Content(seed: 1, size: 100), etag: "\"a\"", lastModified: "Tue, 01 Jan 2030 00:00:00 GMT")
        #expect(ResolvedReply(reply, to: request).status == status)
        let weak = reply.with { $0.etag = "W/\"a\"" }
        if condition.hasSuffix("\"") { #expect(ResolvedReply(weak, to: request).status == 200) }
    }
}
