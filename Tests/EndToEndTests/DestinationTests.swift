import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Where the file goes", .serialized, .timeLimit(.minutes(1)))
    struct DestinationTests {
        let content = Content(seed: 20, size: 70_000)

        @Test(
            "A file that an earlier run saved under another name is not taken for the file of the requested name")
        func overwriteAfterRename() async throws {
            try await withDlm(serving: FaultReply(content, etag: "\"v1\"")) { sandbox, server in
                #expect(FileManager.default.createFile(atPath: sandbox.file("asked"), contents: Data("mine".utf8)))
                let renamed = try await sandbox.perform("get", "-o", "asked", "--if-exists", "rename", server.url())
                try expectDownloaded(content, as: "asked (1)", by: renamed, in: sandbox)
                let skipped = try await sandbox.perform("get", "-o", "asked", "--if-exists", "skip", server.url())
                #expect(skipped.stdout == sandbox.file("asked") + "\n")
                let replaced = try await sandbox.perform("get", "-o", "asked", "--if-exists", "overwrite", server.url())
                try expectDownloaded(content, as: "asked", by: replaced, in: sandbox)
            }
        }

        @Test("After redirects the last URL gives the name")
        func redirected() async throws {
            try await withDlm({ [content] request in
                switch request.target {
                case "/one": .redirect(to: "/two", status: 301)
                case "/two": .redirect(to: "three/final.name?version=3", status: 307)
                default: FaultReply(content)
                }
            }) { sandbox, server in
                try await sandbox.expectDownloaded(content, as: "final.name", by: "get", server.url("/one"))
            }
        }

        @Test(
            "The file name that the server sends is used, unless the user asks for the name in the URL",
            arguments: [true, false])
        func contentDisposition(small: Bool) async throws {
            let content = small ? Content(seed: 21, size: 700) : content
            let reply = FaultReply(content).with {
                $0.fields = [("Content-Disposition", "attachment; filename=\"named.zip\"")]
            }
            try await withDlm(serving: reply) { sandbox, server in
                let named = try await sandbox.perform("get", server.url("/path.bin"))
                try expectDownloaded(content, as: "named.zip", by: named, in: sandbox)
                let plain = try await sandbox.perform("get", "--no-content-disposition", server.url("/path.bin"))
                #expect(plain.stdout == sandbox.file("path.bin") + "\n")
                try await sandbox.expectDownloaded(
                    content, as: "x/named.zip", by: "get", "--content-disposition", "-d", "x", server.url("/path.bin"))
            }
        }

        @Test(
            "--remote-time sets the server's time, and the next run finds the file current",
            arguments: [true, false])
        func remoteTime(small: Bool) async throws {
            let content = small ? Content(seed: 22, size: 700) : Content(seed: 22, size: 3 * mebibyte)
            let reply = FaultReply(content, lastModified: "Tue, 15 Nov 1994 12:45:26 GMT")
            try await withDlm(serving: reply) { sandbox, server in
                let remote = Date(timeIntervalSince1970: 784_903_526)
                try await sandbox.expectDownloaded(content, as: "now", by: "get", "-o", "now", server.url())
                #expect(try #require(try sandbox.modified("now")) > Date(timeIntervalSinceNow: -600))
                try await sandbox.expectDownloaded(content, by: "get", "--remote-time", server.url())
                #expect(try sandbox.modified("file.bin") == remote)
                let sent = server.log.bytesSent
                try await sandbox.expectDownloaded(content, by: "get", "--remote-time", server.url())
                #expect(server.log.bytesSent == sent)
                #expect(try sandbox.modified("file.bin") == remote)
                try await sandbox.performDone("get", "-o", "file.bin", "--if-exists", "newer", server.url())
                #expect(try sandbox.modified("file.bin") == remote)
            }
        }

        @Test("--if-exists skip keeps a file and a link to a file; a folder gives exit status 3")
        func skipFolder() async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                try sandbox.root.write("mine", to: "files/there")
                try sandbox.root.makeFolder("files/taken")
                try FileManager.default.createSymbolicLink(atPath: sandbox.file("link"), withDestinationPath: "there")
                let words = ["get", "--if-exists", "skip"]
                for options in [[server.url("/taken")], ["-o", "taken", server.url("/file")]] {
                    let result = try await sandbox.perform(words + options)
                    expectFailure(3, of: result)
                    #expect(result.stdout.isEmpty)
                    #expect(result.stderr.contains("is not a regular file"), "\(result.stderr)")
                }
                try await sandbox.performDone(words + ["-o", "link", server.url()])
                #expect(sandbox.names == ["link", "taken", "there"])
            }
        }
    }
}
