import DownloadTestSupport
import Foundation
import Testing

/// The fields of `show --json` that the tests use.
struct ShownDownload: Decodable, Equatable {
    struct Failure: Decodable, Equatable {
        let kind: String
        let httpStatus: Int?
        let exitStatus: Int32
    }

    struct Attempt: Decodable, Equatable {
        let outcome: String?
        let received: Int64?
        let httpVersion: String?
    }

    struct Source: Decodable, Equatable {
        let url: String
        let received: Int64
        let failure: String?
    }

    let id: Int
    let state: String
    let received: Int64
    let total: Int64?
    let url: String
    let priority: Int
    let rateLimit: Int64?
    let session: String?
    let isAttended: Bool?
    let attempts: [Attempt]
    let sources: [Source]?
    let describedBy: String?
    let documentFailure: String?
    let error: Failure?
}

/// A line of `get --json`, `watch --json`, `events`, or a command that changes downloads.
struct EventLine: Decodable, Equatable {
    let version: Int
    let event: String
    let id: Int?
    let cursor: Int64?
    let state: String?
    let received: Int64?
    let rateLimit: Int64?
    let path: String?
    let session: String?
}

extension ChildProcess.Result {
    var eventLines: [EventLine] { get throws { try EventLine.lines(stdout) } }
}

extension EventLine {
    /// Returns the complete lines of the output so far.
    static func lines(_ text: String) throws -> [EventLine] {
        try text[..<(text.lastIndex(of: "\n") ?? text.startIndex)].split(separator: "\n").map {
            try JSONDecoder().decode(EventLine.self, from: Data($0.utf8))
        }
    }
}

extension DlmSandbox {
    /// Runs a command and expects that it succeeds.
    @discardableResult
    func done(
        _ arguments: [String], with change: (inout ProcessLaunch) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ChildProcess.Result {
        let result = try await run(arguments, with: change)
        #expect(
            result.ending == .exited(0), "\(arguments) \(result.stdout)\(result.stderr)",
            sourceLocation: sourceLocation)
        return result
    }

    @discardableResult
    func done(
        _ arguments: String..., with change: (inout ProcessLaunch) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ChildProcess.Result {
        try await done(arguments, with: change, sourceLocation: sourceLocation)
    }

    /// Runs a command like ``done(_:with:sourceLocation:)``, but in this process.
    @discardableResult
    func performDone(
        _ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ChildProcess.Result {
        let result = try await perform(arguments)
        #expect(
            result.ending == .exited(0), "\(arguments) \(result.stdout)\(result.stderr)",
            sourceLocation: sourceLocation)
        return result
    }

    @discardableResult
    func performDone(
        _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ChildProcess.Result {
        try await performDone(arguments, sourceLocation: sourceLocation)
    }

    /// Returns a process of the sandbox whose command line contains this text, with NUL between two words.
    func process(running words: String) -> ForeignProcess? {
        ForeignProcess.all(of: root).first { (try? $0.file("cmdline"))?.contains(words) ?? false }
    }

    func show(_ id: Int, with change: (inout ProcessLaunch) -> Void = { _ in }) async throws -> ShownDownload {
        let result = try await perform("show", "--json", "\(id)", with: change)
        try #require(result.ending == .exited(0), "\(result.stderr)")
        return try JSONDecoder().decode(ShownDownload.self, from: Data(result.stdout.utf8))
    }

    /// Returns the IDs of the downloads of these URLs.
    func ids(of urls: [String]) async throws -> [Int] {
        var ids: [String: Int] = [:]
        for id in try await list().map(\.id) { ids[try await show(id).url] = id }
        return try urls.map { try #require(ids[$0], "\($0)") }
    }

    /// Runs `show` again and again until the condition holds.
    @discardableResult
    func waitToShow(
        _ id: Int, atMost limit: Duration = .seconds(30), with change: (inout ProcessLaunch) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation, _ isMet: (ShownDownload) -> Bool
    ) async throws -> ShownDownload {
        let shown = try await ask(atMost: limit) {
            try await show(id, with: change)
        } until: {
            isMet($0)
        }
        #expect(isMet(shown), "\(shown)", sourceLocation: sourceLocation)
        return shown
    }

    /// Waits until this many bytes of the newest download are recorded. Recorded bytes survive the process.
    /// - Parameter first: The lowest ID that the newest download can have.
    func waitToRecord(
        _ bytes: Int64 = 1, from first: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let recorded = try await ask(atMost: .seconds(45)) { () -> Int64 in
            guard let newest = try await list().map(\.id).max(), newest >= first else { return 0 }
            return try await show(newest).received
        } until: {
            $0 >= bytes
        }
        #expect(recorded >= bytes, "\(recorded)", sourceLocation: sourceLocation)
    }

    /// Expects that the partial file begins with the first `received` bytes of the content. The bytes must
    /// have been fetched in order.
    func expectPartial(
        _ content: Content, _ name: String, has received: Int64, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let path = file(name + ".part")
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        let bytes = try handle.read(upToCount: Int(received)) ?? Data()
        #expect(
            Array(bytes) == content.bytes(0..<received), "\(path) \(received)", sourceLocation: sourceLocation)
    }
}

extension ChildProcess {
    /// Waits until the program has printed this text to one of its outputs.
    func expectSays(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) async {
        let said = await waitForOutput { $0.errorText.contains(text) || $0.outputText.contains(text) }
        #expect(said, "\(text)\n\(standardOutput)\n\(standardError)", sourceLocation: sourceLocation)
    }
}
