import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("dlm get --unpack", .serialized, .timeLimit(.minutes(3)))
    struct UnpackTests {
        /// A folder of the test with an archive of `src`, which has a text, random bytes, a program and a link.
        private func archive(_ name: String, size: Int = 300_000, in sandbox: DlmSandbox) async throws -> Content {
            let pack = name.hasSuffix(".zip") ? "zip -qry" : "tar -caf"
            try await make(
                """
                mkdir -p src/sub; echo text >src/text; ln -sf text src/link
                printf '#!/bin/sh\\n' >src/run; chmod +x src/run
                head -c \(size) /dev/urandom >src/sub/data; \(pack) \(name) src
                """, in: sandbox)
            return try content(of: name, in: sandbox)
        }

        private func make(_ script: String, in sandbox: DlmSandbox) async throws {
            try sandbox.root.makeFolder("work")
            let result = try await sandbox.runShell("cd \(sandbox.root("work")); \(script)")
            try #require(result.ending == .exited(0), "\(result.stderr)")
        }

        private func content(of name: String, in sandbox: DlmSandbox) throws -> Content {
            Content([UInt8](try Data(contentsOf: URL(fileURLWithPath: sandbox.root("work/\(name)")))))
        }

        private func expectUnpacked(
            _ result: ChildProcess.Result, in sandbox: DlmSandbox, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            #expect(result.ending == .exited(0), "\(result.stderr)", sourceLocation: sourceLocation)
            #expect(result.stdout == sandbox.file("dir") + "\n", sourceLocation: sourceLocation)
            #expect(sandbox.names == ["dir"], sourceLocation: sourceLocation)
            let same = try await sandbox.runShell("diff -r --no-dereference ../work/src dir/src && test -x dir/src/run")
            #expect(same.ending == .exited(0), "\(same.stdout)\(same.stderr)", sourceLocation: sourceLocation)
            #expect(try await sandbox.list().isEmpty, sourceLocation: sourceLocation)
        }

        @Test(
            "An archive of each format becomes the new folder, and nothing else stays",
            arguments: [
                "a.tar", "a.tar.gz", "a.tgz", "a.tar.zst", "a.tar.xz", "a.tar.bz2", "a.zip", "odd [1]*:.zip",
                "b:c.tar.gz",
            ])
        func formats(name: String) async throws {
            try await withDlm { sandbox in
                let made = try await archive(
                    name.contains("zip") ? "a.zip" : name.replacing(":", with: "_"), in: sandbox)
                let server = try FaultServer { _ in
                    FaultReply(made).with {
                        $0.fields = [("Content-Disposition", "attachment; filename=\"\(name)\"")]
                    }
                }
                defer { server.stop() }
                let result = try await sandbox.run("get", "--unpack", "dir", server.url("/download?id=1"))
                #expect(result.stderr == "")
                try await expectUnpacked(result, in: sandbox)
                let again = try await sandbox.run("get", "--unpack", "sub/dir/", server.url("/x.bin"))
                #expect(again.stdout == sandbox.file("sub/dir") + "\n" && sandbox.exists("sub/dir/src/text"))
                #expect(sandbox.root.names(in: "files/sub") == ["dir"])
            }
        }

        @Test("An archive is unpacked, although tar has a warning for each of its files")
        func warnings() async throws {
            try await withDlm { sandbox in
                try await make(
                    """
                    mkdir src; for i in $(seq 2000); do : >src/$i; done
                    tar --format=pax --pax-option=LIBARCHIVE.xattr.com.example.name:=x -cf a.tar src
                    """, in: sandbox)
                let server = try FaultServer.serving(try content(of: "a.tar", in: sandbox))
                let result = try await sandbox.run("get", "--unpack", "dir", server.url("/a.tar"))
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(sandbox.names == ["dir"] && sandbox.root.names(in: "files/dir/src").count == 2000)
            }
        }

        /// Archives that want to write outside of the folder.
        private static let hostile = """
            import io, stat, tarfile, zipfile
            F, S, H = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
            def tar(name, *members):
                with tarfile.open(name, "w") as archive:
                    for path, kind, text in members:
                        info = tarfile.TarInfo(path)
                        info.type = kind
                        if kind != F: info.linkname = text
                        else: info.size = len(text)
                        archive.addfile(info, io.BytesIO(text.encode()) if kind == F else None)
            def zip(name, *members):
                with zipfile.ZipFile(name, "w") as archive:
                    for path, kind, text in members:
                        info = zipfile.ZipInfo(path)
                        info.create_system = 3
                        if kind == S: info.external_attr = (stat.S_IFLNK | 0o777) << 16
                        archive.writestr(info, text)
            for make, end in (tar, ".tar"), (zip, ".zip"):
                make("parent" + end, ("../out", F, "x"), ("../../out", F, "x"))
                make("middle" + end, ("a/../../out", F, "x"))
                make("absolute" + end, ("OUT/out", F, "x"))
                make("link" + end, ("l", S, "OUT"), ("l/out", F, "x"))
                make("relative" + end, ("l", S, "../../../out"), ("l/out", F, "x"))
                make("chain" + end, ("a", S, "."), ("a/l", S, ".."), ("a/l/../out", F, "x"))
                make("over" + end, ("l", S, "OUT/kept"), ("l", F, "x"))
            tar("hard.tar", ("h", H, "OUT/kept"), ("h", F, "x"))
            tar("both.tar", ("l", S, "OUT"), ("h", H, "l/kept"), ("h", F, "x"))
            """

        @Test(
            "A hostile archive cannot write outside of the new folder",
            arguments: ["parent", "middle", "absolute", "link", "relative", "chain", "over"].flatMap {
                ["\($0).tar", "\($0).zip"]
            } + ["hard.tar", "both.tar"])
        func hostile(name: String) async throws {
            try await withDlm { sandbox in
                let out = try sandbox.root.makeFolder("out")
                try sandbox.root.write("old", to: "out/kept")
                try sandbox.root.makeFolder("work")
                try sandbox.root.write(Self.hostile.replacing("OUT", with: out), to: "work/hostile.py")
                try await make("python3 hostile.py", in: sandbox)
                let server = try FaultServer.serving(try content(of: name, in: sandbox))
                defer { server.stop() }
                let result = try await sandbox.run("get", "--unpack", "dir", server.url("/\(name)"))
                #expect(sandbox.root.names(in: "out") == ["kept"], "\(result.stderr)")
                #expect(try sandbox.root.read("out/kept") == "old")
                #expect(
                    !sandbox.exists("out")
                        && sandbox.root.names() == ["config", "files", "home", "out", "state", "work"])
                if result.ending == .exited(0) { return #expect(sandbox.names == ["dir"]) }
                expectFailure(9, of: result)
                #expect(sandbox.names == [".dir.dlm-unpack"])
                #expect(sandbox.root.names(in: "files/.dir.dlm-unpack") == [name])
            }
        }

        @Test("A damaged archive is kept, and replaced by the next one", arguments: ["a.tar.gz", "a.zip", "a.tar"])
        func damaged(name: String) async throws {
            try await withDlm { sandbox in
                let whole = try await archive(name, in: sandbox)
                let server = try FaultServer.serving(
                    Content(whole.bytes(0..<whole.size - 20_000)), etag: "\"1\"")
                defer { server.stop() }
                let words = ["get", "--unpack", "dir", server.url("/" + name)]
                let result = try await sandbox.run(words)
                expectFailure(9, of: result)
                #expect(result.stderr.contains(sandbox.file(".dir.dlm-unpack/\(name): is kept, but not unpacked: ")))
                #expect(sandbox.root.names(in: "files/.dir.dlm-unpack") == [name])
                server.change(to: whole, etag: "\"2\"")
                try await expectUnpacked(try await sandbox.run(words), in: sandbox)
            }
        }

        @Test("Without the right checksum, nothing is unpacked")
        func checksum() async throws {
            try await withDlm { sandbox in
                let made = try await archive("a.tar.gz", in: sandbox)
                let server = try FaultServer.serving(made)
                defer { server.stop() }
                func run(_ sum: String) async throws -> ChildProcess.Result {
                    try await sandbox.run("get", "--unpack", "dir", "--checksum", "sha256:\(sum)", server.url("/a.tgz"))
                }
                expectFailure(9, of: try await run(Content("other").sha256))
                #expect(!sandbox.exists("dir") && !sandbox.exists(".dir.dlm-unpack/content"))
                try await expectUnpacked(try await run(made.sha256), in: sandbox)
            }
        }

        @Test("If the folder exists, or a program is missing, nothing is fetched")
        func refused() async throws {
            try await withDlm(serving: FaultReply(Content("no archive"))) { sandbox, server in
                try sandbox.root.makeFolder("files/folder")
                try sandbox.root.write("x", to: "files/file")
                #expect(symlink("nowhere", sandbox.file("link")) == 0)
                for name in ["folder", "file", "link", "folder/"] {
                    let result = try await sandbox.run("get", "--unpack", name, server.url("/a.tar"))
                    expectFailure(3, of: result)
                    let path = sandbox.file(name.replacing("/", with: ""))
                    #expect(result.stderr.hasPrefix("dlm: \(path): exists already"), "\(result.stderr)")
                    #expect(name == "file" || !result.stderr.contains("--if-exists"))
                }
                for (name, program) in [("a.zip", "unzip"), ("a.tar.zst?a=b.zip", "tar"), ("a.TGZ#a", "tar")] {
                    let result = try await sandbox.run("get", "--unpack", "new", server.url("/" + name)) {
                        $0.environment["PATH"] = sandbox.root("home")
                    }
                    #expect(result.ending == .exited(2) && result.stderr.contains("needs the program \(program),"))
                }
                #expect(server.log.entries.isEmpty && sandbox.names == ["file", "folder", "link"])
                let other = try await sandbox.run("get", "--unpack", "new", server.url("/a.iso"))
                expectFailure(9, of: other)
                #expect(other.stderr.contains("says no format that can be unpacked (.zip, .tar, "))
                #expect(sandbox.root.names(in: "files/.new.dlm-unpack") == ["a.iso"])
            }
        }

        @Test("If the download fails, no folder stays")
        func failed() async throws {
            try await withDlm(serving: FaultReply(status: 404)) { sandbox, server in
                expectFailure(8, of: try await sandbox.run("get", "--unpack", "dir", server.url("/a.tar")))
                #expect(sandbox.names == [])
            }
        }

        @Test(
            "A command that was ended in the middle continues with the bytes that have come",
            arguments: [SIGTERM, SIGKILL])
        func interrupted(signal: Int32) async throws {
            try await withDlm { sandbox in
                let made = try await archive("a.tar", size: 20 << 20, in: sandbox)
                let server = try FaultServer.serving(made, etag: "\"1\"")
                defer { server.stop() }
                let words = ["--unpack", "dir", server.url("/a.tar")]
                if signal == SIGKILL {
                    try await sandbox.kill(words, after: 4 * mebibyte)
                } else {
                    let process = try sandbox.start(["get", "--limit-rate", "4M"] + words)
                    #expect(await server.waitUntil { $0.bytesSent > 6 * mebibyte })
                    let result = try await process.expectEnd(by: signal)
                    #expect(result.stderr == "dlm: the same command continues the download and unpacks\n")
                }
                #expect(sandbox.root.names(in: "files/.dir.dlm-unpack") == ["a.tar.part"])
                try await expectUnpacked(try await sandbox.run(["get"] + words), in: sandbox)
                let ranges = server.log.entries.map(\.range)
                #expect(ranges.count > 1 && !ranges.dropFirst().contains("bytes=0-"), "\(ranges)")
            }
        }

        @Test(
            "A command that was ended while it unpacked unpacks again, and does not fetch again",
            arguments: [SIGTERM, SIGKILL])
        func interruptedUnpacking(signal: Int32) async throws {
            try await withDlm { sandbox in
                let made = try await archive("a.tar.gz", in: sandbox)
                let server = try FaultServer.serving(made, etag: "\"1\"")
                defer { server.stop() }
                // This tar does not end until the pipe is closed.
                let (pipe, bin) = (sandbox.root("pipe"), try sandbox.root.makeFolder("bin"))
                #expect(mkfifo(pipe, 0o600) == 0)
                try sandbox.root.write("#!/bin/sh\n/usr/bin/tar \"$@\"\nexec cat \(pipe)\n", to: "bin/tar")
                #expect(chmod(bin + "/tar", 0o700) == 0)
                let words = ["get", "--unpack", "dir", server.url("/a.tar.gz")]
                let process = try sandbox.start(words) { $0.environment["PATH"] = "\(bin):/usr/bin:/bin" }
                let opened = await withCheckedContinuation { opened in
                    Thread.detachNewThread { opened.resume(returning: FileHandle(forWritingAtPath: pipe)) }
                }
                let end = try #require(opened)
                let tar = try #require(sandbox.process(running: pipe))
                #expect(sandbox.exists(".dir.dlm-unpack/content/src/sub/data") && !sandbox.exists("dir"))
                try await process.expectEnd(by: signal)
                if signal == SIGKILL {
                    // The program that still unpacks has the folder.
                    let result = try await sandbox.run(words)
                    expectFailure(3, of: result)
                    #expect(result.stderr.contains("is being written by another process"))
                    try end.close()
                }
                #expect(await tar.waitForEnd())
                let left = sandbox.root.names(in: "files/.dir.dlm-unpack")
                #expect(left == (signal == SIGKILL ? ["a.tar.gz", "content"] : ["a.tar.gz"]))
                try await expectUnpacked(try await sandbox.run(words), in: sandbox)
                #expect(server.log.bytesSentTwice() == 0)
            }
        }

        @Test(
            "Files of a read-only folder in an archive are placed, and removed if the archive is damaged",
            arguments: [0, 9])
        func readOnly(status: Int32) async throws {
            try await withDlm { sandbox in
                try await make(
                    """
                    mkdir -p src/sub; head -c 5000 /dev/urandom >src/sub/x; chmod 555 src src/sub
                    tar -cf a.tar -C src . ; chmod 755 src src/sub
                    [ \(status) = 0 ] || truncate -s 4000 a.tar
                    """, in: sandbox)
                let server = try FaultServer.serving(try content(of: "a.tar", in: sandbox))
                defer { server.stop() }
                let result = try await sandbox.run("get", "--unpack", "dir", server.url("/a.tar"))
                #expect(result.ending == .exited(status), "\(result.stderr)")
                #expect(sandbox.names == [status == 0 ? "dir" : ".dir.dlm-unpack"])
                #expect(!sandbox.exists(".dir.dlm-unpack/content"))
                if status != 0 { return }
                let mode = try await sandbox.runShell("stat -c %a dir dir/sub; chmod -R u+w dir")
                #expect(mode.stdout == "555\n555\n")
            }
        }
    }
}
