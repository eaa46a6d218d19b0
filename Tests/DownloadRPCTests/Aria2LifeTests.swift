import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadRPC

@Suite("Downloads by aria2's RPC", .inTurn, .timeLimit(.minutes(2)))
struct Aria2LifeTests {
    private static let content = Content(seed: 11, size: 3_000_000)

    @Test("A download has the fields that clients read, from its addition to its end")
    func life() async throws {
        let bench = try await RPCBench()
        let gate = Gate(after: 1_500_000)
        let server = try FaultServer { _ in FaultReply(Self.content, etag: "\"a\"").with { $0.gate = gate } }
        let gid = try #require(
            try await bench.call(
                "aria2.addUri", [.string(server.url())],
                [
                    "split": "1", "header": ["X-A: 1", "Cookie: k=v"], "referer": "http://r.example/",
                    "user-agent": "U/1",
                ]
            ).result)
        let active = try await bench.waitForStatus(gid, "active")
        for key in [
            "gid", "status", "totalLength", "completedLength", "uploadLength", "downloadSpeed", "uploadSpeed",
            "connections",
            "pieceLength", "numPieces", "dir", "files",
        ] { #expect(active[key] != nil, "\(key)") }
        #expect(
            try await bench.call("aria2.tellActive", ["gid", "status"]).result == [["gid": gid, "status": "active"]])
        let stat = try #require(try await bench.call("aria2.getGlobalStat").result?.fields)
        #expect(stat["numActive"] == "1" && stat["numWaiting"] == "0" && stat.count == 6)
        #expect(try await bench.call("aria2.getServers", gid).result?.values?.count == 1)
        gate.open()
        let done = try await bench.waitForStatus(gid, "complete")
        #expect(done["totalLength"] == "3000000" && done["completedLength"] == "3000000" && done["errorCode"] == "0")
        #expect(done["bitfield"] == "e0" && done["numPieces"] == "3")
        let fields = server.log.entries[0].request
        #expect(fields["cookie"] == "k=v" && fields["x-a"] == "1" && fields["referer"] == "http://r.example/")
        #expect(fields["user-agent"] == "U/1")
        #expect(try sha256(of: bench.folder("downloads/file.bin")) == Self.content.sha256)
        #expect(try await bench.call("aria2.tellStopped", .integer(-1), .integer(5), ["gid"]).result == [["gid": gid]])
        #expect(try await bench.call("aria2.removeDownloadResult", gid).result == "OK")
        #expect(try await bench.isEmpty && bench.folder.exists("downloads/file.bin"))
        await bench.end()
    }

    @Test("AriaNg's retry: the answer of getOption is valid for addUri, and the old result can be removed")
    func retry() async throws {
        let bench = try await RPCBench()
        let server = try FaultServer { _ in FaultReply(status: 404) }
        let gid = try #require(
            try await bench.call(
                "aria2.addUri", [.string(server.url())],
                ["header": ["Cookie: k=v", "X-A: 1"], "split": "2", "out": "n.bin"]
            ).result)
        #expect(try await bench.waitForStatus(gid, "error")["errorCode"] == "3")
        let options = try #require(try await bench.call("aria2.getOption", gid).result)
        #expect(options.fields?.values.allSatisfy { $0.text != nil } == true)
        #expect(options.fields?["header"] == "Cookie: k=v\nX-A: 1\n")
        server.change(to: Self.content)
        let again = try #require(try await bench.call("aria2.addUri", [.string(server.url())], options).result)
        #expect(again != gid)
        #expect(try await bench.call("aria2.removeDownloadResult", gid).result == "OK")
        _ = try await bench.waitForStatus(again, "complete")
        #expect(server.log.entries.last?.request["cookie"] == "k=v")
        #expect(bench.folder.exists("downloads/n.bin"))
        await bench.end()
    }

    @Test("A call for all downloads leaves out those that another client removes meanwhile")
    func removedMeanwhile() async throws {
        var left: Set<DownloadID> = [1, 3]
        var calls: [[DownloadID]] = []
        func change(_ ids: [DownloadID]) throws {
            calls.append(ids)
            if let removed = ids.first(where: { !left.contains($0) }) { throw DownloadError.noSuchDownload(removed) }
        }
        try await Aria2Session.withoutRemoved([1, 2, 3, 4]) { try change($0) }
        #expect(calls == [[1, 2, 3, 4], [1, 3, 4], [1, 3]])
        left = []
        try await Aria2Session.withoutRemoved([1]) { try change($0) }
        #expect(calls.count == 4)
        await #expect(throws: DownloadError.noSuchDownload(9)) {
            try await Aria2Session.withoutRemoved([1]) { _ in throw DownloadError.noSuchDownload(9) }
        }
    }

    @Test("A download can be paused, changed and continued, and limits change while it runs")
    func changes() async throws {
        let bench = try await RPCBench()
        let gate = Gate(after: 1_500_000)
        let server = try FaultServer { _ in FaultReply(Self.content, etag: "\"a\"").with { $0.gate = gate } }
        let gid = try #require(try await bench.call("aria2.addUri", [.string(server.url())], ["split": "1"]).result)
        _ = try await bench.waitForStatus(gid, "active")
        #expect(try await bench.call("aria2.changeOption", gid, ["max-download-limit": "20K"]).result == "OK")
        #expect(try await bench.call("aria2.getOption", gid).result?.fields?["max-download-limit"] == "20480")
        #expect(try await bench.call("aria2.pause", gid).result == gid)
        _ = try await bench.waitForStatus(gid, "paused")
        #expect(
            try await bench.call("aria2.tellWaiting", .integer(0), .integer(9), ["status"]).result == [
                ["status": "paused"]
            ])
        #expect(
            try await bench.call("aria2.changeOption", gid, ["header": "X-New: 1", "max-download-limit": "0"]).result
                == "OK")
        // An option that only a new download can have is refused, and getOption still has the old value.
        let tries = try await bench.call("aria2.getOption", gid).result?.fields?["max-tries"]
        for options in [["max-tries": "9"], ["timeout": "9"], ["allow-overwrite": "true"]] as [JSONValue] {
            #expect(try await bench.call("aria2.changeOption", gid, options).status == 400, "\(options)")
        }
        #expect(try await bench.call("aria2.getOption", gid).result?.fields?["max-tries"] == tries)
        gate.open()
        #expect(try await bench.call("aria2.unpause", gid).result == gid)
        _ = try await bench.waitForStatus(gid, "complete")
        #expect(server.log.entries.last?.request["x-new"] == "1")
        #expect(try await bench.call("aria2.unpause", gid).error == "GID#\(gid.text ?? "") cannot be unpaused now")
        let global: JSONValue = [
            "max-overall-download-limit": "1M", "max-concurrent-downloads": "3", "user-agent": "G/1",
        ]
        #expect(try await bench.call("aria2.changeGlobalOption", global).result == "OK")
        let options = try #require(try await bench.call("aria2.getGlobalOption").result?.fields)
        #expect(options["max-overall-download-limit"] == "1048576" && options["max-concurrent-downloads"] == "3")
        #expect(options["user-agent"] == "G/1" && options["dir"] == .string(bench.folder("downloads")))
        await bench.end()
    }

    @Test("The queue can be rearranged, stopped and cleared")
    func queue() async throws {
        let bench = try await RPCBench()
        var gids: [JSONValue] = []
        for number in 0..<4 {
            gids.append(
                try #require(
                    try await bench.call("aria2.addUri", [.string("http://127.0.0.1:9/\(number)")], ["pause": "true"])
                        .result))
        }
        func order() async throws -> [JSONValue] {
            try await bench.call("aria2.tellWaiting", .integer(0), .integer(9), ["gid"]).result?.values?
                .compactMap { $0.fields?["gid"] } ?? []
        }
        #expect(try await order() == gids)
        #expect(try await bench.call("aria2.changePosition", gids[3], .integer(0), "POS_SET").result == .integer(0))
        #expect(try await order() == [gids[3], gids[0], gids[1], gids[2]])
        #expect(try await bench.call("aria2.changePosition", gids[0], .integer(1), "POS_CUR").result == .integer(2))
        #expect(try await order() == [gids[3], gids[1], gids[0], gids[2]])
        #expect(try await bench.call("aria2.changePosition", gids[3], .integer(0), "POS_END").result == .integer(3))
        #expect(try await order() == [gids[1], gids[0], gids[2], gids[3]])
        let first = try #require(
            try await bench.call("aria2.addUri", ["http://127.0.0.1:9/n"], ["pause": "true"], .integer(1)).result)
        #expect(try await order()[1] == first)
        // A download that has fetched nothing leaves no result.
        #expect(try await bench.call("aria2.remove", first).result == first)
        #expect(try await bench.call("aria2.tellStatus", first).status == 400)
        #expect(try await bench.call("aria2.unpauseAll").result == "OK")
        #expect(try await bench.call("aria2.pauseAll").result == "OK")
        #expect(try await bench.call("aria2.purgeDownloadResult").result == "OK")
        #expect(try await bench.call("aria2.saveSession").result == "OK")
        await bench.end()
    }

    @Test("A Metalink document becomes downloads with its digests")
    func metalink() async throws {
        let bench = try await RPCBench()
        let server = try FaultServer.serving(Self.content)
        let document = """
            <?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="sub/m.bin">\
            <size>3000000</size><hash type="sha-256">\(Self.content.sha256)</hash><url>\(server.url("/a"))</url>\
            <url>\(server.url("/b"))</url></file></metalink>
            """
        let added = try #require(
            try await bench.call("aria2.addMetalink", .string(Data(document.utf8).base64EncodedString())).result?.values
        )
        #expect(added.count == 1)
        _ = try await bench.waitForStatus(added[0], "complete")
        #expect(try sha256(of: bench.folder("downloads/sub/m.bin")) == Self.content.sha256)
        let body: JSONValue = [
            "metalink": .string(document), "folder": .string(bench.folder("downloads/own")), "priority": .integer(3),
        ]
        let own = try await bench.ask(
            "POST", "/v1/downloads", String(decoding: body.data, as: UTF8.self), fields: [bench.bearer])
        #expect(own.status == 200, "\(own.text)")
        for await _ in bench.ticks where bench.folder.exists("downloads/own/sub/m.bin") { break }
        #expect(try sha256(of: bench.folder("downloads/own/sub/m.bin")) == Self.content.sha256)
        let request = try #require(try await bench.manager.snapshots(.all).last?.record.request)
        #expect(request.checksum?.digest == Self.content.sha256 && request.mirrors.count == 1 && request.priority == 3)
        #expect(request.size == 3_000_000)
        let files = (0..<400).map { "<file name='\($0)'><url>http://127.0.0.1:9/\($0)</url></file>" }.joined()
        let long = JSONValue.array([["X-Long", .string(String(repeating: "h", count: 100_000))]])
        let bad: [[String: JSONValue]] = [
            ["metalink": "<html/>"], ["metalink": .string(document), "urls": ["http://127.0.0.1:9/lost"]],
            ["metalink": .string("<metalink>\(files)</metalink>"), "headers": long],
        ]
        for fields in bad {
            let body = JSONValue.object(fields.merging(["folder": .string(bench.folder("downloads"))]) { $1 })
            let answer = try await bench.ask(
                "POST", "/v1/downloads", String(decoding: body.data, as: UTF8.self), fields: [bench.bearer])
            #expect(answer.status == 400, "\(answer.text.prefix(500))")
        }
        for text in ["%%%", "aGFsbG8="] {
            #expect(try await bench.call("aria2.addMetalink", .string(text)).status == 400)
        }
        await bench.end()
    }

    @Test("shutdown answers before the session ends")
    func shutdown() async throws {
        let bench = try await RPCBench()
        #expect(try await bench.call("aria2.shutdown").result == "OK")
        var requests = bench.manager.shutdownRequests.makeAsyncIterator()
        #expect(await requests.next() == .pause)
        await bench.end()
    }
}
