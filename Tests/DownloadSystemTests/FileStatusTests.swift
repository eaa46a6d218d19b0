import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadSystem

@Suite("FileStatus: the kind and identity of a file", .inTurn)
struct FileStatusTests {
    @Test("A renamed file keeps its identity; another file with the old name has another identity")
    func identity() throws {
        let folder = try TemporaryFolder()
        #expect(FileStatus.of(folder("a")) == nil)
        try folder.write("abc", to: "a")
        let first = try #require(FileStatus.of(folder("a")))
        #expect(first.size == 3)
        #expect(first.isRegular)
        #expect(abs(Double(first.modified) / 1e9 - Date().timeIntervalSince1970) < 60)
        try FileManager.default.moveItem(atPath: folder("a"), toPath: folder("b"))
        #expect(FileStatus.of(folder("b"))?.identity == first.identity)
        try folder.write("xyz", to: "a")
        #expect(FileStatus.of(folder("a"))?.identity.isSame(as: first.identity) == false)
    }

    @Test("A symbolic link is not followed, and a folder is not a regular file")
    func kinds() throws {
        let folder = try TemporaryFolder()
        try folder.write("abc", to: "a")
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "a")
        #expect(FileStatus.of(folder("link"))?.isRegular == false)
        #expect(FileStatus.of(folder.path)?.isRegular == false)
        #expect(FileStatus.of(folder("a"))?.device == FileStatus.of(folder.path)?.device)
    }

    @Test("Folders are made with their parents; a file in the way is an error")
    func folders() throws {
        let folder = try TemporaryFolder()
        try FileStatus.makeFolder(folder("a/b/c"), followsLinks: true)
        try FileStatus.makeFolder(folder("a/b/c"), followsLinks: true)
        try FileStatus.makeFolder(folder("a/b/d/"), followsLinks: true)
        #expect(folder.names(in: "a/b") == ["c", "d"])
        try folder.write("x", to: "file")
        #expect(throws: DownloadError.self) { try FileStatus.makeFolder(folder("file"), followsLinks: true) }
        #expect(throws: DownloadError.self) { try FileStatus.makeFolder(folder("file/below"), followsLinks: true) }
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "a")
        try FileStatus.makeFolder(folder("link"), followsLinks: true)
        try FileStatus.makeFolder(folder("link/e"), followsLinks: true)
        #expect(folder.names(in: "a") == ["b", "e"])
        try FileStatus.syncFolder(folder("a"))
        #expect(throws: DownloadError.fileFailed(.folderMissing, path: folder("none"))) {
            try FileStatus.syncFolder(folder("none"))
        }
    }

    @Test("The current boot has an id")
    func boot() {
        #expect(FileStatus.bootID?.count == 36)
    }
}
