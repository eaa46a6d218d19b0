import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadRPC

/// Requests and answers on the wire, as aria2 1.36 was observed to send them.
@Suite("aria2's JSON-RPC on the wire", .inTurn, .timeLimit(.minutes(2)))
struct WireTests {
    @Test("All methods of aria2 are known by name")
    func methods() {
        #expect(Aria2Method.all.count == 36 && Aria2Method.byName.count == 36)
        #expect(Aria2Method.all.filter { $0.name.hasPrefix("aria2.") }.count == 33)
    }

    @Test("Malformed documents have the error codes and statuses of aria2")
    func malformed() async throws {
        let bench = try await RPCBench()
        for (document, status, code, id) in [
            (#"{"id":123456789012345678901,"method":"aria2.getVersion"}"#, 400, -32600, .null),
            ("", 500, -32700, .null), ("{", 500, -32700, .null), ("3", 500, -32700, .null),
            (#"{"a":01}"#, 500, -32700, .null),
            (#"{"method":"aria2.getVersion"}"#, 400, -32600, .null), (#"{"id":1}"#, 400, -32600, .integer(1)),
            (#"{"id":1,"method":3}"#, 400, -32600, .integer(1)),
            (#"{"id":"a","method":"aria2.getVersion","params":{}}"#, 500, -32602, "a"),
        ] as [(String, Int, Int64, JSONValue)] {
            let answer = try await bench.post(document)
            #expect(answer.status == status, "\(document)")
            #expect(answer.document.fields?["error"]?.fields?["code"] == .integer(code), "\(document)")
            #expect(answer.document.fields?["id"] == id, "\(document)")
        }
        #expect(try await bench.post("[]").document == [])
        #expect(try await bench.post("[3]").document == [])
        await bench.end()
    }

    @Test("The id of a call comes back unchanged, whatever Content-Type is sent, with or without jsonrpc")
    func ids() async throws {
        let bench = try await RPCBench()
        for id in [
            "0", "1", "-7", "9007199254740993", "-9223372036854775808", "1.5", "null", #""a""#, "true", #"["x"]"#,
            #"{"a":1}"#,
        ] {
            let answer = try await bench.ask("POST", "/jsonrpc", #"{"id":\#(id),"method":"system.listMethods"}"#)
            #expect(answer.body.contains(#""id":\#(id)"#), "\(answer.body)")
            #expect(answer.status == 200 && answer.text.contains("Content-Type: application/json-rpc"))
        }
        for type in ["application/json", "application/json-rpc", "text/plain;charset=UTF-8", "image/png", ""] {
            for version in ["", #""jsonrpc":"2.0","#, #""jsonrpc":"1.0","#] {
                let answer = try await bench.ask(
                    "POST", "/jsonrpc", #"{\#(version)"id":"a","method":"system.listMethods"}"#,
                    fields: ["Content-Type: \(type)"])
                #expect(
                    answer.status == 200 && answer.body.contains(#""id":"a","jsonrpc":"2.0","result""#),
                    "\(answer.text)")
            }
        }
        await bench.end()
    }

    @Test("The failure of a method has status 400, code 1 and aria2's message")
    func failures() async throws {
        let bench = try await RPCBench()
        let gid = try #require(
            try await bench.call("aria2.addUri", ["http://127.0.0.1:9/x"], ["pause": "true"]).result?.text)
        let cases: [(String, [JSONValue], String)] = [
            ("aria2.nope", [], "No such method: aria2.nope"),
            ("aria2.addUri", [], "The parameter at 0 is required but missing."),
            ("aria2.addUri", ["x"], "The parameter at 0 has wrong type."),
            ("aria2.addUri", [[]], "URI is not provided."),
            ("aria2.addUri", [["http://h/"], .integer(5)], "The parameter at 1 has wrong type."),
            ("aria2.addUri", [["http://h/"], [:], .integer(-1)], "Position must be greater than or equal to 0."),
            ("aria2.addUri", [["http://h/"], [:], "x"], "The parameter at 2 has wrong type."),
            ("aria2.tellStatus", ["zz"], "Invalid GID zz"),
            ("aria2.tellStatus", [.integer(5)], "The parameter at 0 has wrong type."),
            ("aria2.tellStatus", ["0000000000000001"], "GID 0000000000000001 is not found"),
            ("aria2.pause", [.string(gid)], "GID#\(gid) cannot be paused now"),
            ("aria2.getServers", [.string(gid)], "No active download for GID#\(gid)"),
            ("aria2.removeDownloadResult", [.string(gid)], "Could not remove download result of GID#\(gid)"),
            ("aria2.tellWaiting", [.integer(0)], "The parameter at 1 is required but missing."),
            ("aria2.tellWaiting", ["0", .integer(3)], "The parameter at 0 has wrong type."),
            ("aria2.changePosition", [.string(gid), .integer(0), "FOO"], "Illegal argument."),
            (
                "aria2.changeOption", [.string(gid), ["split": "x"]],
                "We encountered a problem while processing the option '--split'."
            ),
            (
                "aria2.changeGlobalOption", [["max-concurrent-downloads": "0"]],
                "We encountered a problem while processing the option '--max-concurrent-downloads'."
            ),
            ("aria2.changeGlobalOption", [.integer(3)], "The parameter at 0 has wrong type."),
        ]
        for (method, parameters, message) in cases {
            let call: JSONValue = [
                "id": "x", "method": .string(method), "params": .array([.string("token:\(bench.secret)")] + parameters),
            ]
            let answer = try await bench.post(String(decoding: call.data, as: UTF8.self))
            #expect(answer.status == 400 && answer.error == message, "\(method) \(parameters): \(answer)")
            #expect(answer.document.fields?["error"]?.fields?["code"] == .integer(1))
        }
        for method in ["aria2.addTorrent", "aria2.getPeers"] {
            #expect(try await bench.call(method, .string(gid)).error != nil)
        }
        #expect(try await bench.call("aria2.addUri", ["magnet:?xt=urn:btih:x"]).error?.contains("BitTorrent") == true)
        await bench.end()
    }

    @Test("A proxy that cannot be one, and a list for an option with one value, are refused when they are given")
    func unusableOptions() async throws {
        let bench = try await RPCBench()
        let strange: [(String, JSONValue)] = [
            ("all-proxy", "not a proxy:::"), ("http-proxy", "gopher://h:1"), ("https-proxy", "http://h:99999"),
            ("ftp-proxy", "http://"), ("out", ["a", "b"]), ("dir", [.string(bench.folder("downloads"))]),
        ]
        for (name, value) in strange {
            let options = JSONValue.object([name: value])
            #expect(try await bench.call("aria2.addUri", ["http://127.0.0.1:9/x"], options).status == 400, "\(name)")
            #expect(try await bench.call("aria2.changeGlobalOption", options).status == 400, "\(name)")
        }
        for proxy: JSONValue in ["h:1", "socks5://u:p@[::1]:1080", ""] {
            #expect(try await bench.call("aria2.changeGlobalOption", ["all-proxy": proxy]).status == 200, "\(proxy)")
        }
        await bench.end()
    }

    @Test("getOption answers the options in force, and changeOption refuses one that it cannot change")
    func optionsInForce() async throws {
        let bench = try await RPCBench()
        let gid = try #require(
            try await bench.call("aria2.addUri", ["http://127.0.0.1:9/x"], ["pause": "true", "timeout": "7"]).result)
        let options = try #require(try await bench.call("aria2.getOption", gid).result?.fields)
        #expect(options["split"] == "6" && options["max-connection-per-server"] == "6" && options["timeout"] == "7")
        #expect(options["max-tries"] == "6" && options["check-certificate"] == "true")
        #expect(try await bench.call("aria2.changeOption", gid, .object(options)).result == "OK")
        #expect(try await bench.call("aria2.changeOption", gid, ["continue": "true", "split": .null]).result == "OK")
        #expect(try await bench.call("aria2.changeOption", gid, ["max-tries": "3"]).status == 400)
        #expect(try await bench.call("aria2.changePosition", gid, .integer(0), "POS_SET").result == .integer(0))
        // A client that sends the answer back gets an automatic number of connections again.
        let again = try #require(
            try await bench.call(
                "aria2.addUri", ["http://127.0.0.1:9/y"], .object(options.merging(["pause": "true"]) { $1 })
            )
            .result)
        #expect(again != gid)
        #expect(try await bench.manager.snapshots(.all).allSatisfy { $0.record.request.connections.fixed == nil })
        // A request of dlm's own API may have an endless time limit.
        var endless = try DownloadRequest("http://127.0.0.1:9/z")
        endless.destination.folder = bench.folder("downloads")
        endless.startsPaused = true
        endless.timeouts.stall = .seconds(1e15)
        _ = try await bench.manager.add([endless])
        let waiting = try #require(
            try await bench.call("aria2.tellWaiting", .integer(0), .integer(9), ["gid"]).result?.values)
        let last = try #require(waiting.last?.fields?["gid"])
        #expect(try await bench.call("aria2.getOption", last).result?.fields?["timeout"] == "86400")
        await bench.end()
    }

    @Test("changeOption keeps the unchanged partner of a changed option: name and password, split and connections")
    func partners() async throws {
        let bench = try await RPCBench()
        let server = try FaultServer.serving(Content(seed: 1, size: 1000))
        let gid = try #require(
            try await bench.call(
                "aria2.addUri", [.string(server.url())],
                [
                    "pause": "true", "http-user": "bob", "http-passwd": "old", "split": "8",
                    "max-connection-per-server": "3",
                ]
            ).result)
        for options: JSONValue in [
            ["http-user": "bob", "http-passwd": "new"], ["split": "16", "max-connection-per-server": "3"],
        ] {
            #expect(try await bench.call("aria2.changeOption", gid, options).result == "OK")
        }
        #expect(try await bench.call("aria2.unpause", gid).status == 200)
        _ = try await bench.waitForStatus(gid, "complete")
        #expect(server.log.entries.allSatisfy { $0.request["authorization"] == "Basic Ym9iOm5ldw==" })
        #expect(try await bench.manager.snapshots(.all).map(\.record.request.connections) == [3])
        await bench.end()
    }

    @Test("multicall answers a success with an array and a failure with an object, and cannot call itself")
    func multicall() async throws {
        let bench = try await RPCBench()
        let token = #""token:\#(bench.secret)""#
        let answer = try await bench.post(
            """
            {"id":"q","method":"system.multicall","params":[[{"methodName":"aria2.getSessionInfo","params":[\(token)]},
            {"methodName":"aria2.tellStatus","params":[\(token),"77"]},{"methodName":"system.multicall","params":[[]]},3,
            {"foo":1},{"methodName":"system.listNotifications"}]]}
            """)
        let values = try #require(answer.result?.values)
        #expect(answer.status == 200 && values.count == 6)
        #expect(values[0].values?.first?.fields?["sessionId"]?.text?.count == 40)
        #expect(values[1] == ["code": .integer(1), "message": "GID 77 is not found"])
        #expect(values[2] == ["code": .integer(1), "message": "Recursive system.multicall forbidden."])
        #expect(values[3] == ["code": .integer(1), "message": "system.multicall expected struct."])
        #expect(values[4] == ["code": .integer(1), "message": "Missing methodName."])
        #expect(values[5].values?.first?.values?.count == 5)
        await bench.end()
    }

    @Test("A client's own GID, or its first digits, name a download; no GID is given twice")
    func gids() async throws {
        let bench = try await RPCBench()
        let added = try await bench.call(
            "aria2.addUri", ["http://127.0.0.1:9/x"], ["pause": "true", "gid": "0123456789ABCDEF"])
        #expect(added.result == "0123456789abcdef")
        #expect(try await bench.status("0123")["gid"] == "0123456789abcdef")
        let again = try await bench.call(
            "aria2.addUri", ["http://127.0.0.1:9/y"], ["pause": "true", "gid": "0123456789abcdef"])
        #expect(again.error == "GID 0123456789abcdef is not unique.")
        #expect(
            try await bench.call("aria2.addUri", ["http://127.0.0.1:9/y"], ["gid": "12"]).error == "Invalid GID 12")
        for number in 0..<40 {
            _ = try await bench.call("aria2.addUri", [.string("http://127.0.0.1:9/\(number)")], ["pause": "true"])
        }
        let gids = try #require(
            try await bench.call("aria2.tellWaiting", .integer(0), .integer(100), ["gid"]).result?.values)
        let texts = gids.compactMap { $0.fields?["gid"]?.text }
        #expect(Set(texts).count == 41)
        let first = Dictionary(grouping: texts) { $0.prefix(1) }.first { $0.value.count > 1 }
        #expect(
            try await bench.call("aria2.tellStatus", .string(String(first?.key ?? "0"))).error?.hasSuffix("not unique")
                == true)
        let table = GIDTable(path: bench.folder("state/rpc-gids")) { _ in }
        #expect(table.id(of: try #require(GID("0123456789abcdef"))) == 1)
        await bench.end()
    }

    @Test("Numbers are converted to GIDs and back")
    func numbers() {
        for id in [1, 2, 3, 1000, 123_456_789, DownloadID(Int64.max)] {
            #expect(GID(id).id == id && GID(GID(id).description)?.id == id)
        }
        #expect(Set((1...1000).map { GID($0).description.prefix(8) }).count == 1000)
        for text in ["", "0", "0000000000000000", "0123456789abcdeg", "0123456789abcdef0", "+123456789abcdef"] {
            #expect(GID(text) == nil, "\(text)")
        }
    }

    @Test(
        "Parts of lists: a negative offset counts from the end and reverses the order",
        arguments: [
            (0, 3, [0, 1, 2]), (3, 10, [3, 4]), (5, 1, []), (-1, 2, [4, 3]), (-1, 1000, [4, 3, 2, 1, 0]), (-5, 3, [0]),
            (-6, 3, []),
            (0, 0, []), (0, -1, []), (.max, 1, []), (.min, 5, []), (0, .max, [0, 1, 2, 3, 4]),
            (-1, .max, [4, 3, 2, 1, 0]),
        ])
    func parts(offset: Int, number: Int, indices: [Int]) {
        #expect(ListPart.indices(count: 5, offset: max(offset, -1 << 53), number: number) == indices)
        #expect(ListPart.indices(count: 0, offset: max(offset, -1 << 53), number: number) == [])
    }

    @Test("A download can be moved to any place in the queue by its priority")
    func positions() {
        var generator = SplitMix64(seed: 7)
        for _ in 0..<500 {
            let count = Int.random(in: 1...6, using: &generator)
            let entries = (1...count).map {
                QueueOrder.Entry(id: DownloadID($0), priority: Int.random(in: -1...1, using: &generator))
            }.sorted { $0.precedes($1) }
            let (index, target) = (
                Int.random(in: 0..<count, using: &generator), Int.random(in: 0..<count, using: &generator)
            )
            let moves = QueueOrder.moves(entries, from: index, to: target)
            var wanted = entries.map(\.id)
            wanted.insert(wanted.remove(at: index), at: target)
            let changed = entries.map { entry in moves.first { $0.id == entry.id } ?? entry }.sorted { $0.precedes($1) }
            #expect(changed.map(\.id) == wanted, "\(entries) \(index) \(target) \(moves)")
        }
        #expect(QueueOrder.target(of: 2, in: 5, -1, .current) == 1 && QueueOrder.target(of: 2, in: 5, -1, .end) == 3)
        #expect(QueueOrder.target(of: 2, in: 5, 99, .start) == 4 && QueueOrder.target(of: 0, in: 1, -5, .end) == 0)
    }

    @Test("Pieces and their bit fields are computed from byte ranges")
    func pieces() {
        let grid = PieceGrid(total: (10 << 20) + 1)
        #expect(grid.count == 11 && grid.length == 1 << 20)
        #expect(grid.bitfield(ByteRanges([0..<grid.total])) == "ffe0")
        #expect(grid.bitfield(ByteRanges([0..<(1 << 20), (5 << 20)..<(7 << 20) - 1])) == "8400")
        #expect(grid.bitfield(ByteRanges([(10 << 20)..<grid.total])) == "0020")
        #expect(grid.bitfield(ByteRanges()) == "0000")
        #expect(PieceGrid(total: 1 << 40).count <= 8192 && PieceGrid(total: .max).count <= 8192)
        #expect(PieceGrid(total: 0).count == 0 && PieceGrid(total: 1).count == 1)
    }
}
