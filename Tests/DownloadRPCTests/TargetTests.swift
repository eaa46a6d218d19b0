import DownloadControl
import DownloadEngine
import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadRPC

/// Attempts of somebody who knows the secret, to write elsewhere, to run a program or to read a file.
@Suite("Attacks on the RPC server: folders, files and programs", .inTurn, .timeLimit(.minutes(2)))
struct TargetTests {
    private func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    @Test("A folder outside of the permitted folders is refused, however it is written")
    func folders() async throws {
        let bench = try await RPCBench()
        let (root, other) = (bench.folder("downloads"), bench.folder("other"))
        try make("\(root)/in/deep")
        try make("\(root)/.ssh")
        for (link, target) in [
            ("out", other), ("up", ".."), ("absolute", "/etc"), ("inside", "in"), ("hidden", ".ssh"),
        ] {
            try FileManager.default.createSymbolicLink(atPath: "\(root)/\(link)", withDestinationPath: target)
        }
        let strange = [
            "/etc/cron.d", other, "/", "", "downloads", "\(root)/../other", "\(root)/..", "\(root)/in/../../other",
            "\(root)/out", "\(root)/out/x", "\(root)/up", "\(root)/up/other", "\(root)/absolute/cron.d", "\(root)x",
            "\(root)/.ssh", "\(root)/.config/autostart", "\(root)/in/.x", "\(root)/hidden", "\(root)/a\u{0}b",
            "\(root)/a\nb", "~/x", "\(root)/" + String(repeating: "d", count: 300), bench.folder("state"),
        ]
        for folder in strange where !folder.isEmpty {
            let answer = try await bench.call(
                "aria2.addUri", ["http://127.0.0.1:9/x"], ["dir": .string(folder), "pause": "true"])
            #expect(answer.status == 400 && answer.error?.contains("folder") == true, "\(folder): \(answer)")
            let own = try await bench.ask(
                "POST", "/v1/downloads", try Self.document(folder: folder), fields: [bench.bearer])
            #expect(own.status == 400, "\(folder): \(own.text)")
            let option = try await bench.call("aria2.changeGlobalOption", ["dir": .string(folder)])
            #expect(option.status == 400, "\(folder)")
        }
        #expect(try await bench.isEmpty)
        for (folder, real) in [
            (root, ""), ("\(root)/in/./deep/", "/in/deep"), ("\(root)/new/er", "/new/er"),
            ("\(root)/inside/x", "/in/x"),
        ] {
            let gid = try #require(
                try await bench.call(
                    "aria2.addUri", [.string("http://127.0.0.1:9/\(UUID())")],
                    ["dir": .string(folder), "pause": "true"]
                ).result)
            #expect(try await bench.status(gid)["dir"] == .string(root + real))
        }
        await bench.end()
    }

    @Test("A link that is made in the path of the folder after the download was added does not lead it elsewhere")
    func laterLink() async throws {
        let bench = try await RPCBench()
        let server = try FaultServer { _ in
            FaultReply(Content(seed: 1, size: 8 << 20)).with { $0.cut = .stall(after: 4 << 20) }
        }
        let small = try FaultServer.serving(Content(seed: 2, size: 1000))
        let (root, other) = (bench.folder("downloads"), bench.folder("other"))
        func link(_ name: String) throws {
            try FileManager.default.createSymbolicLink(atPath: "\(root)/\(name)", withDestinationPath: other)
        }
        func add(_ folder: String, _ pause: JSONValue, from server: FaultServer) async throws -> JSONValue {
            try #require(
                try await bench.call(
                    "aria2.addUri", [.string(server.url("/\(UUID())"))],
                    ["dir": .string("\(root)/\(folder)"), "out": "a.bin", "pause": pause]
                ).result)
        }
        // The folder does not exist yet; the last part of the path exists, or does not.
        for folder in ["new", "above/new"] {
            let gid = try await add(folder, "true", from: small)
            try link(String(folder.prefix { $0 != "/" }))
            #expect(try await bench.call("aria2.unpause", gid).status == 200)
            let status = try await bench.waitForStatus(gid, "error")
            #expect(status["errorMessage"]?.text?.contains("\(root)/\(folder)") == true, "\(status)")
        }
        // The download has begun, and the folder is replaced while it is paused.
        let gid = try await add("begun", "false", from: server)
        for await _ in bench.ticks where bench.folder.exists("downloads/begun/a.bin.part") { break }
        #expect(try await bench.call("aria2.forcePause", gid).status == 200)
        _ = try await bench.waitForStatus(gid, "paused")
        try FileManager.default.moveItem(atPath: "\(root)/begun", toPath: "\(other)/begun")
        try FileManager.default.createSymbolicLink(atPath: "\(root)/begun", withDestinationPath: "\(other)/begun")
        let before = try FileManager.default.attributesOfItem(atPath: "\(other)/begun/a.bin.part")
        #expect(try await bench.call("aria2.unpause", gid).status == 200)
        _ = try await bench.waitForStatus(gid, "error")
        // A removal goes on after a file that it cannot delete.
        let whole = try await add("whole", "false", from: small)
        _ = try await bench.waitForStatus(whole, "complete")
        let ids = Array(try await bench.manager.snapshots(.all).map(\.id).suffix(2))
        await #expect(throws: DownloadError.self) { try await bench.manager.remove(ids, deletesFile: true) }
        #expect(!bench.folder.exists("downloads/whole/a.bin"))
        let after = try FileManager.default.attributesOfItem(atPath: "\(other)/begun/a.bin.part")
        #expect(before[.modificationDate] as? Date == after[.modificationDate] as? Date)
        #expect(try FileManager.default.contentsOfDirectory(atPath: other) == ["begun"])
        await bench.end()
    }

    private static func document(
        folder: String, _ more: [String: JSONValue] = [:], url: String = "http://127.0.0.1:9/x"
    ) throws -> String {
        let fields: [String: JSONValue] = [
            "urls": [.string(url)], "folder": .string(folder), "paused": .bool(true),
        ]
        return String(decoding: JSONValue.object(fields.merging(more) { $1 }).data, as: UTF8.self)
    }

    @Test("dlm's own folders are refused, even inside a permitted folder")
    func ownFolders() async throws {
        let folder = try TemporaryFolder()
        for name in ["state", "config", "files"] { try make(folder(name)) }
        var configuration = RPCConfiguration(folders: [folder.path], stateFolder: folder("state"))
        configuration.protectedFolders = [folder("config")]
        let rule = FolderRule(configuration)
        for name in ["state", "state/sessions", "config", "config/hooks"] {
            #expect(throws: WireProblem.self, "\(name)") { try rule.resolve(folder(name)) }
        }
        #expect(try rule.resolve(folder("files")) == folder("files"))
        #expect(try rule.resolve(folder("stately")) == folder("stately"))
    }

    @Test("The option `out` can only name a visible file below the folder")
    func names() async throws {
        let bench = try await RPCBench()
        for name in [
            "../x", "../../x", "/etc/passwd", "a/../../x", "..", ".", ".bashrc", "a/.x", "x\u{0}", "a\nb", "x/", "a//b",
            "a\\..\\b", "\u{202E}x", String(repeating: "n", count: 300),
        ] {
            let answer = try await bench.call(
                "aria2.addUri", ["http://127.0.0.1:9/x"], ["out": .string(name), "pause": "true"])
            #expect(answer.status == 400 && answer.error?.contains("--out") == true, "\(name)")
            let own = try await bench.ask(
                "POST", "/v1/downloads",
                try Self.document(folder: bench.folder("downloads"), ["file": .string(name)]), fields: [bench.bearer])
            #expect(own.status == 400, "\(name)")
        }
        #expect(try await bench.isEmpty)
        let gid = try #require(
            try await bench.call("aria2.addUri", ["http://127.0.0.1:9/x"], ["out": "a/b/c.bin", "pause": "true"]).result
        )
        let file = try await bench.status(gid)["files"]?.values?.first?.fields
        #expect(file?["path"] == .string(bench.folder("downloads/a/b/c.bin")))
        await bench.end()
    }

    @Test("A Metalink document from the network names no file outside of the folder")
    func metalinkNames() async throws {
        let bench = try await RPCBench()
        for name in ["../x", "/etc/x", ".x", "a/../../x"] {
            let document = """
                <?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="\(name)">\
                <url>http://127.0.0.1:9/x</url></file></metalink>
                """
            let answer = try await bench.call(
                "aria2.addMetalink", .string(Data(document.utf8).base64EncodedString()), ["pause": "true"])
            #expect(answer.status == 400, "\(name)")
        }
        #expect(try await bench.isEmpty)
        await bench.end()
    }

    @Test("No option runs a program, or reads or writes a file of this machine")
    func options() async throws {
        let bench = try await RPCBench()
        let refused = Aria2Option.all.filter { if case .refused = $0.use { true } else { false } }.map(\.name)
        #expect(refused.contains("on-download-complete") && refused.contains("load-cookies") && refused.contains("log"))
        for name in refused {
            let options: JSONValue = .object([name: "/bin/true", "pause": "true"])
            for answer in [
                try await bench.call("aria2.addUri", ["http://127.0.0.1:9/x"], options),
                try await bench.call("aria2.changeGlobalOption", options),
            ] {
                #expect(answer.error?.contains("'\(name)' is refused") == true, "\(name): \(answer)")
            }
        }
        #expect(try await bench.isEmpty)
        await bench.end()
    }

    @Test("A request of dlm's own API runs no program, and reads or writes no file of this machine")
    func ownAPI() async throws {
        let bench = try await RPCBench()
        let strange: [(String, JSONValue)] = [
            ("onComplete", "/bin/true"), ("onError", "/bin/true"), ("urlCommand", "date"),
            ("options", ["secretFiles": ["netrc": "/root/.netrc"]]),
            ("options", ["secretFiles": ["bearer": "/etc/passwd"]]),
            ("options", ["secretFiles": ["bearerCommand": "id"]]),
            ("options", ["secretFiles": ["cookies": "/etc/passwd"]]),
            ("options", ["secretFiles": ["cookieJar": "/root/.ssh/authorized_keys"]]),
            ("options", ["trust": ["authorities": "/etc/passwd"]]),
            ("options", ["trust": ["certificate": "/etc/passwd"]]),
            ("options", ["trust": ["privateKey": "/etc/passwd"]]), ("options", ["trust": ["sshKey": "/etc/passwd"]]),
            ("options", ["trust": ["knownHosts": "/etc/passwd"]]), ("options", ["trust": ["pinnedKey": "/etc/passwd"]]),
            ("headers", [["X", "a\r\nHost: evil"]]), ("options", ["http": ["userAgent": "a\r\nX: y"]]),
            ("options", ["http": ["referer": "a\nX: y"]]), ("mirrors", ["file:///etc/passwd"]),
            ("options", ["network": ["interface": "lo\n"]]), ("options", ["network": ["interface": "lo"]]),
            ("headers", [["Content-Length", "5"]]), ("headers", [["transfer-encoding", "chunked"]]),
            ("headers", [["Connection", "x"]]), ("headers", [["Host", "h"]]),
            ("signedBy", ["/etc/passwd"]), ("allowsRollback", .bool(true)), ("trustsFirstUse", .bool(true)),
        ]
        for (field, value) in strange {
            let document = try Self.document(folder: bench.folder("downloads"), [field: value])
            let answer = try await bench.ask("POST", "/v1/downloads", document, fields: [bench.bearer])
            #expect(answer.status == 400, "\(field) \(value): \(answer.text)")
        }
        for url in [
            "file:///etc/passwd", "scp://127.0.0.1/etc/passwd", "gopher://127.0.0.1/", "data:,x", "dict://127.0.0.1:9/",
        ] {
            let document = try Self.document(folder: bench.folder("downloads"), url: url)
            #expect(
                try await bench.ask("POST", "/v1/downloads", document, fields: [bench.bearer]).status == 400, "\(url)")
            #expect(try await bench.call("aria2.addUri", [.string(url)]).status == 400, "\(url)")
        }
        #expect(try await bench.isEmpty)
        await bench.end()
    }

    @Test(
        "What is refused for a new download is also refused for a paused or running one",
        arguments: ["paused", "active"])
    func later(status: String) async throws {
        let bench = try await RPCBench()
        let server = try FaultServer { _ in
            FaultReply(Content(seed: 1, size: 100_000)).with { $0.cut = .stall(after: 1000) }
        }
        let url = JSONValue.string(server.url("/x"))
        let pause: JSONValue = status == "paused" ? "true" : "false"
        let gid = try #require(try await bench.call("aria2.addUri", [url], ["pause": pause]).result)
        _ = try await bench.waitForStatus(gid, status)
        if status == "active" { #expect(await server.waitUntil { $0.bytesSent == 1000 }) }
        let id = try #require(try await bench.manager.snapshots(.all).first?.id)
        for body in [
            #"{"options":{"secretFiles":{"netrc":"/root/.netrc"}}}"#, #"{"headers":[["A","b\r\nC: d"]]}"#,
            #"{"options":{"trust":{"sshKey":"/etc/passwd"}}}"#, #"{"allowsRollback":true}"#,
        ] {
            #expect(
                try await bench.ask("POST", "/v1/downloads/\(id)/resume", body, fields: [bench.bearer]).status == 400,
                "\(body)")
        }
        #expect(
            try await bench.ask(
                "PATCH", "/v1/downloads/\(id)", #"{"url":"file:///etc/passwd"}"#, fields: [bench.bearer]
            )
            .status == 400)
        #expect(
            try await bench.call("aria2.changeUri", gid, .integer(1), [url], ["file:///etc/passwd"])
                .status == 400)
        #expect(try await bench.call("aria2.changeOption", gid, ["load-cookies": "/etc/passwd"]).status == 400)
        #expect(try await bench.call("aria2.changeOption", gid, ["dir": "/etc"]).status == 400)
        #expect(try await bench.status(gid)["status"] == .string(status))
        let record = try #require(try await bench.manager.snapshots(.all).first?.record)
        #expect(record.request.url.string == url.text && record.request.destination.folder == bench.folder("downloads"))
        #expect(record.request.secretFiles == SecretFiles() && record.request.headers.isEmpty)
        #expect(server.log.entries.count == (status == "active" ? 1 : 0))
        await bench.end()
    }

    @Test("A line break in an option is refused, except `\\n` between the fields of `header`")
    func lineBreaks() async throws {
        let bench = try await RPCBench()
        for (name, value) in [
            ("header", "A: b\r\nC: d"), ("header", "A: b\rC: d"), ("header", "A\u{0}: b"), ("user-agent", "a\r\nC: d"),
            ("referer", "a\nC: d"), ("http-user", "a\nb"), ("all-proxy", "http://127.0.0.1:9\r\n"),
            ("no-proxy", "a\nb"),
        ] {
            let options: JSONValue = .object([name: .string(value), "pause": "true"])
            let answer = try await bench.call("aria2.addUri", ["http://127.0.0.1:9/x"], options)
            // The option `header` takes several fields, one on each line, as `getOption` returns them. So `\n` is
            // permitted only there.
            #expect(answer.status == 400, "\(name) \(value): \(answer)")
        }
        #expect(try await bench.isEmpty)
        await bench.end()
    }

    @Test("A preview tells name, size and whether the name is taken, and asks only where a download could go")
    func preview() async throws {
        let bench = try await RPCBench()
        let server = try FaultServer.serving(Content(seed: 3, size: 1000))
        func probe(_ url: String, _ folder: String) async throws -> RawClient.Received {
            let body: JSONValue = ["url": .string(url), "folder": .string(folder)]
            return try await bench.ask(
                "POST", "/v1/probe", String(decoding: body.data, as: UTF8.self), fields: [bench.bearer])
        }
        for isThere in [false, true] {
            if isThere { try bench.folder.write("x", to: "downloads/file.bin") }
            let answer = try await probe(server.url(), bench.folder("downloads"))
            let found = try answer.json
            #expect(found["name"] as? String == "file.bin" && found["size"] as? Int == 1000, "\(answer.text)")
            #expect(found["resumable"] as? Bool == true && found["exists"] as? Bool == isThere)
        }
        let missing = try FaultServer { _ in FaultReply(status: 404) }
        #expect(try await probe(missing.url(), bench.folder("downloads")).status == 502)
        #expect(try await probe("file:///etc/passwd", bench.folder("downloads")).status == 400)
        #expect(try await probe(server.url(), "/etc").status == 400)
        #expect(try await bench.ask("POST", "/v1/probe", "{}").status == 401)
        #expect(try await bench.isEmpty)
        await bench.end()
    }

    @Test("A permitted folder that is a link to a folder that does not exist is refused when a download is added")
    func danglingRoot() async throws {
        let bench = try await RPCBench {
            $0.folders = [($0.stateFolder as NSString).deletingLastPathComponent + "/link"]
        }
        let root = bench.folder("link")
        try FileManager.default.createSymbolicLink(atPath: root, withDestinationPath: bench.folder("missing"))
        let answer = try await bench.call("aria2.addUri", ["http://127.0.0.1:9/x"], ["pause": "true"])
        #expect(answer.status == 400 && answer.error?.contains("does not exist") == true, "\(answer)")
        try make(bench.folder("missing"))
        #expect(try await bench.call("aria2.addUri", ["http://127.0.0.1:9/x"], ["pause": "true"]).status == 200)
        await bench.end()
    }

    @Test("Only a few servers are asked for a preview at the same time")
    func manyPreviews() async throws {
        let folder = try TemporaryFolder()
        let configuration = RPCConfiguration(folders: [folder.path], stateFolder: folder("state"))
        let rule = RequestRule(folders: FolderRule(configuration), permitsPrivateHosts: true)
        let (asked, gate) = (Observed(0), Observed(false))
        let preview = FilePreview(rule: rule) { _ in
            asked.update { $0 += 1 }
            _ = await gate.wait { $0 }
            return ProbedRequest()
        }
        let body = Data(#"{"url":"http://127.0.0.1:9/x"}"#.utf8)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<FilePreview.most { group.addTask { _ = try? await preview.document(body) } }
            #expect(await asked.wait { $0 == FilePreview.most })
            await #expect(throws: FilePreview.TooMany.self) { try await preview.document(body) }
            #expect(asked.value == FilePreview.most)
            gate.update { $0 = true }
        }
        await #expect(throws: DownloadError.self) { try await preview.document(body) }
        #expect(asked.value == FilePreview.most + 1)
    }

    @Test("A finished file outside of the permitted folders is not deleted")
    func deletion() async throws {
        let bench = try await RPCBench()
        let content = Content(seed: 3, size: 1000)
        let server = try FaultServer.serving(content)
        let request = DownloadRequest(
            url: try SourceURL.parse(server.url()).get().url, destination: Destination(folder: bench.folder("other")))
        let id = try await bench.manager.add([request])[0].record.id
        for await _ in bench.ticks where try await bench.manager.snapshots(.ids([id]))[0].record.state == .completed {
            break
        }
        let answer = try await bench.ask(
            "POST", "/v1/downloads/\(id)/remove", #"{"deleteFile":true}"#, fields: [bench.bearer])
        #expect(answer.status == 400)
        #expect(bench.folder.exists("other/file.bin"))
        #expect(try await bench.ask("POST", "/v1/downloads/\(id)/remove", "{}", fields: [bench.bearer]).status == 200)
        #expect(bench.folder.exists("other/file.bin"))
        await bench.end()
    }

    @Test("With rpc-private-hosts false, nothing is fetched from this machine or a private network")
    func privateHosts() async throws {
        let content = Content(seed: 3, size: 1000)
        let server = try FaultServer.serving(content)
        let bench = try await RPCBench { $0.permitsPrivateHosts = false }
        let options: JSONValue = ["max-tries": "1"]
        for host in ["127.0.0.1", "[::1]", "127.1.2.3", "[::ffff:127.0.0.1]", "192.168.0.1", "169.254.169.254"] {
            let answer = try await bench.call("aria2.addUri", [.string("http://\(host):\(server.port)/file.bin")])
            #expect(answer.status == 400, "\(host)")
        }
        // The address of a name is checked when the connection is made.
        let url = "http://localhost:\(server.port)/file.bin"
        let gid = try #require(try await bench.call("aria2.addUri", [.string(url)], options).result)
        let status = try await bench.waitForStatus(gid, "error", "complete")
        #expect(status["status"] == "error")
        #expect(status["errorMessage"]?.text?.contains("rpc-private-hosts") == true, "\(status)")
        let body = #"{"options":{"network":{"refusesPrivateAddresses":false}}}"#
        let id = try #require(try await bench.manager.snapshots(.all).first?.id)
        _ = try await bench.ask("POST", "/v1/downloads/\(id)/resume", body, fields: [bench.bearer])
        #expect(try await bench.manager.snapshots(.ids([id]))[0].record.request.network.refusesPrivateAddresses == true)
        _ = try await bench.waitForStatus(gid, "error", "complete")
        let preview = try await bench.ask("POST", "/v1/probe", #"{"url":"\#(url)"}"#, fields: [bench.bearer])
        #expect(preview.status == 502 && preview.text.contains("private network"), "\(preview.text)")
        #expect(server.log.entries.isEmpty)
        let proxied = try await bench.call("aria2.addUri", ["http://192.0.2.1/x"], ["all-proxy": "http://127.0.0.1:9"])
        #expect(proxied.status == 400)
        #expect(try await bench.call("aria2.changeGlobalOption", ["all-proxy": "http://127.0.0.1:9"]).status == 400)
        await bench.end()
    }

    @Test(
        "Addresses that are not public are recognized",
        arguments: [
            ("127.0.0.1", true), ("10.1.2.3", true), ("172.16.0.1", true), ("172.32.0.1", false), ("192.168.1.1", true),
            ("169.254.169.254", true), ("100.64.0.1", true), ("100.128.0.1", false), ("0.0.0.0", true),
            ("8.8.8.8", false),
            ("224.0.0.1", true), ("255.255.255.255", true), ("198.18.0.1", true), ("::1", true), ("[::1]", true),
            ("::", true),
            ("fe80::1%eth0", true), ("fc00::1", true), ("fdff::1", true), ("ff02::1", true), ("::ffff:127.0.0.1", true),
            ("::ffff:8.8.8.8", false), ("64:ff9b::a00:1", true), ("64:ff9b::808:808", false), ("2002:7f00:1::", true),
            ("2001:4860:4860::8888", false), ("example.org", false), ("::127.0.0.1", true), ("fec0::1", true),
        ])
    func privateAddresses(address: String, isPrivate: Bool) {
        #expect(PrivateAddress.contains(address) == isPrivate)
    }
}
