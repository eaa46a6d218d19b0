import ArgumentParser
import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Where files go", .inTurn, .serialized)
struct DestinationOptionsTests {
    struct Case: Sendable {
        let arguments: [String]
        let folder: String
        let name: String?
    }

    @Test(
        "-d gives the folder, and -o the name, which may contain folders",
        arguments: [
            Case(arguments: [], folder: "/nowhere/work", name: nil),
            Case(arguments: ["-d", "data"], folder: "/nowhere/work/data", name: nil),
            Case(arguments: ["-d", "/nowhere/data/"], folder: "/nowhere/data", name: nil),
            Case(arguments: ["-o", "x.iso"], folder: "/nowhere/work", name: "x.iso"),
            Case(arguments: ["-o", "iso/x.iso"], folder: "/nowhere/work/iso", name: "x.iso"),
            Case(arguments: ["-o", "/nowhere/x.iso"], folder: "/nowhere", name: "x.iso"),
            Case(arguments: ["-o", "/x.iso"], folder: "/", name: "x.iso"),
            Case(arguments: ["-d", "data", "-o", "a/./b/x"], folder: "/nowhere/work/data/a/b", name: "x"),
        ])
    func places(place: Case) throws {
        var request = DownloadRequest(url: .example("http://h/"), destination: Destination(folder: "/nowhere/work"))
        try DestinationOptions.parse(place.arguments).apply(to: &request, in: "/nowhere/work")
        #expect(request.destination.folder == place.folder)
        #expect(request.destination.fileName == place.name)
        #expect(request.destination.ifExists == .fail)
        #expect(request.destination.createsFolders)
    }

    @Test("All paths to one folder are converted to the same path, even if they go through symbolic links")
    func canonical() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dlm-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let real = folder.appending(path: "real")
        try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: folder.appending(path: "link"), withDestinationURL: real)
        let expected = FolderPath.canonical(real.path) + "/new/deep"
        #expect(FolderPath.canonical(folder.path + "/link/new//deep/") == expected)
        #expect(FolderPath.canonical(folder.path + "/real/../real/./new/deep") == expected)
        #expect(FolderPath.canonical("/") == "/")
    }

    @Test("Every choice for an existing file can be given", arguments: Destination.IfExists.allCases)
    func ifExists(choice: Destination.IfExists) throws {
        let options = try DestinationOptions.parse(["--if-exists", choice.rawValue])
        var request = DownloadRequest(url: .example("http://h/"), destination: Destination(folder: "/"))
        try options.apply(to: &request, in: "/")
        #expect(request.destination.ifExists == choice)
        try DestinationOptions.parse([]).apply(to: &request, in: "/")
        #expect(request.destination.ifExists == choice)
    }
}
