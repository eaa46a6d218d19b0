import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Real files, and the kernel's reports of who wrote to them.
@Suite("WriterWatch: partial files that other programs write to", .inTurn, .timeLimit(.minutes(1)))
struct WriterWatchTests {
    private func write(_ path: String, closing: Bool = true) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data("theirs".utf8))
        if closing { try file.close() }
    }

    private func append(_ text: String, to file: PartialFile) {
        Array(text.utf8).withUnsafeBytes { file.write($0, at: 0) }
    }

    @Test("Another writer is noticed; our own writes, readers and earlier writers are not")
    func noticed() throws {
        let folder = try TemporaryFolder()
        let file = try PartialFile.open(folder: folder.path, name: "a", mode: .create, followsLinks: true)
        append("ours", to: file)
        try write(file.path)
        #expect(!file.isWrittenByOthers)
        file.watchWriters()
        append("ours", to: file)
        #expect(PartialFile.isLocked(file.path))
        _ = try Data(contentsOf: URL(fileURLWithPath: file.path))
        #expect(!file.isWrittenByOthers)
        try file.requireUnwritten()
        try write(file.path)
        #expect(file.isWrittenByOthers)
        #expect(throws: DownloadError.fileFailed(.altered, path: file.path)) { try file.requireUnwritten() }
        file.forgetOtherWriters()
        #expect(!file.isWrittenByOthers)
        try write(file.path)
        try file.startOver()
        #expect(!file.isWrittenByOthers)
    }

    @Test("Each file has its own watch")
    func apart() throws {
        let folder = try TemporaryFolder()
        let files = try ["a", "b", "c"].map {
            try PartialFile.open(folder: folder.path, name: $0, mode: .create, followsLinks: true)
        }
        for file in files { file.watchWriters() }
        try write(files[1].path)
        #expect(files.map(\.isWrittenByOthers) == [false, true, false])
    }

    @Test("An attempt that ends while the next attempt begins to watch does not count as another program")
    func attemptsAtOnce() throws {
        let folder = try TemporaryFolder()
        let first = Observed<PartialFile?>(
            try PartialFile.open(folder: folder.path, name: "a", mode: .create, followsLinks: true))
        for _ in 0..<3000 {
            first.value?.unlock()
            let next = try PartialFile.open(folder: folder.path, name: "a", mode: .reopen, followsLinks: true)
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                if number == 0 { first.update { $0 = nil } } else { next.watchWriters() }
            }
            try #require(!next.isWrittenByOthers)
            first.update { $0 = next }
        }
    }

    @Test("An earlier attempt of the same file does not count as another program, even if it ends late")
    func attempts() throws {
        let folder = try TemporaryFolder()
        var first: PartialFile? = try PartialFile.open(
            folder: folder.path, name: "a", mode: .create, followsLinks: true)
        first?.watchWriters()
        if let first { append("ours", to: first) }
        first?.unlock()
        let second = try PartialFile.open(folder: folder.path, name: "a", mode: .reopen, followsLinks: true)
        second.watchWriters()
        first = nil
        #expect(!second.isWrittenByOthers)
        second.unlock()
        let third = try PartialFile.open(folder: folder.path, name: "a", mode: .reopen, followsLinks: true)
        third.watchWriters()
        #expect(!third.isWrittenByOthers)
        try write(third.path)
        #expect(third.isWrittenByOthers)
        third.unlock()
        #expect(!third.isWrittenByOthers)
    }
}
