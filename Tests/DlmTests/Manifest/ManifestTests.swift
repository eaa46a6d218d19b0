import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Manifests", .inTurn, .serialized)
struct ManifestTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static let date = Date(timeIntervalSince1970: 1_700_000_000)

    static func done(_ url: String, _ path: String = "/data/a", bytes: Int64 = 4) -> ManifestEntry {
        let record = DownloadRecord.example(url: url) { $0.complete(bytes, path: path) }
        return ManifestEntry(DownloadSnapshot(record: record), error: nil, of: nil, at: date)
    }

    static func failed(_ url: String, _ error: DownloadError) -> ManifestEntry {
        let record = DownloadRecord.example(url: url, state: .failed(error))
        return ManifestEntry(DownloadSnapshot(record: record), error: error, of: nil, at: date)
    }

    static let gone = DownloadError.serverRefused(status: 404, phrase: "Not Found")
    static let busy = DownloadError.serverRefused(status: 503, phrase: "Busy")

    private func written(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func append(_ entries: [ManifestEntry], to path: String) async throws {
        let writer = try ManifestWriter(path, hashes: false)
        for entry in entries { writer.append(entry) }
        await writer.finish()
        #expect(writer.failure == nil)
    }

    @Test("An entry is one line, and stays the same when it is read again, whatever text the server sent")
    func roundTrip() throws {
        var entry = Self.failed(
            "https://a/x?q=%22", .serverRefused(status: 500, phrase: "\"url\":\"b\"\u{9b}\n\u{202e}"))
        entry.etag = "W/\"\\\""
        entry.shard = "3/8"
        let line = Array(entry.json.utf8)
        #expect(!line.contains(10))
        #expect(try ManifestEntry(line: line) == entry)
        #expect(ManifestFile.url(of: line[...]) == "https://a/x?q=%22" && !ManifestFile.isDone(line[...]))
        let other = Array(Self.done("https://a/b").json.utf8)
        #expect(ManifestFile.url(of: other[...]) == "https://a/b" && ManifestFile.isDone(other[...]))
        #expect(throws: (any Error).self) { try ManifestEntry(line: Array(#"{"version":2,"url":"a"}"#.utf8)) }
    }

    @Test("Lines are appended, even a thousand at once")
    func appended() async throws {
        let path = folder("m")
        try await append([Self.done("https://a/0")], to: path)
        try await append((1..<1000).map { Self.done("https://a/\($0)") }, to: path)
        #expect(try written(path) == (0..<1000).map { Self.done("https://a/\($0)").json })
    }

    @Test("An incomplete last line is removed, and a complete last line gets its line break")
    func torn() async throws {
        let path = folder("m")
        let (first, second) = (Self.done("https://a/1"), Self.done("https://a/2"))
        for length in [1, 2, 20, second.json.utf8.count - 1, second.json.utf8.count] {
            try (first.json + "\n" + second.json.prefix(length)).write(toFile: path, atomically: false, encoding: .utf8)
            try await append([Self.done("https://a/3")], to: path)
            let isWhole = length == second.json.utf8.count
            #expect(
                try written(path) == [first.json] + (isWhole ? [second.json] : []) + [Self.done("https://a/3").json])
        }
    }

    @Test("Zeros that a loss of power has left at the end are removed, and so is an incomplete line before them")
    func zeros() async throws {
        let path = folder("m")
        let (first, second) = (Self.done("https://a/1"), Self.done("https://a/2"))
        for length in [0, 20, second.json.utf8.count] {
            let text = first.json + "\n" + second.json.prefix(length) + String(repeating: "\0", count: 500)
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            try await append([Self.done("https://a/3")], to: path)
            #expect(try written(path) == [first.json, Self.done("https://a/3").json])
        }
    }

    @Test("If two writers append to one manifest at once, no line is torn, even if both open it again and again")
    func shared() async throws {
        let path = folder("m")
        await withTaskGroup(of: Void.self) { group in
            for name in ["a", "b"] {
                group.addTask {
                    for number in 0..<40 {
                        try? await append((0..<20).map { Self.done("https://\(name)/\(number)/\($0)") }, to: path)
                    }
                }
            }
        }
        let entries = try written(path).map { try ManifestEntry(line: $0.utf8) }
        #expect(Set(entries.map(\.url)).count == 1600 && entries.count == 1600)
    }

    @Test("A bad line of the list is in the manifest once, however often the command runs")
    func rejected() async throws {
        try folder.write("http://[bad/\n", to: "list")
        for _ in 0..<2 {
            let arguments = ["get", "-i", folder("list"), "--manifest", folder("m")]
            let (status, captured) = try await run(arguments, FollowerTests.completing())
            #expect(status == 65, "\(captured.errors)")
        }
        #expect(try written(folder("m")).count == 1)
    }

    @Test("The manifest line of a URL of megabytes can be read by the next run")
    func endlessURL() async throws {
        let url = "https://a/" + String(repeating: "x", count: 3 << 20)
        try await append([Self.done(url), Self.failed(url, .requestInvalid(.malformedURL(url)))], to: folder("m"))
        var index = ManifestIndex()
        try index.add(try ManifestFile(folder("m")))
        #expect(index.count == 1 && index.strangers == 0)
    }

    @Test(
        "A file that is no manifest is refused and stays as it is",
        arguments: ["http://a/1\nhttp://a/2", "x", "x\n", "{}\n", "\0\0\0", "x\n\0"])
    func stranger(text: String) async throws {
        try folder.write(text, to: "urls.txt")
        let arguments = ["get", "--manifest", folder("urls.txt"), "http://a/1"]
        let (status, captured) = try await run(arguments, FollowerTests.completing())
        #expect(
            status == 9 && captured.errorLines.count == 1 && captured.errors.contains("is not a manifest"),
            "\(captured.errors)")
        #expect(try String(contentsOfFile: folder("urls.txt"), encoding: .utf8) == text)
    }

    @Test("Folders, devices and places that cannot be written are errors", arguments: ["/", "/dev/null", "/nowhere/m"])
    func unusable(path: String) async throws {
        let (status, captured) = try await run(["get", "--manifest", path, "http://a/1"], FollowerTests.completing())
        #expect(status == 3 && captured.errorLines.count == 1, "\(captured.errors)")
    }

    @Test("The last line of a URL in a file counts; among several files, a completed entry counts")
    func index() async throws {
        try await append(
            [Self.failed("https://a/1", Self.busy), Self.done("https://a/1"), Self.failed("https://a/2", Self.busy)],
            to: folder("one"))
        try await append(
            [
                Self.done("https://a/1"), Self.failed("https://a/1", Self.gone), Self.done("https://a/2"),
                Self.failed("https://b/3", Self.gone),
            ], to: folder("two"))
        var index = ManifestIndex()
        try index.add(try ManifestFile(folder("one")))
        #expect(try index.entry(for: "https://a/2")?.status == .failed)
        try index.add(try ManifestFile(folder("two")))
        #expect(index.count == 3 && index.strangers == 0)
        #expect(try index.entry(for: "https://a/1")?.status == .done)
        #expect(try index.entry(for: "https://a/2")?.status == .done)
        #expect(try index.entry(for: "https://b/3")?.error?.retryable == false)
        #expect(try index.entry(for: "https://b/4") == nil)
    }

    @Test("summary, merge and failed combine several manifests")
    func commands() async throws {
        let (one, two) = (folder("one"), folder("two"))
        try await append([Self.done("https://a/1", bytes: 1 << 20), Self.failed("https://a/2", Self.gone)], to: one)
        try await append(
            [
                Self.failed("https://b/3", Self.busy), Self.failed("https://b/4", Self.gone),
                Self.failed("https://a/1", Self.gone),
            ],
            to: two)
        let service = FakeService()
        let summary = try await run(["manifest", "summary", one, two], service)
        #expect(summary.status == 0)
        #expect(
            summary.captured.outputLines == [
                "4 URLs: 1 done, 3 failed (1 may be tried again), 1 MiB", "failed by kind:", "  2  server/status404",
                "  1  server/status503", "failed by host:", "  2  b", "  1  a",
            ])
        let merged = try await run(["manifest", "merge", one, two], service)
        let entries = try merged.captured.outputLines.map { try ManifestEntry(line: $0.utf8) }
        #expect(entries.map(\.url) == ["https://a/1", "https://a/2", "https://b/3", "https://b/4"])
        let failed = try await run(["manifest", "failed", one, two], service)
        #expect(
            failed.captured.outputLines == [
                "# a: server/status404", "https://a/2", "# b: server/status404", "https://b/4", "# b: server/status503",
                "https://b/3",
            ])
        for (options, expected) in [
            (["--retryable"], ["https://b/3"]), (["--host", "B", "--kind", "server/status404"], ["https://b/4"]),
            (["--kind", "server", "--host", "a"], ["https://a/2"]), (["--kind", "network"], []),
        ] {
            let result = try await run(["manifest", "failed", "-q", one, two] + options, service)
            #expect(result.captured.outputLines == expected, "\(options)")
        }
    }

    @Test("A URL is left out if the manifest and the disk agree that it is done, or if it failed for good")
    func rule() {
        var request = DownloadRequest(url: .example("https://a/1"), destination: Destination(folder: "/data"))
        let rule = ManifestRule()
        let entry = Self.done("https://a/1", "/data/a")
        #expect(rule.leavesOut(entry, request, size: 4))
        #expect(!rule.leavesOut(entry, request, size: 5) && !rule.leavesOut(entry, request, size: nil))
        #expect(!rule.leavesOut(Self.done("https://a/1", "/other/a"), request, size: 4))
        request.destination.fileName = "b"
        #expect(!rule.leavesOut(entry, request, size: 4))
        request.destination.ifExists = .rename
        #expect(rule.leavesOut(entry, request, size: 4))
        request.destination.ifExists = .newer
        #expect(!rule.leavesOut(entry, request, size: 4))
        #expect(rule.leavesOut(Self.failed("https://a/1", Self.gone), request, size: nil))
        #expect(!rule.leavesOut(Self.failed("https://a/1", Self.busy), request, size: nil))
        #expect(!ManifestRule(retriesFailed: true).leavesOut(Self.failed("https://a/1", Self.gone), request, size: nil))
    }

    @Test("The status tells an engine whether to run the command again")
    func outcome() {
        var outcome = WorkerOutcome()
        #expect(outcome.exitStatus(0, hasManifest: true) == 0)
        outcome.end(isRetryable: nil)
        outcome.end(isRetryable: false)
        #expect(outcome.exitStatus(8, hasManifest: true) == 65 && outcome.exitStatus(8, hasManifest: false) == 8)
        outcome.end(isRetryable: true)
        #expect(outcome.exitStatus(1, hasManifest: true) == 75)
        var later = WorkerOutcome()
        later.leaveOut(Self.done("https://a/1"))
        #expect(later.exitStatus(0, hasManifest: true) == 0)
        later.leaveOut(Self.failed("https://a/2", Self.gone))
        #expect(later.exitStatus(0, hasManifest: true) == 65)
    }

    @Test("The limit of failures is a number, or a percentage, which applies once 100 downloads have ended")
    func limits() {
        var number = WorkerOutcome(limit: .number(1))
        number.end(isRetryable: true)
        #expect(!number.isOverLimit)
        number.end(isRetryable: false)
        #expect(number.isOverLimit && number.exitStatus(8, hasManifest: false) == 69)
        var percent = WorkerOutcome(limit: .percent(10))
        for _ in 0..<11 { percent.end(isRetryable: true) }
        #expect(!percent.isOverLimit)
        for _ in 0..<89 { percent.end(isRetryable: nil) }
        #expect(percent.isOverLimit)
        for _ in 0..<10 { percent.end(isRetryable: nil) }
        #expect(!percent.isOverLimit)
    }

    @Test("--max-failures stops a command that still waits for its list")
    func stopped() async throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("http://a/1\nhttp://a/2\nhttp://a/3\n".utf8))
        let list = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        let service = FollowerTests.failing(Self.gone)
        let (status, captured) = try await run(["get", "--max-failures", "1", "-i", list], service)
        #expect(status == 69)
        #expect(captured.errors.contains("stopped: ") && captured.errors.contains("downloads failed, more than"))
        try pipe.fileHandleForWriting.close()
    }

    @Test("A file that is gone before it is hashed is recorded as failed, and not as done")
    func goneFile() async throws {
        try folder.write("four", to: "a")
        let writer = try ManifestWriter(folder("manifest"), hashes: true)
        writer.append(Self.done("https://a/a", folder("a")))
        writer.append(Self.done("https://a/b", folder("b")))
        await writer.finish()
        #expect(writer.failure == nil)
        let entries = try written(folder("manifest")).map { try ManifestEntry(line: Array($0.utf8)) }
        #expect(entries.map(\.url) == ["https://a/a", "https://a/b"])
        #expect(entries.map(\.status) == [.done, .failed])
        #expect(entries[0].sha256 == Content("four").sha256() && entries[1].sha256 == nil)
        #expect(entries[1].error?.message.contains("No such file") == true, "\(entries[1].json)")
    }

    @Test("A manifest that is missing, is no file, or has an endless line is refused")
    func unusable() throws {
        #expect(throws: DownloadError.self) { try ManifestFile(folder("none")) }
        #expect(throws: DownloadError.fileFailed(.notRegular, path: folder.path)) { try ManifestFile(folder.path) }
        #expect(throws: DownloadError.self) { try ManifestWriter(folder.path, hashes: false) }
        #expect(throws: DownloadError.self) { try ManifestWriter(folder("none/manifest"), hashes: false) }
        try folder.write(String(repeating: "x", count: 3 << 20), to: "long")
        let long = try ManifestFile(folder("long"))
        #expect(throws: DownloadError.noManifest(folder("long"), "a line is longer than 1 MiB")) {
            try long.forEachLine { _, _ in }
        }
        #expect(throws: DownloadError.noManifest(folder("long"), "the line at byte 0 has no end")) {
            try long.entry(at: 0)
        }
        let entry = Self.done("https://a/" + String(repeating: "a", count: 9000))
        try folder.write(entry.json + "\n", to: "one")
        #expect(try ManifestFile(folder("one")).entry(at: 0) == entry)
    }
}
