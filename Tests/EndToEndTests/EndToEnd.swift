import DownloadTestSupport
import Foundation
import Testing

/// Tests of the built program. The suites run at the same time. The tests of one suite run one after the other
/// (`.serialized`).
@Suite("End to end", .sideBySide(in: "EndToEnd"))
enum EndToEnd {}

/// Runs a test with its own home folder.
func withDlm(asksBesideFile: Bool = true, _ body: (DlmSandbox) async throws -> Void) async throws {
    var sandbox = try DlmSandbox()
    sandbox.asksBesideFile = asksBesideFile
    defer { sandbox.remove() }
    try await body(sandbox)
}

/// Runs a test in a home of its own, with a server that follows this script.
func withDlm(
    _ handler: @escaping FaultServer.Handler, asksBesideFile: Bool = false,
    _ body: (DlmSandbox, FaultServer) async throws -> Void
) async throws {
    let server = try FaultServer(handler)
    try await withDlm(asksBesideFile: asksBesideFile) { try await body($0, server) }
}

/// Runs a test in a home of its own, with a well-behaved server of one file.
func withDlm(
    serving reply: FaultReply, _ body: (DlmSandbox, FaultServer) async throws -> Void
) async throws {
    try await withDlm({ _ in reply }, body)
}

/// Runs a test in a home of its own, with a server that holds back the ends of its files until the test calls
/// `releaseEnds()`.
func withDlm(
    holding handler: @escaping FaultServer.Handler, _ body: (DlmSandbox, FaultServer) async throws -> Void
) async throws {
    try await withDlm(handler) { sandbox, server in
        server.holdEnds()
        try await body(sandbox, server)
    }
}

func withDlm(
    holding reply: FaultReply, _ body: (DlmSandbox, FaultServer) async throws -> Void
) async throws {
    try await withDlm(holding: { _ in reply }, body)
}

/// Runs `body` and then `end`, even if `body` throws.
func finally<Value>(_ end: () async -> Void, _ body: () async throws -> Value) async throws -> Value {
    do {
        let value = try await body()
        await end()
        return value
    } catch {
        await end()
        throw error
    }
}

func withNginx(_ body: (DlmSandbox, Nginx) async throws -> Void) async throws {
    let nginx = try await Nginx()
    try await finally({ await nginx.stop() }) { try await withDlm { try await body($0, nginx) } }
}

/// Different files under all paths, each with a strong ETag.
struct AnyFiles: Sendable {
    let size: Int64

    func content(_ target: String) -> Content {
        Content(seed: target.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) }, size: size)
    }

    func reply(_ request: FaultRequest) -> FaultReply { FaultReply(content(request.target), etag: "\"v1\"") }

    /// Serves each file at this rate.
    func handler(bytesPerSecond: Int64? = nil) -> FaultServer.Handler {
        { request in reply(request).with { $0.bytesPerSecond = bytesPerSecond.map { Int($0) } } }
    }

    func expect(_ names: [String], in sandbox: DlmSandbox) throws {
        for name in names { try expectFile(content("/" + name), name, in: sandbox) }
    }
}

/// Overwrites bytes of a file in place.
func overwrite(_ path: String, at offset: UInt64 = 0, with bytes: [UInt8]) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: offset)
    try file.write(contentsOf: Data(bytes))
    try file.close()
}

/// Sets the modification time of a file.
func date(_ path: String, _ time: Date = Date(timeIntervalSince1970: 1_600_000_000)) throws {
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
}

/// Expects that the command succeeded, printed only the path to standard output, and that the file is right. `what`
/// names the case in messages.
func expectDownloaded(
    _ content: Content, as name: String, by result: ChildProcess.Result, in sandbox: DlmSandbox, _ what: Any = "",
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(result.ending == .exited(0), "\(what) \(result.stderr)", sourceLocation: sourceLocation)
    #expect(result.stdout == sandbox.file(name) + "\n", "\(what)", sourceLocation: sourceLocation)
    try expectFile(content, name, in: sandbox, what, sourceLocation: sourceLocation)
}

/// Expects that the file is complete, and that there is no partial file.
func expectFile(
    _ content: Content, _ name: String, in sandbox: DlmSandbox, _ what: Any = "",
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(sandbox.exists(name), "\(what) \(sandbox.names)", sourceLocation: sourceLocation)
    guard sandbox.exists(name) else { return }
    #expect(try sha256(of: sandbox.file(name)) == content.sha256, "\(what)", sourceLocation: sourceLocation)
    #expect(!sandbox.exists(name + ".part"), "\(what)", sourceLocation: sourceLocation)
}

/// Expects that the command failed with this status and one line about the reason.
func expectFailure(
    _ status: Int32, of result: ChildProcess.Result, _ what: Any = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(result.ending == .exited(status), "\(what) \(result.stderr)", sourceLocation: sourceLocation)
    #expect(result.errorLines.count == 1, "\(what) \(result.stderr)", sourceLocation: sourceLocation)
    #expect(result.stderr.hasPrefix("dlm: "), "\(what) \(result.stderr)", sourceLocation: sourceLocation)
    #expect(result.stdout == "", "\(what)", sourceLocation: sourceLocation)
}

extension DlmSandbox {
    /// Runs a command in this process, and expects that it prints only the path and makes the right file. `what` names
    /// the case in messages.
    func expectDownloaded(
        _ content: Content, as name: String = "file.bin", by arguments: [String], what: Any = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let result = try await perform(arguments)
        try EndToEndTests.expectDownloaded(
            content, as: name, by: result, in: self, what, sourceLocation: sourceLocation)
    }

    func expectDownloaded(
        _ content: Content, as name: String = "file.bin", by arguments: String..., what: Any = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await expectDownloaded(content, as: name, by: arguments, what: what, sourceLocation: sourceLocation)
    }

    /// The same with a process of its own.
    func expectDownloaded(
        _ content: Content, as name: String = "file.bin", byProcess arguments: [String], what: Any = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let result = try await run(arguments)
        try EndToEndTests.expectDownloaded(
            content, as: name, by: result, in: self, what, sourceLocation: sourceLocation)
    }

    func expectDownloaded(
        _ content: Content, as name: String = "file.bin", byProcess arguments: String..., what: Any = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await expectDownloaded(
            content, as: name, byProcess: arguments, what: what, sourceLocation: sourceLocation)
    }
}

extension ChildProcess {
    /// Sends the signal, and expects that the program ends by it.
    @discardableResult
    func expectEnd(
        by signal: Int32, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Result {
        send(signal)
        let result = try await result()
        #expect(result.ending == .signalled(signal), "\(result.stderr)", sourceLocation: sourceLocation)
        return result
    }
}

/// The fields of a download in `list --json` that the tests use.
struct ListedDownload: Decodable, Equatable {
    let version: Int
    let id: Int
    let state: String
}

extension DlmSandbox {
    /// Returns every download of the store, including finished downloads.
    func list() async throws -> [ListedDownload] {
        let result = try await perform("list", "--all", "--json")
        #expect(result.ending == .exited(0), "\(result.stderr)")
        return try result.outputLines.map {
            try JSONDecoder().decode(ListedDownload.self, from: Data($0.utf8))
        }
    }

    func modified(_ name: String) throws -> Date? {
        try FileManager.default.attributesOfItem(atPath: file(name))[.modificationDate] as? Date
    }

    /// Returns the ID of the only download.
    func onlyID() async throws -> String {
        let all = try await list()
        try #require(all.count == 1, "\(all)")
        return "\(all[0].id)"
    }

    /// Starts a download, waits until the server has sent this many bytes, and sends the signal.
    /// - Parameter isRecorded: whether to wait also until some of these bytes are recorded. Recorded bytes survive
    ///   SIGKILL.
    func interrupt(
        _ arguments: String..., with signal: Int32, after bytes: Int64, from server: FaultServer,
        isRecorded: Bool = false
    ) async throws -> ChildProcess.Result {
        server.holdEnds()
        defer { server.releaseEnds() }
        let process = try ChildProcess(try launch(arguments))
        let reached = await server.waitUntil { $0.bytesSent >= bytes }
        if isRecorded { try await waitToRecord() }
        let begin = ContinuousClock.now
        process.send(signal)
        let result = try await process.result()
        #expect(reached, "\(result.stderr)")
        #expect(result.ending == .signalled(signal), "\(result.stderr)")
        // The kernel alone decides how long a death by SIGKILL takes.
        if signal != SIGKILL { #expect(ContinuousClock.now - begin < promised(within: .seconds(1))) }
        return result
    }
}

/// Calls `body` for each value, at most `limit` values at a time.
func concurrently<Value: Sendable>(
    _ values: [Value], atMost limit: Int, _ body: @escaping @Sendable (Value) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, value) in values.enumerated() {
            if index >= limit { try await group.next() }
            group.addTask { try await body(value) }
        }
        try await group.waitForAll()
    }
}

/// Waits for this duration. Use it only to vary the moment of a signal, or the length of a stop or an outage, because
/// no event marks these moments.
func letPass(_ duration: Duration) async throws { try await Task.sleep(for: duration) }

let mebibyte: Int64 = 1 << 20
