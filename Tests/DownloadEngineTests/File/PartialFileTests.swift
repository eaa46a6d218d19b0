import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("PartialFile: the one file a download writes to", .inTurn)
struct PartialFileTests {
    private func with<Result>(_ body: (TemporaryFolder) throws -> Result) throws -> Result {
        let folder = try TemporaryFolder()
        return try body(folder)
    }

    private func create(_ folder: TemporaryFolder, _ name: String = "a.bin") throws -> PartialFile {
        try PartialFile.open(folder: folder.path, name: name, mode: .create, followsLinks: true)
    }

    private func write(_ text: String, _ file: PartialFile, at offset: Int64) {
        Array(text.utf8).withUnsafeBytes { file.write($0, at: offset) }
    }

    @Test("The partial file is made beside the final name, which is not touched")
    func create() throws {
        try with { folder in
            let file = try create(folder)
            #expect(folder.names() == ["a.bin.part"])
            #expect(file.path == folder("a.bin.part"))
            #expect(try file.length() == 0)
            #expect(file.isStillNamed())
            #expect(FileStatus.of(file.path)?.identity == file.identity)
        }
    }

    @Test("After a failed sync, only the bytes of earlier syncs are believed")
    func failedSync() throws {
        try with { folder in
            let file = try create(folder)
            write("durable", file, at: 0)
            try file.sync()
            write("lost", file, at: 7)
            #expect(throws: DownloadError.self) {
                try file.sync("fdatasync") {
                    errno = EIO
                    return -1
                }
            }
            #expect(file.written == ByteRanges([0..<7]) && file.durable == ByteRanges([0..<7]))
            #expect(file.hasLostSync)
        }
    }

    @Test("A finished file becomes a partial file; a file that has replaced it keeps its name")
    func adopt() throws {
        try with { folder in
            try folder.write("mine", to: "a.bin")
            let mine = try #require(FileStatus.of(folder("a.bin"))).identity
            try folder.write("theirs", to: "b.bin")
            #expect(throws: DownloadError.fileFailed(.replaced, path: folder("b.bin.part"))) {
                try PartialFile.adopt(folder: folder.path, name: "b.bin", mine, followsLinks: true)
            }
            #expect(folder.names() == ["a.bin", "b.bin"])
            try FileManager.default.createSymbolicLink(atPath: folder("c.bin"), withDestinationPath: "a.bin")
            #expect(throws: DownloadError.self) {
                try PartialFile.adopt(folder: folder.path, name: "c.bin", mine, followsLinks: true)
            }
            #expect(folder.names() == ["a.bin", "b.bin", "c.bin"])
            let file = try PartialFile.adopt(folder: folder.path, name: "a.bin", mine, followsLinks: true)
            #expect(folder.names() == ["a.bin.part", "b.bin", "c.bin"])
            #expect(file.identity.isSame(as: mine))
        }
    }

    @Test(
        "A process that has made a partial file gets time to lock the file",
        arguments: [(0, true), (3, true), (1000, false)])
    func taken(looks: Int, isLocked: Bool) {
        var count = 0
        let why = PartialFile.whyTaken("a.part", time: SystemTime()) { _ in
            count += 1
            return count > looks
        }
        #expect(why == (isLocked ? .locked : .partialExists))
    }

    @Test(
        "A partial file is never made in place of a file, folder or link",
        arguments: ["file", "folder", "symlink", "dangling"])
    func createTaken(kind: String) throws {
        try with { folder in
            let path = folder("a.bin.part")
            switch kind {
            case "file": try folder.write("x", to: "a.bin.part")
            case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            case "symlink":
                try folder.write("mine", to: "target")
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "target")
            default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
            }
            #expect(throws: DownloadError.fileFailed(.partialExists, path: path)) { try create(folder) }
            if kind == "symlink" { #expect(try folder.read("target") == "mine") }
            #expect(!folder.exists("nowhere"))
        }
    }

    @Test("Asking whether a file is locked never prevents another process from opening the file")
    func locked() throws {
        try with { folder in
            let file = try create(folder)
            #expect(PartialFile.isLocked(file.path))
            file.unlock()
            #expect(!PartialFile.isLocked(file.path))
            #expect(!PartialFile.isLocked(folder("none.part")))
            #expect(!PartialFile.isLocked(folder.path))
            let path = file.path
            let isOver = Observed(false)
            Thread.detachNewThread { while !isOver.value { _ = PartialFile.isLocked(path) } }
            defer { isOver.update { $0 = true } }
            for _ in 0..<200 {
                try PartialFile.open(folder: folder.path, name: "a.bin", mode: .reopen, followsLinks: true).unlock()
            }
        }
    }

    @Test("Only a regular file is opened again", arguments: ["folder", "symlink", "fifo"])
    func reopenOther(kind: String) throws {
        try with { folder in
            let path = folder("a.bin.part")
            switch kind {
            case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            case "symlink":
                try folder.write("mine", to: "target")
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "target")
            default: #expect(mkfifo(path, 0o600) == 0)
            }
            let error = #expect(throws: DownloadError.self) {
                try PartialFile.open(folder: folder.path, name: "a.bin", mode: .reopen, followsLinks: true)
            }
            guard case .fileFailed(let failure, path)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(kind == "folder" || failure == .replaced)
        }
    }

    @Test("A missing folder or file is an error", arguments: [PartialFile.Mode.create, .reopen])
    func missing(mode: PartialFile.Mode) throws {
        try with { folder in
            #expect(throws: DownloadError.fileFailed(.folderMissing, path: folder("none"))) {
                try PartialFile.open(folder: folder("none"), name: "a.bin", mode: mode, followsLinks: true)
            }
            guard mode == .reopen else { return }
            #expect(throws: DownloadError.fileFailed(.folderMissing, path: folder("a.bin.part"))) {
                try PartialFile.open(folder: folder.path, name: "a.bin", mode: mode, followsLinks: true)
            }
        }
    }

    @Test("Only one owner can have a partial file; unlocking frees it, even if the object lives on")
    func lock() throws {
        try with { folder in
            let first = try create(folder)
            #expect(throws: DownloadError.fileFailed(.locked, path: first.path)) {
                try PartialFile.open(folder: folder.path, name: "a.bin", mode: .reopen, followsLinks: true)
            }
            first.unlock()
            let second = try PartialFile.open(folder: folder.path, name: "a.bin", mode: .reopen, followsLinks: true)
            #expect(second.identity == first.identity)
        }
    }

    @Test("Written bytes are read back, counted, and reported to the observer")
    func write() async throws {
        let folder = try TemporaryFolder()
        let file = try create(folder)
        let told = Observed(0)
        file.notifyWrites { told.update { $0 += 1 } }
        write("world", file, at: 6)
        write("hello ", file, at: 0)
        #expect(file.written == ByteRanges([0..<11]))
        #expect(file.unsynced == 11)
        #expect(try file.read(0..<11) == Array("hello world".utf8))
        #expect(told.value == 2)
        file.notifyWrites(nil)
        write("!", file, at: 11)
        #expect(told.value == 2)
        #expect(throws: DownloadError.self) { try file.read(5..<50) }
    }

    @Test("The first failure stays, and nothing is written after it")
    func failure() throws {
        try with { folder in
            let file = try create(folder)
            write("a", file, at: 0)
            file.fail(.fileFailed(.noSpace(needed: nil), path: file.path))
            file.fail(.fileFailed(.locked, path: file.path))
            write("b", file, at: 1)
            #expect(file.failure == .fileFailed(.noSpace(needed: nil), path: file.path))
            #expect(file.written == ByteRanges([0..<1]))
            #expect(try file.length() == 1)
        }
    }

    @Test("Synced bytes are durable, whether the file or its file system is synced", arguments: [true, false])
    func sync(alone: Bool) throws {
        try with { folder in
            let file = try create(folder)
            write("abc", file, at: 0)
            #expect(file.durable.isEmpty)
            if alone { try file.sync() } else { try file.syncFileSystem() }
            #expect(file.durable == ByteRanges([0..<3]))
            #expect(file.unsynced == 0)
            write("d", file, at: 3)
            #expect(file.durable == ByteRanges([0..<3]))
            #expect(file.unsynced == 1)
        }
    }

    @Test("Bytes that are written or forgotten during a sync are not durable after it")
    func syncMeanwhile() throws {
        try with { folder in
            let file = try create(folder)
            write("abc", file, at: 0)
            try file.sync("fdatasync") {
                write("def", file, at: 3)
                return 0
            }
            #expect(file.durable == ByteRanges([0..<3]))
            #expect(file.unsynced == 3)
            try file.sync("fdatasync") {
                file.forget(ByteRanges([1..<2]))
                return 0
            }
            #expect(file.durable == ByteRanges([0..<1, 2..<3]))
        }
    }

    @Test("Two runs of bytes are joined only after bytes beyond their border have come again unchanged")
    func joins() throws {
        try with { folder in
            let file = try create(folder)
            file.proveJoins(true)
            write("def", file, at: 3)
            write("abc", file, at: 0)
            #expect(file.written == ByteRanges([0..<2, 3..<6]))
            write("de", file, at: 3)
            #expect(file.written == ByteRanges([0..<6]))
            #expect(!file.differs)
        }
    }

    @Test("Starting over empties the file, and forgets what was synced")
    func startOver() throws {
        try with { folder in
            let file = try create(folder)
            write("abcdef", file, at: 0)
            try file.sync()
            try file.startOver()
            #expect(file.written.isEmpty)
            #expect(file.durable.isEmpty)
            #expect(file.unsynced == 0)
            #expect(try file.length() == 0)
            write("x", file, at: 0)
            try file.sync()
            #expect(file.durable == ByteRanges([0..<1]))
        }
    }

    @Test(
        "Bytes after the total are cut off, and a file that has the total length stays as it is",
        arguments: [(10, 4), (4, 4)] as [(Int, Int64)])
    func cut(length: Int, total: Int64) throws {
        try with { folder in
            let file = try create(folder)
            write(String(repeating: "x", count: length), file, at: 0)
            try file.cut(to: total)
            #expect(try file.length() == total)
        }
    }

    @Test("Space is reserved for the whole file, without counting as written")
    func reserve() throws {
        try with { folder in
            let file = try create(folder)
            try file.reserve(5 << 20)
            #expect(file.written.isEmpty)
            try file.reserve(0)
            let error = #expect(throws: DownloadError.self) { try file.reserve(1 << 60) }
            guard case .fileFailed(.noSpace(let needed?), _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(needed > 1 << 50)
        }
    }

    @Test("A disk that has no room for the blocks that a file has already is not full")
    func reserveAgain() throws {
        func fail(_: Int32, _: Int64) -> Int32 {
            errno = ENOSPC
            return -1
        }
        try with { folder in
            let file = try create(folder)
            let full = DownloadError.file(ENOSPC, "write", path: file.path)
            #expect(throws: full) { try file.reserve(5 << 20, fail) }
            write("new", file, at: 0)
            try file.sync()
            try file.reserve(5 << 20, fail)
            try file.reserve(5 << 20)
            try file.reserve(5 << 20) { _, _ in
                Issue.record("all blocks are there, and one was asked for")
                return 0
            }
        }
    }

    // MARK: Final names

    @Test("The file gets its final name, and replaces another file only if asked")
    func rename() throws {
        try with { folder in
            let file = try create(folder)
            write("new", file, at: 0)
            try folder.write("old", to: "a.bin")
            #expect(throws: DownloadError.fileFailed(.exists, path: folder("a.bin"))) {
                try file.rename(to: "a.bin", replacing: false)
            }
            #expect(try folder.read("a.bin") == "old")
            #expect(file.isStillNamed())
            try file.rename(to: "a.bin", replacing: true)
            #expect(try folder.read("a.bin") == "new")
            #expect(folder.names() == ["a.bin"])
            #expect(!file.isStillNamed())
            #expect(try file.status() == FileStatus.of(folder("a.bin")))
        }
    }

    @Test("A free final name is used, whether replacing is permitted or not", arguments: [true, false])
    func renameFree(replacing: Bool) throws {
        try with { folder in
            let file = try create(folder)
            try file.rename(to: "b.bin", replacing: replacing)
            #expect(folder.names() == ["b.bin"])
            try file.syncFolder()
        }
    }

    @Test("A symbolic link with the final name is not followed")
    func renameOverLink() throws {
        try with { folder in
            let file = try create(folder)
            write("new", file, at: 0)
            try folder.write("mine", to: "target")
            try FileManager.default.createSymbolicLink(atPath: folder("a.bin"), withDestinationPath: "target")
            #expect(throws: DownloadError.self) { try file.rename(to: "a.bin", replacing: false) }
            #expect(throws: DownloadError.fileFailed(.notReplaceable, path: folder("a.bin"))) {
                try file.rename(to: "a.bin", replacing: true)
            }
            #expect(try folder.read("target") == "mine")
            #expect(try folder.read("a.bin.part") == "new")
        }
    }

    @Test("If a rename stopped after the link step, the next rename completes it", arguments: [true, false])
    func linked(replacing: Bool) throws {
        try with { folder in
            let file = try create(folder)
            write("new", file, at: 0)
            #expect(link(folder("a.bin.part"), folder("a.bin")) == 0)
            try file.rename(to: "a.bin", replacing: replacing)
            #expect(folder.names() == ["a.bin"])
            #expect(try folder.read("a.bin") == "new")
        }
    }

    @Test("The file is removed only while its name leads to it")
    func remove() throws {
        try with { folder in
            let file = try create(folder)
            try FileManager.default.moveItem(atPath: folder("a.bin.part"), toPath: folder("moved"))
            try folder.write("mine", to: "a.bin.part")
            #expect(!file.isStillNamed())
            file.remove()
            #expect(folder.names() == ["a.bin.part", "moved"])
            let other = try create(folder, "b.bin")
            other.remove()
            #expect(!folder.exists("b.bin.part"))
        }
    }
}
