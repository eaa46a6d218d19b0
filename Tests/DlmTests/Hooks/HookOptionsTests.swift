import ArgumentParser
import DownloadCore
import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("The options of hooks", .inTurn, .serialized)
struct HookOptionsTests {
    private func request() throws -> DownloadRequest {
        DownloadRequest(url: try SourceURL.parse("http://a/").get().url, destination: Destination(folder: "/"))
    }

    @Test("A program is found in PATH or by its path, and stored as an absolute path")
    func found() throws {
        let folder = try TemporaryFolder()
        try folder.write("#!/bin/sh\n", to: "tool")
        try folder.write("", to: "text")
        #expect(chmod(folder("tool"), 0o755) == 0)
        let folders = ["PATH": "relative:/no such:\(folder.path)"].programFolders
        let home = FolderPath.canonical(folder.path)
        #expect(try HookProgram.path(of: "tool", folders: folders, workingFolder: "/") == folder("tool"))
        #expect(try HookProgram.path(of: "./tool", folders: [], workingFolder: folder.path) == home + "/tool")
        #expect(try HookProgram.path(of: folder("tool"), folders: [], workingFolder: nil) == home + "/tool")
        for word in ["", "text", "none", "./text", "./none", folder.path, "/", "tool -x", "./tool -x"] {
            #expect(throws: ValidationError.self, "\(word)") {
                try HookProgram.path(of: word, folders: folders, workingFolder: folder.path)
            }
        }
    }

    @Test("Options change only what they name")
    func applied() throws {
        var request = try request()
        try HookOptions.parse([]).apply(to: &request, in: "/")
        #expect(request.hooks == nil)
        try HookOptions.parse(["--hook-timeout", "5"]).apply(to: &request, in: "/")
        // The request has hooks although no program is given, because config.yaml or the environment may name the
        // program.
        #expect(request.hooks?.isEmpty == true)
        try HookOptions.parse(["--on-complete", "/bin/true", "--hook-timeout", "2m"]).apply(to: &request, in: "/")
        #expect(request.hooks?.timeLimit == 120 && request.hooks?.onError == nil)
        try HookOptions.parse(["--on-error", "/bin/false"]).apply(to: &request, in: "/")
        #expect(request.hooks?.onComplete?.hasSuffix("/true") == true && request.hooks?.timeLimit == 120)
        #expect(throws: (any Error).self) { try HookOptions.parse(["--hook-timeout", "0"]) }
        let missing = try HookOptions.parse(["--on-complete", "./none"])
        #expect(throws: ValidationError.self) { try missing.apply(to: &request, in: "/") }
    }

    @Test(
        "A hook's variables have the values of the download's JSON; another hook's variables are not inherited"
    )
    func variables() throws {
        // The token in the URL is hidden, and `NOTIFY_SOCKET` is not inherited.
        var request = try request()
        request.url = try SourceURL.parse("http://a/x?token=t0p&v=1").get().url
        var record = DownloadRecord(id: 7, request: request, created: Date())
        record.state = .failed(.serverRefused(status: 404, phrase: "Not\0Found"))
        let inherited = [
            "PATH": "/bin", "DLM_PATH": "/old", "DLM_RETRIES": "3", "DLM_ON_ERROR": "x", "NOTIFY_SOCKET": "/x",
        ]
        var ended = EndedDownload(DownloadSnapshot(record: record))
        let failed = HookVariables.environment(FinishedDocument(ended), inherited: inherited)
        #expect(failed["DLM_ID"] == "7" && failed["DLM_STATE"] == "failed" && failed["DLM_EXIT_STATUS"] == "8")
        #expect(failed["DLM_ERROR"] == "404 Not Found" && failed["DLM_HTTP_STATUS"] == "404")
        #expect(failed["DLM_URL"] == "http://a/x?token=***&v=1" && failed["DLM_PATH"] == nil)
        #expect(failed["PATH"] == "/bin" && failed["DLM_RETRIES"] == "3" && failed["NOTIFY_SOCKET"] == nil)
        #expect(failed["DLM_ON_ERROR"] == nil)
        record.state = .completed
        record.completed = CompletedFile(
            path: "/d/a\n'$b", bytes: 3, identity: FileIdentity(inode: 1, born: nil), modified: 1,
            validators: Validators(), checksum: Checksum("md5:d41d8cd98f00b204e9800998ecf8427e"))
        ended = EndedDownload(DownloadSnapshot(record: record))
        let complete = HookVariables.environment(FinishedDocument(ended), inherited: [:])
        #expect(complete["DLM_PATH"] == "/d/a\n'$b" && complete["DLM_BYTES"] == "3")
        #expect(complete["DLM_CHECKSUM"] == "md5:d41d8cd98f00b204e9800998ecf8427e")
        #expect(complete["DLM_ERROR"] == nil && complete["DLM_EXIT_STATUS"] == "0")
    }
}
