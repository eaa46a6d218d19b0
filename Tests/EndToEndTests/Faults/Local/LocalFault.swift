import DownloadTestSupport
import Foundation
import Testing

/// A download during a local fault, and the same command after the fault is gone.
struct LocalTrial {
    /// The content. It is so large that each fault comes before the end, and each of four connections fetches a part.
    static let content = Content(seed: 600, size: 6 * mebibyte + 5)
    /// The number of bytes that the server has sent when a fault comes: a third of the content.
    static let underway = 2 * mebibyte

    /// Returns a reply that takes a second and a half for the file, over one connection or four.
    static func reply(connections: Int, framing: FaultReply.Framing = .contentLength) -> FaultReply {
        FaultReply(content, etag: "\"v1\"").with {
            $0.framing = framing
            $0.bytesPerSecond = Int(4 * mebibyte) / connections
        }
    }

    let trial: FaultTrial
    let sandbox: DlmSandbox
    let server: FaultServer

    init(
        _ fault: String, moment: FaultTrial.Moment = .fresh, connections: Int = 1, _ sandbox: DlmSandbox,
        _ server: FaultServer
    ) {
        trial = FaultTrial(area: .local, fault: fault, moment: moment, connections: connections)
        self.sandbox = sandbox
        self.server = server
    }

    private var words: [String] { ["get", "-x", "\(trial.connections)", server.url()] }

    /// Returns a launch of `dlm get`, with further arguments, through another program if given.
    func launch(through program: [String] = [], _ arguments: [String] = []) throws -> ProcessLaunch {
        try sandbox.launch(through: program, words + arguments)
    }

    /// Runs `dlm get` like ``launch(through:_:)``, and waits for its end.
    func run(
        through program: [String] = [], _ arguments: [String] = [],
        with change: (inout ProcessLaunch) -> Void = { _ in }
    ) async throws -> ChildProcess.Result {
        var launch = try launch(through: program, arguments)
        change(&launch)
        return try await ChildProcess(launch).result()
    }

    /// Starts `dlm get`, and returns once the server has sent `underway` bytes and half of them are recorded. The
    /// server holds back the end of the file until the test calls `releaseEnds()`.
    func start(through program: [String] = [], _ arguments: [String] = []) async throws -> ChildProcess {
        server.holdEnds()
        let before = server.log.bytesSent
        let process = try ChildProcess(try launch(through: program, ["-v"] + arguments))
        #expect(await server.waitUntil { $0.bytesSent >= before + Self.underway }, "\(process.standardError)")
        try await sandbox.waitToRecord(Self.underway / 2)
        #expect(sandbox.exists("file.bin.part"), "\(trial) \(process.standardError)")
        return process
    }

    /// Ends the download underway by this signal. Then the server sends the ends of files again.
    func interrupt(by signal: Int32 = SIGTERM, through program: [String] = []) async throws {
        try await start(through: program).expectEnd(by: signal)
        server.releaseEnds()
    }

    /// Waits until the server has sent this many further bytes, or everything except the end that it holds back.
    func waitForTraffic(_ bytes: Int64) async {
        let enough = min(server.log.bytesSent + bytes, Self.content.size - 1)
        #expect(await server.waitUntil { $0.bytesSent >= enough })
    }

    func judge(
        _ result: ChildProcess.Result, errors: Set<Int32>, as name: String = "file.bin",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try trial.judge(
            result, in: sandbox, right: [Self.content], errors: errors, as: name, sourceLocation: sourceLocation)
    }

    /// Expects that the same command gives the right file once the fault is gone.
    func expectRecovery(
        _ arguments: [String] = [], atMost again: Int64? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let before = server.log.bytesSent
        server.change(to: Self.content, etag: "\"v1\"")
        let result = try await run(arguments)
        try expectDownloaded(
            Self.content, as: "file.bin", by: result, in: sandbox, trial, sourceLocation: sourceLocation)
        if let again {
            #expect(server.log.bytesSent - before <= again, "\(trial)", sourceLocation: sourceLocation)
        }
    }
}

extension DlmSandbox {
    /// Returns a launch of `dlm` by another program, which takes a command line after its own arguments.
    func launch(through program: [String], _ arguments: [String]) throws -> ProcessLaunch {
        var launch = try launch(arguments)
        guard let first = program.first else { return launch }
        launch.arguments = program.dropFirst() + [launch.executable] + arguments
        launch.executable = first
        return launch
    }

    func run(through program: [String], _ arguments: [String]) async throws -> ChildProcess.Result {
        try await ChildProcess(try launch(through: program, arguments)).result()
    }

    func run(through program: [String], _ arguments: String...) async throws -> ChildProcess.Result {
        try await run(through: program, arguments)
    }
}

/// Runs several cells at the same time. They mostly wait for a slow server.
func eachCell<Value: Sendable>(
    _ values: [Value], _ body: @escaping @Sendable (Value) async throws -> Void
) async throws {
    try await concurrently(values, atMost: 8, body)
}

/// Returns each value with one connection and with four if all tests run, otherwise only with `short` connections.
func withConnections<Value: Sendable>(_ values: [Value], short: Int) -> [(Value, Int)] {
    FaultTrial.isFull ? values.flatMap { [($0, 1), ($0, 4)] } : values.map { ($0, short) }
}

/// Programs that change their process and then execute `dlm`.
enum Through {
    /// Returns a command line such as `prlimit --nofile=20`, which sets the soft and the hard limit.
    static func limit(_ option: String) -> [String] { ["/usr/bin/prlimit", "--\(option)", "--"] }

    /// A command line that removes the privileges by which root ignores file modes and quotas.
    static let withoutPrivileges =
        geteuid() == 0
        ? ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner,-sys_resource", "--"] : []

    /// Returns a shell command line that runs the script, then executes `dlm`. `redirections` belong to `exec`.
    static func shell(_ script: String, redirections: String = "") -> [String] {
        ["/bin/sh", "-c", "\(script)\nexec \"$@\" \(redirections)", "sh"]
    }
}

/// A small file system in memory. Mounting it needs root.
enum SmallDisk {
    /// Whether a tmpfs can be mounted and unmounted.
    static let canMount: Bool = {
        guard geteuid() == 0, let folder = try? TemporaryFolder() else { return false }
        guard mount(kibibytes: 1 << 10, at: folder.path) == 0 else { return false }
        return umount2(folder.path, 0) == 0
    }()

    /// Mounts a tmpfs. Returns 0 on success.
    static func mount(kibibytes: Int, at path: String, flags: Int = 0) -> Int32 {
        Glibc.mount("tmpfs", path, "tmpfs", UInt(flags), "size=\(kibibytes)k")
    }

    /// Writes a file until the file system has only `spare` bytes left.
    static func fill(_ folder: String, sparing spare: Int64 = 0) throws {
        let descriptor = open("\(folder)/filler", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        for size in [1 << 16, 1 << 12, 1] {
            let piece = [UInt8](repeating: 1, count: size)
            while write(descriptor, piece, size) == size {}
        }
        if spare > 0 {
            let end = lseek(descriptor, 0, SEEK_END)
            #expect(ftruncate(descriptor, max(0, end - off_t(spare))) == 0)
        }
    }

    static func empty(_ folder: String) { unlink("\(folder)/filler") }
}
