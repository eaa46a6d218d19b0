import DownloadKit
import DownloadTestSupport
import Foundation
import Testing

@Suite("The library: requests", .inTurn, .timeLimit(.minutes(1)))
struct RequestTests {
    private let content = Content(seed: 31, size: 5_000)

    @Test("Destination: suggested name, missing folders, and what happens if the name is taken")
    func destination() async throws {
        let content = content
        try await withLibrary({ _ in
            FaultReply(content, etag: "\"v1\"").with {
                $0.fields = [("Content-Disposition", "attachment; filename=\"report.pdf\"")]
            }
        }) { library in
            let session = try await library.session()
            let deep = library.files.appending(path: "a/b", directoryHint: .isDirectory)
            let named = try await session.download(library.request(), to: .folder(deep)).value
            #expect(named.url.path == deep.appending(path: "report.pdf").path)
            let target = library.files.appending(path: "a/mine.pdf")
            _ = try await session.download(library.request("/2"), to: .file(target)).value
            let taken = try await session.download(library.request("/3"), to: .file(target))
            #expect(await failure(of: taken) == .fileFailed(.exists, path: target.path))
            let beside = try await session.download(library.request("/4"), to: .file(target, ifExists: .rename)).value
            #expect(beside.url.lastPathComponent == "mine (1).pdf")
            library.server.change(to: Content("new"))
            _ = try await session.download(library.request("/5"), to: .file(target, ifExists: .overwrite)).value
            #expect(try library.root.read("files/a/mine.pdf") == "new")
            let nowhere = library.files.appending(path: "c/d")
            let refused = try await session.download(
                library.request("/6"), to: .folder(nowhere, createsFolders: false))
            #expect(await failure(of: refused) == .fileFailed(.folderMissing, path: nowhere.path))
            await session.close()
        }
    }

    @Test("defaultHTTPHeaders: dlm's own headers, then those of the session, then those of the request")
    func headers() async throws {
        try await withLibrary(serving: content) { library in
            var configuration = library.configuration()
            configuration.headers = [
                RequestHeader(name: "Accept-Language", value: "de"), RequestHeader(name: "X-App", value: "1"),
            ]
            let session = try await DownloadSession(configuration: configuration)
            let request = try library.request().header("x-app", "2")
            _ = try await session.download(request, to: .folder(library.files)).value
            let asked = try #require(library.server.log.entries.first?.request)
            #expect(asked["Accept-Encoding"] == "identity" && asked["User-Agent"]?.hasPrefix("dlm/") == true)
            #expect(asked["Accept-Language"] == "de" && asked["X-App"] == "2")
            await session.close()
        }
    }

    @Test("ParameterEncoding: sorted by name and percent-encoded, in the query or in the body")
    func parameters() async throws {
        try await withLibrary(serving: content) { library in
            let session = try await library.session()
            let parameters = ["b": "2 & 3", "a": "ü"]
            let query = try library.request("/q?c=1").parameters(parameters)
            _ = try await session.download(query, to: .folder(library.files)).value
            let form = try library.request("/f").parameters(parameters, encoding: .form)
            _ = try await session.download(form, to: .folder(library.files)).value
            let entries = library.server.log.entries.map(\.request)
            #expect(entries.map(\.target) == ["/q?c=1&a=%C3%BC&b=2%20%26%203", "/f"])
            #expect(entries.map(\.method) == ["GET", "POST"])
            #expect(entries.last.map { String(decoding: $0.body, as: UTF8.self) } == "a=%C3%BC&b=2%20%26%203")
            await session.close()
        }
    }

    @Test("validate: an answer that is not the wanted file is refused before a byte is written")
    func validation() async throws {
        let content = content
        try await withLibrary({ request in
            FaultReply(content).with {
                $0.fields = [("Content-Type", request.target == "/page" ? "text/html" : "application/zip")]
                if request.target == "/203" { $0.status = 203 }
            }
        }) { library in
            let session = try await library.session()
            func outcome(_ path: String, _ change: (DownloadRequest) throws -> DownloadRequest) async throws
                -> DownloadError?
            {
                let request = try change(library.request(path))
                return await failure(of: try await session.download(request, to: .folder(library.files)))
            }
            let zip = { (request: DownloadRequest) in try request.validate(contentTypes: ["application/zip"]) }
            #expect(try await outcome("/good", zip) == nil)
            #expect(
                try await outcome("/page", zip)
                    == .verificationFailed(.unwantedType(wanted: "application/zip", is: "text/html")))
            #expect(
                try await outcome("/large") { try $0.validate(maximumSize: 100) }
                    == .verificationFailed(.tooLarge(limit: 100, size: content.size)))
            #expect(try await outcome("/203") { try $0.validate(statuses: 200..<300) } == nil)
            #expect(library.names == ["203", "good"])
            #expect(throws: DownloadError.requestInvalid(.unusableValidation("zip"))) {
                try library.request().validate(contentTypes: ["zip"])
            }
            await session.close()
        }
    }

    @Test("willPerformHTTPRedirection: redirects are followed within the policy; credentials stay with their origin")
    func redirects() async throws {
        let content = content
        let other = try FaultServer { _ in FaultReply(content) }
        let away = other.url("/there.bin")
        try await withLibrary({ request in
            request.target == "/loop" ? .redirect(to: "/loop") : .redirect(to: away)
        }) { library in
            let session = try await library.session()
            let request = try library.request("/away").header("Authorization", "Bearer secret")
            let file = try await session.download(request, to: .folder(library.files)).value
            #expect(file.response.url.string == away)
            #expect(library.server.log.entries.first?.request["Authorization"] == "Bearer secret")
            #expect(other.log.entries.first.map { $0.request["Authorization"] == nil } == true)
            var loop = try library.request("/loop")
            loop.redirect.limit = 3
            let task = try await session.download(loop, to: .folder(library.files))
            #expect(await failure(of: task) == .protocolViolated(.tooManyRedirects(3)))
            await session.close()
        }
    }

    @Test("A list of checksums is used by name; a file that does not match is refused, and one without an entry, too")
    func checksumList() async throws {
        try await withLibrary(serving: content) { library in
            let session = try await library.session(.ephemeral)
            let lines = "\(content.sha256)  a.bin\n\(String(repeating: "0", count: 64))  b.bin\n"
            let list = try ChecksumList(lines.utf8, source: "SHA256SUMS")
            #expect(try list.checksum(for: "c.bin") == nil)
            func get(_ path: String) async throws -> DownloadedFile {
                var request = try library.request(path)
                request.checksums = list
                return try await session.download(request, to: .folder(library.files)).value
            }
            let right = Checksum(algorithm: .sha256, digest: content.sha256)
            let verified = try await get("/a.bin").verified
            #expect(verified?.checksum == right && verified?.source == .user)
            for path in ["/b.bin", "/c.bin"] {
                await #expect(throws: DownloadError.self) { try await get(path) }
            }
            await session.close()
            #expect(library.names == ["a.bin"])
        }
    }

    @Test("The files of a Metalink document are downloaded from its sources, below the folder, and verified")
    func metalink() async throws {
        try await withLibrary({ request in
            request.target == "/gone" ? FaultReply(status: 404) : FaultReply(content, etag: "\"v1\"")
        }) { library in
            let session = try await library.session(.ephemeral)
            func document(_ name: String) throws -> Metalink {
                let text = """
                    <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="\(name)"><size>\(content.size)</size>
                    <hash type="sha-256">\(content.sha256)</hash><url priority="1">\(library.server.url("/gone"))</url>
                    <url priority="2">\(library.server.url("/mirror"))</url></file></metalink>
                    """
                return try Metalink(text.utf8, name: "a.meta4")
            }
            let metalink = try document("sub/a.bin")
            #expect(metalink.files.map(\.size) == [content.size])
            let tasks = try await session.download(metalink, to: .folder(library.files))
            #expect(try await tasks.first?.value.url.path == library.files.appending(path: "sub/a.bin").path)
            #expect(try library.holds(content, "sub/a.bin"))
            await #expect(throws: DownloadError.self) {
                try await session.download(document("../a.bin"), to: .folder(library.files))
            }
            #expect(try await session.tasks.isEmpty)
            await session.close()
        }
    }

    @Test("An invalid URL is reported as an invalid request")
    func badURL() {
        #expect(throws: DownloadError.requestInvalid(.missingScheme("example.org/x"))) {
            try DownloadRequest("example.org/x")
        }
        #expect(throws: DownloadError.requestInvalid(.unsupportedScheme("gopher://example.org/x"))) {
            try DownloadRequest("gopher://example.org/x")
        }
    }
}
