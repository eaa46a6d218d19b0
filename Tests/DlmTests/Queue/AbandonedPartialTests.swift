import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Partial files of other workers") final class AbandonedPartialTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A partial file that no process has locked is deleted; a locked one stays")
    func locked() throws {
        let path = folder.path + "/file.part"
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
        let writer = open(path, O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        #expect(flock(writer, LOCK_EX | LOCK_NB) == 0)
        #expect(!AbandonedPartial.remove(path, madeAfter: 1))
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(flock(writer, LOCK_UN) == 0)
        #expect(AbandonedPartial.remove(path, madeAfter: 1))
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(AbandonedPartial.remove(path, madeAfter: 1))
    }

    @Test("A partial file that was made before the first lease of its URL belongs to another program, and stays")
    func older() throws {
        let path = folder.path + "/file.part"
        try Data([1]).write(to: URL(fileURLWithPath: path))
        #expect(!AbandonedPartial.remove(path, madeAfter: Date().timeIntervalSince1970 + 60))
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("Other files, and files behind a link, are never deleted")
    func others() throws {
        let path = folder.path + "/file"
        try Data([1]).write(to: URL(fileURLWithPath: path))
        #expect(!AbandonedPartial.remove(path, madeAfter: 1))
        #expect(symlink(path, path + ".part") == 0)
        #expect(!AbandonedPartial.remove(path + ".part", madeAfter: 1))
        #expect(FileManager.default.fileExists(atPath: path))
    }
}
