import DownloadControl
import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadRPC

/// Commands may add downloads that network clients may not request. Network clients must not decide what such downloads
/// fetch.
@Suite("Attacks on the RPC server: downloads of commands", .inTurn, .timeLimit(.minutes(2)))
struct LocalDownloadTests {
    private static let url = "http://127.0.0.1:9/x"

    private func request(_ folder: String, _ change: (inout DownloadRequest) -> Void = { _ in }) throws
        -> DownloadRequest
    {
        var request = DownloadRequest(
            url: try SourceURL.parse(Self.url).get().url, destination: Destination(folder: folder))
        request.startsPaused = true
        change(&request)
        return request
    }

    @Test(
        "A network client cannot change where a download with a hook, secret files or a forbidden folder comes from"
    )
    func sources() async throws {
        let bench = try await RPCBench()
        let downloads = bench.folder("downloads")
        let requests = [
            try request(bench.folder("other")), try request("\(downloads)/.hidden"),
            try request(downloads) { $0.hooks = Hooks(onComplete: "/bin/true") },
            try request(downloads) { $0.secretFiles.netrc = "/root/.netrc" },
            try request(downloads) { $0.trust.sshKey = "/root/.ssh/id_ed25519" },
        ]
        for (number, request) in requests.enumerated() {
            var request = request
            request.destination.fileName = "f\(number)"
            let id = try await bench.manager.add([request])[0].record.id
            let gid = JSONValue.text(GID(id))
            for body in [#"{"url":"http://127.0.0.1:9/evil"}"#, #"{"mirrors":["http://127.0.0.1:9/evil"]}"#] {
                let answer = try await bench.ask("PATCH", "/v1/downloads/\(id)", body, fields: [bench.bearer])
                #expect(answer.status == 400, "\(number): \(answer.text)")
                #expect(answer.text.contains("on the machine itself"), "\(number): \(answer.text)")
            }
            for body in [
                #"{"options":{"network":{"proxy":{"url":"http://127.0.0.1:9"}}}}"#, #"{"headers":[["A","b"]]}"#,
                #"{"insecure":true}"#,
            ] {
                let answer = try await bench.ask(
                    "POST", "/v1/downloads/\(id)/resume", body, fields: [bench.bearer])
                #expect(answer.status == 400, "\(number) \(body): \(answer.text)")
            }
            #expect(
                try await bench.call(
                    "aria2.changeUri", gid, .integer(1), [.string(Self.url)], ["http://127.0.0.1:9/evil"]
                )
                .status == 400)
            #expect(try await bench.call("aria2.changeOption", gid, ["all-proxy": "http://127.0.0.1:9"]).status == 400)
            let now = try await bench.manager.snapshots(.ids([id]))[0].record
            #expect(now.request.url.string == Self.url && now.request.mirrors.isEmpty && now.state == .paused(.user))
            // Changes that do not affect the fetched bytes are permitted.
            #expect(try await bench.call("aria2.changeOption", gid, ["max-download-limit": "1M"]).result == "OK")
            #expect(
                try await bench.ask("PATCH", "/v1/downloads/\(id)", #"{"priority":3}"#, fields: [bench.bearer]).status
                    == 200)
        }
        await bench.end()
    }

    @Test("A network client may change the URL of a command's download if it could have added that download itself")
    func permitted() async throws {
        let bench = try await RPCBench()
        let id = try await bench.manager.add([try request(bench.folder("downloads"))])[0].record.id
        let answer = try await bench.ask(
            "PATCH", "/v1/downloads/\(id)", #"{"url":"http://127.0.0.1:9/other"}"#, fields: [bench.bearer])
        #expect(answer.status == 200, "\(answer.text)")
        #expect(
            try await bench.ask(
                "PATCH", "/v1/downloads/\(id)", #"{"url":"sftp://127.0.0.1/x"}"#, fields: [bench.bearer]
            )
            .status == 400)
        await bench.end()
    }

    @Test(
        "Kerberos tickets of this machine's user are not sent to servers that network clients name",
        arguments: ["negotiate", "any"])
    func tickets(kind: String) async throws {
        let bench = try await RPCBench()
        let options: JSONValue = ["http": ["authentication": .string(kind)]]
        let document: JSONValue = [
            "urls": [.string(Self.url)], "folder": .string(bench.folder("downloads")), "paused": .bool(true),
            "options": options,
        ]
        let text = String(decoding: document.data, as: UTF8.self)
        #expect(try await bench.ask("POST", "/v1/downloads", text, fields: [bench.bearer]).status == 400)
        #expect(try await bench.isEmpty)
        await bench.end()
    }

    @Test("SSH keys of this machine's user are not used for network clients", .enabled(if: OpenSSHServer.canRun))
    func keys() async throws {
        let server = try await OpenSSHServer()
        let home = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: home(".ssh"), withIntermediateDirectories: true)
        try home.write(server.knownHost, to: ".ssh/known_hosts")
        try FileManager.default.copyItem(atPath: server.key, toPath: home(".ssh/id_ed25519"))
        try server.add(Content(seed: 4, size: 1000), as: "f.bin")
        let bench = try await RPCBench(environment: ["HOME": home.path])
        let url = server.url("f.bin", password: nil)
        // A download of a command can use the key.
        let (parsed, credential) = try SourceURL.parse(url).get()
        var own = DownloadRequest(url: parsed, destination: Destination(folder: bench.folder("other")))
        own.credential = credential
        let id = try await bench.manager.add([own])[0].record.id
        for await _ in bench.ticks where try await bench.manager.snapshots(.ids([id]))[0].record.state.kind.isEnded {
            break
        }
        #expect(try await bench.manager.snapshots(.ids([id]))[0].record.state == .completed)
        let options: JSONValue = ["max-tries": "1"]
        let gid = try #require(try await bench.call("aria2.addUri", [.string(url)], options).result)
        #expect(try await bench.waitForStatus(gid, "error", "complete")["errorCode"] == "24")
        let added = try #require(try await bench.manager.snapshots(.all).last)
        _ = try await bench.ask(
            "POST", "/v1/downloads/\(added.id)/resume", #"{"options":{"trust":{"refusesOwnLogins":false}}}"#,
            fields: [bench.bearer])
        #expect(try await bench.waitForStatus(gid, "error", "complete")["status"] == "error")
        let login: JSONValue = [
            "ftp-user": .string(PrivateServer.user), "ftp-passwd": .string(PrivateServer.password), "out": "p.bin",
        ]
        let known = try #require(try await bench.call("aria2.addUri", [.string(url)], login).result)
        #expect(try await bench.waitForStatus(known, "error", "complete")["status"] == "complete")
        await bench.end()
        await server.stop()
    }

    @Test("A permitted folder may be the root, hidden, or inside another one")
    func roots() throws {
        let folder = try TemporaryFolder()
        for name in ["a/.b/c", "state"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        let two = FolderRule(RPCConfiguration(folders: [folder("a"), folder("a/.b")], stateFolder: folder("state")))
        #expect(try two.resolve(folder("a/.b/c")) == folder("a/.b/c"))
        #expect(throws: WireProblem.self) { try two.resolve(folder("a/.c")) }
        let all = FolderRule(RPCConfiguration(folders: ["/"], stateFolder: folder("state")))
        #expect(try all.resolve(folder("a")) == folder("a"))
        #expect(throws: WireProblem.self) { try all.resolve(folder("a/.b")) }
        #expect(throws: WireProblem.self) { try all.resolve(folder("state")) }
    }
}
