import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Options in lists", .inTurn, .serialized)
struct ListOptionsTests {
    /// Returns the requests of a list, and the messages about its bad lines.
    private func requests(
        _ list: String, _ arguments: [String] = []
    ) async throws -> (requests: [DownloadRequest], errors: [String]) {
        let folder = try TemporaryFolder()
        try folder.write(list, to: "list")
        let path = folder("list")
        let command = try #require(try DLM.command(["get", "-i", path] + arguments) as? Get)
        let maker = try RequestMaker(command, workingFolder: "/nowhere/work")
        let input = ListReader(try InputList(path: path))
        var (requests, errors): ([DownloadRequest], [String]) = ([], [])
        while let part = try await maker.part(of: input) {
            requests += part.requests
            errors += part.rejected.map { $0.text.replacing(path, with: "list") }
            #expect(part.rejected.allSatisfy { $0.exitStatus == 2 && $0.file == path })
        }
        return (requests, errors)
    }

    /// Returns the single request of a URL with these options.
    private func request(_ options: [String], _ arguments: [String] = []) async throws -> DownloadRequest {
        let list = "http://h/a\n" + options.map { "  \($0)\n" }.joined()
        let (requests, errors) = try await requests(list, arguments)
        #expect(errors == [])
        return try #require(requests.first)
    }

    @Test("Options apply to the URL above them, and override the command line")
    func precedence() async throws {
        let list = """
            http://h/a
              output=x/a.bin
            \tconnections = 4
              # a comment, and a blank line

              header=A: 1
              header=B: 2
            http://h/b
              header=C: 3
              priority=-7
            http://h/c
              directory=/srv
              limit-rate=none
              insecure=false
            http://h/d
            """
        let arguments = ["-d", "data", "-x", "9", "-H", "a: 0", "--limit-rate", "2k"]
        let (requests, errors) = try await requests(list, arguments)
        #expect(errors == [])
        try #require(requests.map(\.url.path) == ["/a", "/b", "/c", "/d"])
        let folders = ["/nowhere/work/data/x", "/nowhere/work/data", "/srv", "/nowhere/work/data"]
        #expect(requests.map(\.destination.folder) == folders)
        #expect(requests.map(\.destination.fileName) == ["a.bin", nil, nil, nil])
        #expect(requests.map(\.connections) == [4, 9, 9, 9])
        #expect(requests.map(\.priority) == [0, -7, 0, 0])
        #expect(requests.map(\.rateLimit) == [2048, 2048, nil, 2048])
        let fields = requests.map { $0.headers.map { "\($0.name)=\($0.value ?? "")" } }
        #expect(fields == [["A=1", "B=2"], ["a=0", "C=3"], ["a=0"], ["a=0"]])
    }

    @Test(
        "Options mean the same as on a command line",
        arguments: [
            ["--retries", "3"], ["--retry-delay", "2m"], ["--stall-timeout", "9"], ["--insecure"],
            ["--if-exists", "rename"], ["--allow-unverified"], ["--connections", "auto"], ["--output", "b c"],
            ["--checksum", "md5:" + String(repeating: "0", count: 32)], ["--max-redirects", "0"],
        ])
    func sameAsArguments(arguments: [String]) async throws {
        let value = arguments.count > 1 ? arguments[1] : "true"
        let get = try #require(try DLM.command(["get", "http://h/a"] + arguments) as? Get)
        let expected = try RequestMaker(get, workingFolder: "/nowhere/work").request("http://h/a")
        #expect(try await request(["\(arguments[0].dropFirst(2))=\(value)"]) == expected)
    }

    @Test(
        "In a list, aria2's name of an option is accepted if dlm has an option with the same meaning",
        arguments: [
            ("out=x", "output=x"), ("dir=/srv", "directory=/srv"), ("max-download-limit=2K", "limit-rate=2k"),
            ("split=4", "connections=4"), ("max-connection-per-server=3", "connections=3"),
            ("timeout=7", "stall-timeout=7"), ("retry-wait=3", "retry-delay=3"),
            ("allow-overwrite=true", "if-exists=overwrite"), ("auto-file-renaming=true", "if-exists=rename"),
            ("check-certificate=false", "insecure=yes"),
            ("checksum=sha-1=" + digest, "checksum=sha1:" + digest),
        ])
    func aria2(theirs: String, ours: String) async throws {
        #expect(try await request([theirs]) == request([ours]))
    }

    private static let digest = String(repeating: "a", count: 40)

    @Test(
        "A wrong option is reported with its line, and the other URLs are downloaded",
        arguments: [
            (
                "connections=65",
                "connections: '65' cannot be used; give 1 to 64 connections, auto, or auto:N for at most N"
            ),
            ("split=none", "split: 'none' cannot be used; give 1 to 64 connections, auto, or auto:N for at most N"),
            ("retries=many", "retries: 'many' cannot be used; give a number"),
            ("retries=-1", "retries: give 0 or more"),
            ("priority=", "priority: '' cannot be used; give a number"),
            ("if-exists=no", "if-exists: 'no' cannot be used; give one of 'fail', 'overwrite'"),
            ("insecure=maybe", "insecure: give true or false"),
            ("header=secret", "header: header field 1 is not of the form 'Name: value'"),
            ("checksum=crc:0", "checksum: not of the form ALGO:HEX"),
            ("output=", "output: no file name given"), ("out=a/", "out: names a folder"),
            ("output=-", "output: "),
            ("outptu=x", "outptu: unknown option; did you mean 'output'?"),
            ("frobnicate-all=1", "frobnicate-all: unknown option; the nearest are "),
            ("max-concurrent=3", "max-concurrent: applies to the whole command, not to one URL"),
            ("background=true", "background: applies to the whole command"),
            ("json=true", "json: applies to the whole command"), ("input-file=x", "input-file: applies to the whole"),
            ("checksum-file=x", "checksum-file: applies to the whole command"),
            ("-o=x", "-o: unknown option"), ("help=true", "help: unknown option"), ("=x", "give options for a URL as"),
            ("just words", "give options for a URL as option=value, one in each line"),
        ])
    func wrong(option: String, message: String) async throws {
        let (requests, errors) = try await requests("http://h/a\n  limit-rate=1M\n  \(option)\nhttp://h/b\n")
        #expect(requests.map(\.url.path) == ["/b"])
        #expect(errors.count == 1 && errors[0].hasPrefix("list:3: \(message)"), "\(errors)")
        #expect(!(errors.first ?? "").contains("secret"))
    }

    @Test("A value cannot become another option or another line")
    func injection() async throws {
        let request = try await request(["output=--insecure", "header=A: x --output=y"])
        #expect(request.destination.fileName == "--insecure" && request.trust == .system)
        #expect(request.headers.map(\.value) == ["x --output=y"])
        let (requests, errors) = try await requests("http://h/a\n header=A: b\r\nhttp://h/b\n header=A: b\rC: d\n")
        #expect(requests.map(\.headers) == [[RequestHeader(name: "A", value: "b")]])
        #expect(errors.count == 1 && errors[0].hasPrefix("list:4: "), "\(errors)")
    }

    @Test("An option without a URL above it is reported; an option below a bad URL does not apply to the next URL")
    func stray() async throws {
        let (requests, errors) = try await requests("  out=x\nhttp://h/a\nnonsense\n  out=y\nhttp://h/b\n")
        #expect(requests.map(\.destination.fileName) == [nil, nil])
        #expect(errors.map { $0.prefix(8) } == ["list:1: ", "list:3: "])
    }

    @Test("An indented URL is read as a URL, whatever it contains")
    func indented() async throws {
        let (requests, errors) = try await requests("  http://h/a?b=c\n  out=x\n\thttp://h/b\n")
        #expect(requests.map(\.url.string) == ["http://h/a?b=c", "http://h/b"] && errors == [])
        #expect(requests.first?.destination.fileName == "x")
    }

    @Test("A checksum below a URL overrides the list of checksums")
    func checksums() async throws {
        let digest = String(repeating: "1", count: 64)
        let get = try #require(try DLM.command(["get", "-i", "-", "--checksum-file", "s"]) as? Get)
        var maker = try RequestMaker(get, workingFolder: "/")
        let sums = "\(String(repeating: "2", count: 64))  a\n"
        maker.list = try ChecksumList(Array(sums.utf8), source: "s")
        let options = [InputList.Line(number: 2, text: " checksum=sha256:\(digest)")]
        let line = InputList.Line(number: 1, text: "http://h/a", options: options)
        #expect(maker.request(line) { _ in }?.checksum?.digest == digest)
        let other = InputList.Line(number: 1, text: "http://h/a")
        #expect(maker.request(other) { _ in }?.checksum?.digest == String(repeating: "2", count: 64))
    }

    @Test("If options arrive after the download of their URL has begun, they are refused")
    func late() async throws {
        let pipe = Pipe()
        let list = try InputList(path: "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)")
        try pipe.fileHandleForWriting.write(contentsOf: Data("http://h/a\n  out=x\n".utf8))
        let first = try await list.next(5)
        #expect(first?.map(\.text) == ["http://h/a"] && first?.first?.options.map(\.number) == [2])
        try pipe.fileHandleForWriting.write(contentsOf: Data("  dir=y\nhttp://h/b\n".utf8))
        try pipe.fileHandleForWriting.close()
        // A program that another test starts may keep the pipe open for a moment, so the end of the list may come later.
        var rest: [InputList.Line] = []
        while let lines = try await list.next(5) { rest += lines }
        #expect(rest.map(\.number) == [3, 4] && rest.last?.options == [])
    }

    @Test("Options stay with their URLs, however the list is split")
    func pieces() async throws {
        let text = (0..<400).map { "http://h/\($0)\n" + ($0 % 3 == 0 ? "" : "  out=\($0)\n  split=2\n") }.joined()
        for limit in [1, 7, 1000] {
            let folder = try TemporaryFolder()
            try folder.write(text, to: "list")
            let list = try InputList(path: folder("list"))
            var lines: [InputList.Line] = []
            while let part = try await list.next(limit) {
                #expect(part.count <= limit)
                lines += part
            }
            #expect(lines.map(\.text) == (0..<400).map { "http://h/\($0)" })
            #expect(lines.map(\.options.count) == (0..<400).map { $0 % 3 == 0 ? 0 : 2 })
        }
    }
}
