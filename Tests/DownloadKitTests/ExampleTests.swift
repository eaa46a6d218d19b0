import DownloadKit
import DownloadTestSupport
import Foundation
import Testing

/// The programs in Examples, which are built as targets of this package.
enum ExampleProgram {
    /// Returns the path of a program, which lies beside the test bundle.
    static func path(_ name: String) throws -> String {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return (bundle as NSString).deletingLastPathComponent + "/" + name
    }
}

extension Library {
    func launch(_ program: String, _ arguments: String...) throws -> ProcessLaunch {
        var launch = ProcessLaunch(try ExampleProgram.path(program), arguments)
        launch.folder = root.path
        launch.environment = ["HOME": root.path, "PATH": "/usr/bin:/bin"].merging(Sanitizer.environment) { own, _ in own
        }
        return launch
    }

    func run(_ program: String, _ arguments: String...) async throws -> ChildProcess.Result {
        var launch = try launch(program)
        launch.arguments = arguments
        return try await ChildProcess(launch).result()
    }
}

@Suite("The examples", .inTurn, .serialized, .timeLimit(.minutes(2)))
struct ExampleTests {
    private let content = Content(seed: 61, size: mebibyte)

    @Test("fetch downloads a file")
    func fetch() async throws {
        try await withLibrary(serving: content) { library in
            let result = try await library.run("ExampleFetch", library.server.url(), library.files.path)
            #expect(result.ending == .exited(0), "\(result.stderr)")
            #expect(result.outputLines.last == "\(library.root("files/file.bin"))")
            #expect(try library.holds(content))
        }
    }

    @Test("mirror keeps a folder up to date")
    func mirror() async throws {
        let content = content
        let date = HTTPDate.string(Date(timeIntervalSince1970: 1_600_000_000))
        try await withLibrary({ _ in FaultReply(content, etag: "\"v1\"", lastModified: date) }) { library in
            let urls = (1...3).map { library.server.url("/\($0).bin") }
            try library.root.write(urls.joined(separator: "\n"), to: "list")
            let first = try await library.run("ExampleMirror", "list", library.files.path)
            #expect(first.outputLines.last == "3 files are up to date", "\(first.stderr)")
            let sent = library.server.log.bytesSent
            let second = try await library.run("ExampleMirror", "list", library.files.path)
            #expect(second.stdout.contains("1.bin: is current"), "\(second.stdout) \(second.stderr)")
            #expect(library.server.log.bytesSent == sent && library.names == ["1.bin", "2.bin", "3.bin"])
        }
    }

    @Test("mirror stops at SIGINT, and goes on at the next run")
    func interrupt() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            try library.root.write(library.server.url(), to: "list")
            let process = try ChildProcess(try library.launch("ExampleMirror", "list", library.files.path))
            try await library.waitForBeginning(of: content)
            process.send(SIGINT)
            let result = try await process.result()
            #expect(result.ending == .exited(130) && result.stdout.hasSuffix("interrupted\n"), "\(result.stderr)")
            #expect(library.names == ["file.bin.part"])
            library.server.releaseEnds()
            let again = try await library.run("ExampleMirror", "list", library.files.path)
            #expect(again.ending == .exited(0), "\(again.stderr)")
            #expect(try library.holds(content))
        }
    }

    @Test("portable stops at SIGINT with its resume data in a file, and the next run continues with the data")
    func portable() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            try FileManager.default.createDirectory(at: library.files, withIntermediateDirectories: true)
            let arguments = (url: library.server.url(), file: library.root("files/file.bin"))
            let process = try ChildProcess(try library.launch("ExamplePortable", arguments.url, arguments.file))
            try await library.waitForBeginning(of: content)
            process.send(SIGINT)
            let result = try await process.result()
            #expect(result.ending != .exited(0) && result.stderr.contains("cancelled"), "\(result.stderr)")
            #expect(library.names == ["file.bin.part", "file.bin.resume"])
            library.server.releaseEnds()
            let again = try await library.run("ExamplePortable", arguments.url, arguments.file)
            #expect(again.ending == .exited(0), "\(again.stderr)")
            #expect(again.outputLines.last == "\(content.size) of \(content.size) bytes")
            #expect(try library.names == ["file.bin"] && library.holds(content))
        }
    }

    @Test("hub verifies X-Linked-Etag, and continues after a kill although the signed link has expired")
    func hub() async throws {
        let (content, settings) = (Content(seed: 62, size: 4 * mebibyte), Content("{}"))
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let certificates = try await Certificates(in: folder)
        let identity = certificates.right
        let signature = Observed(1)
        let store = try FaultServer(tls: { _ in TLSBehaviour(identity) }) { request in
            let isSigned = request.target == "/blob?signature=\(signature.value)" && request["Authorization"] == nil
            return isSigned ? FaultReply(content, etag: "\"v1\"") : FaultReply(status: 403)
        }
        defer { store.stop() }
        try await withLibrary(
            { request in
                guard request["Authorization"] == "Bearer secret" else { return FaultReply(status: 401) }
                switch request.target {
                case "/api/models/org/model/revision/main":
                    return FaultReply(
                        Content(#"{"sha":"c0ffee","siblings":[{"rfilename":"config.json"},{"rfilename":"w/a b.bin"}]}"#)
                    )
                case "/org/model/resolve/c0ffee/config.json": return FaultReply(settings, etag: "\"abc\"")
                case "/org/model/resolve/c0ffee/w/a%20b.bin":
                    return .redirect(to: store.url("/blob?signature=\(signature.value)")).with {
                        $0.fields += [
                            ("X-Linked-Etag", "\"\(content.sha256)\""), ("X-Linked-Size", "\(content.size)"),
                        ]
                    }
                default: return FaultReply(status: 404)
                }
            }, tls: { _ in TLSBehaviour(identity) }
        ) { library in
            var launch = try library.launch(
                "ExampleHub", library.server.url(""), "org/model", "main", library.files.path)
            launch.environment["SSL_CERT_FILE"] = certificates.authority
            launch.environment["HF_TOKEN"] = "secret"
            store.holdEnds()
            var killed = launch
            killed.environment["DLM_FAULT_POINT"] = "afterCheckpoint"
            #expect(try await ChildProcess(killed).result().ending == .signalled(SIGKILL))
            #expect(library.root.names(in: "files/c0ffee/w") == ["a b.bin.part"])
            store.releaseEnds()
            signature.update { $0 = 2 }
            let sent = await store.bytesSentInAll()
            let again = try await ChildProcess(launch).result()
            #expect(again.ending == .exited(0), "\(again.stderr)")
            let path = library.root("files/c0ffee/w/a b.bin")
            #expect(again.outputLines.last == "\(path): \(content.size) bytes, sha256:\(content.sha256)")
            #expect(try library.holds(content, "c0ffee/w/a b.bin") && library.holds(settings, "c0ffee/config.json"))
            #expect(await store.bytesSentInAll() - sent < content.size)
        }
    }

    @Test("hub refuses names that lead out of the folder")
    func names() async throws {
        try await withLibrary({ _ in FaultReply(Content(#"{"sha":"c0ffee","siblings":[{"rfilename":"a/../../b"}]}"#)) })
        {
            library in
            let result = try await library.run(
                "ExampleHub", library.server.url(""), "org/model", "main", library.files.path)
            #expect(result.ending != .exited(0) && result.stderr.contains("UnusableName"), "\(result.stderr)")
            #expect(library.server.log.entries.count == 1 && library.names.isEmpty)
        }
    }

    @Test("background starts a download and exits; started again, it finds its task")
    func background() async throws {
        try await withLibrary(serving: content) { library in
            library.server.holdEnds()
            let added = try await library.run("ExampleBackground", library.files.path, library.server.url())
            #expect(added.stdout == "1: added\n", "\(added.stderr)")
            try await library.waitForBeginning(of: content)
            // Waits until the log has the start of the download, because the next process must find it there.
            var configuration = SessionConfiguration.background(identifier: "org.example.background")
            configuration.stateFolder = library.root(".local/state/dlm")
            let watching = try await DownloadSession(configuration: configuration)
            for try await entry in try await watching.events(since: nil) {
                if case .event(let event) = entry, event.kind == .started { break }
            }
            await watching.close()
            let again = try ChildProcess(try library.launch("ExampleBackground"))
            #expect(await again.waitForOutput { $0.outputText.contains("1: found\n") })
            library.server.releaseEnds()
            let result = try await again.result()
            #expect(result.ending == .exited(0), "\(result.stderr)")
            #expect(result.stdout == "1: added\n1: started\n1: found\n\(library.root("files/file.bin"))\n")
            #expect(try library.holds(content))
            let host = ForeignProcess.all(of: library.root)
            for process in host { #expect(process.hasEnded(within: .seconds(30))) }
        }
    }
}
