import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// The name of the file, and what happens if the name is taken.
@Suite("Names, and files that exist", .inTurn, .timeLimit(.minutes(2)))
struct NameTests {
    private static let content = Content(seed: 1, size: 400_000)
    private static let small = Content(seed: 2, size: 100)

    @Test(
        "The user's name comes first, then the server's name, then the last part of the final URL",
        arguments: [
            (nil, nil, "/dir/from-url.bin", "from-url.bin"),
            (nil, "attachment; filename=\"served.bin\"", "/x", "served.bin"),
            (nil, "attachment; filename=../../evil", "/x", "evil"),
            ("mine.bin", "attachment; filename=served.bin", "/x", "mine.bin"), (nil, nil, "/", "download"),
        ] as [(String?, String?, String, String)])
    func names(asked: String?, served: String?, path: String, name: String) async throws {
        let bench = try await SessionBench(
            serving: FaultReply(Self.small).with { reply in
                if let served { reply.fields = [("Content-Disposition", served)] }
            })
        let id = try await bench.add(path) { $0.destination.fileName = asked }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.folder.names() == [name])
    }

    @Test("Folders are created only if the request permits that", arguments: [true, false])
    func folders(makes: Bool) async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.small))
        let id = try await bench.add {
            $0.destination.folder = bench.folder("a/b/c")
            $0.destination.createsFolders = makes
        }
        let record = try await bench.ending(of: id)
        if makes {
            #expect(bench.folder.names(in: "a/b/c") == ["file.bin"])
        } else {
            #expect(record.failure?.reason == "folderMissing")
            #expect(bench.folder.names().isEmpty)
        }
    }

    @Test(
        "By default an existing file is left alone, whether the user or the server named it", arguments: [true, false])
    func fail(isAsked: Bool) async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content))
        try bench.folder.write("mine", to: "file.bin")
        let id = try await bench.add { $0.destination.fileName = isAsked ? "file.bin" : nil }
        let record = try await bench.ending(of: id)
        #expect(record.state == .failed(.fileFailed(.exists, path: bench.folder("file.bin"))))
        #expect(bench.folder.names() == ["file.bin"])
        #expect(try bench.folder.read("file.bin") == "mine")
        #expect(bench.ranges.count == (isAsked ? 0 : 1))
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test("If a file appears under the final name, it is left alone, and the fetched bytes are kept")
    func appears() async throws {
        let bench = try await SessionBench(
            serving: FaultReply(Self.content, etag: "\"a\"").with { $0.cut = .stall(after: 300_000) })
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 300_000 })
        await bench.manager.pauseAll(.user)
        await bench.manager.close()
        try bench.folder.write("mine", to: "file.bin")
        let second = try await SessionBench(
            after: bench, session: "second", serving: FaultReply(Self.content, etag: "\"a\""))
        _ = try await second.manager.resume([id], overrides: RequestOverrides())
        let record = try await second.ending(of: id)
        #expect(record.state == .failed(.fileFailed(.exists, path: bench.folder("file.bin"))))
        #expect(try bench.folder.read("file.bin") == "mine")
        #expect(record.resume.written == ByteRanges([0..<300_000]))
        #expect(second.ranges.isEmpty)
        await second.manager.close()

        try FileManager.default.removeItem(atPath: bench.folder("file.bin"))
        let third = try await SessionBench(
            after: bench, session: "third", serving: FaultReply(Self.content, etag: "\"a\""))
        _ = try await third.manager.resume([id], overrides: RequestOverrides())
        #expect(try await third.ending(of: id).state == .completed)
        #expect(third.ranges == [rest(from: 300_000)])
    }

    @Test("Overwriting replaces the file only when the new file is complete")
    func overwrite() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content))
        try bench.folder.write("mine", to: "file.bin")
        let id = try await bench.add { $0.destination.ifExists = .overwrite }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(try bench.holds("file.bin", Self.content))

        let failing = try await SessionBench(serving: FaultReply(status: 404))
        try failing.folder.write("mine", to: "file.bin")
        let lost = try await failing.add { $0.destination.ifExists = .overwrite }
        _ = try await failing.ending(of: lost)
        #expect(try failing.folder.read("file.bin") == "mine")
    }

    @Test("A folder with the final name is not overwritten", arguments: [Destination.IfExists.overwrite, .newer])
    func folder(policy: Destination.IfExists) async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content))
        try FileManager.default.createDirectory(atPath: bench.folder("file.bin"), withIntermediateDirectories: false)
        let id = try await bench.add { $0.destination.ifExists = policy }
        #expect(try await bench.ending(of: id).failure?.reason == "exists")
        #expect(bench.folder.names() == ["file.bin"])
    }

    @Test("Renaming takes the first name that neither a file nor a partial file has")
    func rename() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content))
        for name in ["file.bin", "file (1).bin", "file (2).bin.part"] { try bench.folder.write("mine", to: name) }
        let ids = try await bench.manager.add([
            try bench.request { $0.destination.ifExists = .rename },
            try bench.request("/again/file.bin") { $0.destination.ifExists = .rename },
        ]).map(\.record.id)
        for id in ids { #expect(try await bench.ending(of: id).state == .completed) }
        #expect(
            bench.folder.names() == [
                "file (1).bin", "file (2).bin.part", "file (3).bin", "file (4).bin", "file.bin",
            ])
        #expect(try bench.folder.read("file.bin") == "mine")
        #expect(try bench.holds("file (3).bin", Self.content))
        #expect(try bench.holds("file (4).bin", Self.content))
    }

    @Test("Skipping leaves the existing file and succeeds", arguments: [true, false])
    func skip(isAsked: Bool) async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content))
        try bench.folder.write("mine", to: "file.bin")
        let id = try await bench.add {
            $0.destination.ifExists = .skip
            $0.destination.fileName = isAsked ? "file.bin" : nil
        }
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed)
        #expect(record.completed?.path == bench.folder("file.bin"))
        #expect(record.completed?.wasCurrent == true)
        #expect(try bench.folder.read("file.bin") == "mine")
        #expect(bench.folder.names() == ["file.bin"])
        #expect(bench.ranges.count == (isAsked ? 0 : 1))
    }

    @Test("Many skipped files take no buffers")
    func skipMany() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content))
        let ids = try await bench.manager.add(
            try (0..<100).map { number in
                try bench.folder.write("mine", to: "\(number).bin")
                return try bench.request("/\(number).bin") {
                    $0.destination.ifExists = number.isMultiple(of: 2) ? .skip : .fail
                }
            }
        ).map(\.record.id)
        for id in ids { _ = try await bench.ending(of: id) }
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
        let id = try await bench.add("/other.bin")
        #expect(try await bench.ending(of: id).state == .completed)
    }

    @Test(
        "With `newer`, the server's file replaces the existing file if the server's date is later or unknown",
        arguments: [(-3600.0, false), (3600, true), (2.4e11, true), (nil, true)] as [(Double?, Bool)])
    func newer(age: Double?, replaces: Bool) async throws {
        let modified = age.map { HTTPDate.string(Date(timeIntervalSinceNow: $0)) }
        let bench = try await SessionBench(serving: FaultReply(Self.content, lastModified: modified))
        try bench.folder.write("mine", to: "file.bin")
        let id = try await bench.add { $0.destination.ifExists = .newer }
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed)
        if replaces {
            #expect(try bench.holds("file.bin", Self.content))
        } else {
            #expect(try bench.folder.read("file.bin") == "mine")
            #expect(record.completed?.wasCurrent == true)
        }
        #expect(bench.folder.names() == ["file.bin"])
    }

    @Test("With `newer`, a file is kept if its time and the server's time are in the same second")
    func sameTime() async throws {
        let date = Date(timeIntervalSince1970: 1_500_000_000)
        let bench = try await SessionBench(serving: FaultReply(Self.content, lastModified: HTTPDate.string(date)))
        try bench.folder.write("mine", to: "file.bin")
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: bench.folder("file.bin"))
        let id = try await bench.add { $0.destination.ifExists = .newer }
        #expect(try await bench.ending(of: id).completed?.wasCurrent == true)
        #expect(try bench.folder.read("file.bin") == "mine")
    }

    @Test("A partial file without a download is neither used nor deleted")
    func foreignPartial() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content))
        try bench.folder.write("mine", to: "file.bin.part")
        let id = try await bench.add()
        #expect(
            try await bench.ending(of: id).state
                == .failed(.fileFailed(.partialExists, path: bench.folder("file.bin.part"))))
        #expect(try bench.folder.read("file.bin.part") == "mine")
        #expect(bench.folder.names() == ["file.bin.part"])
    }

    @Test("An unusable folder is an error, and nothing is left behind")
    func unusableFolder() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content))
        try bench.folder.write("a file", to: "plain")
        let id = try await bench.add { $0.destination.folder = bench.folder("plain/below") }
        #expect(try await bench.ending(of: id).failure?.kind == "file")
        #expect(bench.folder.names() == ["plain"])
    }

    // MARK: Requested again

    @Test(
        "An unchanged complete file is not fetched again, whether the server answers 304 or ignores conditions",
        arguments: [true, false], [true, false])
    func upToDate(knowsConditions: Bool, hasETag: Bool) async throws {
        let date = "Tue, 01 Jan 2019 00:00:00 GMT"
        let reply = FaultReply(Self.content, etag: hasETag ? "\"a\"" : nil, lastModified: date)
        let bench = try await SessionBench { request, _ in
            let isCurrent =
                hasETag
                ? request.options.fields[.ifNoneMatch] == "\"a\"" : request.options.fields[.ifModifiedSince] == date
            return .reply(knowsConditions && isCurrent ? FaultReply(status: 304) : reply)
        }
        let id = try await bench.add()
        #expect(try await bench.ending(of: id).completed?.wasCurrent == false)
        let taken = bench.transport.taken.value
        #expect(try await bench.add() == id)
        let record = try await bench.ending(of: id, times: 2)
        #expect(record.state == .completed)
        #expect(record.completed?.wasCurrent == true)
        #expect(bench.transport.requests.count == 2)
        #expect(bench.transport.taken.value - taken <= 1)
        #expect(bench.words(id) == ["add", "start 0", "complete", "add", "complete"])
        #expect(try bench.holds("file.bin", Self.content))
    }

    @Test(
        "A complete file that has changed on the server is fetched again if overwriting is permitted",
        arguments: [true, false])
    func outOfDate(overwrites: Bool) async throws {
        let new = Content(seed: 9, size: 500_000)
        let bench = try await SessionBench { _, asked in
            .reply(asked.number == 1 ? FaultReply(Self.content, etag: "\"a\"") : FaultReply(new, etag: "\"b\""))
        }
        let id = try await bench.add { $0.destination.ifExists = overwrites ? .overwrite : .fail }
        _ = try await bench.ending(of: id)
        try await bench.add { $0.destination.ifExists = overwrites ? .overwrite : .fail }
        let record = try await bench.ending(of: id, times: 2)
        if overwrites {
            #expect(record.state == .completed)
            #expect(try bench.holds("file.bin", new))
        } else {
            #expect(record.failure?.reason == "exists")
            #expect(try bench.holds("file.bin", Self.content))
        }
        #expect(bench.folder.names() == ["file.bin"])
    }

    @Test("If somebody changed a complete file, it does not count as complete")
    func changedHere() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let id = try await bench.add()
        _ = try await bench.ending(of: id)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: bench.folder("file.bin")))
        try handle.write(contentsOf: Data("changed".utf8))
        try handle.close()
        try await bench.add()
        #expect(try await bench.ending(of: id, times: 2).failure?.reason == "exists")
    }

    @Test("A complete file that was deleted is fetched again")
    func goneHere() async throws {
        let bench = try await SessionBench(serving: FaultReply(Self.content, etag: "\"a\""))
        let id = try await bench.add()
        _ = try await bench.ending(of: id)
        try FileManager.default.removeItem(atPath: bench.folder("file.bin"))
        try await bench.add()
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        #expect(try bench.holds("file.bin", Self.content))
    }
}
