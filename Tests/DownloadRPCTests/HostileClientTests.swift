import DownloadControl
import DownloadEngine
import DownloadTestSupport
import Foundation
import NIOCore
import Testing

@testable import DownloadCore
@testable import DownloadRPC

@Suite("Attacks on the RPC server: numbers, floods and guesses", .inTurn, .timeLimit(.minutes(2)))
struct HostileClientTests {
    private static let unread = "http://127.0.0.1:9/x"

    @Test("A call with the lowest or highest integer does not end the process", arguments: [Int64.min, .min + 1, .max])
    func numbers(number: Int64) async throws {
        let bench = try await RPCBench()
        let gid = try #require(try await bench.call("aria2.addUri", [.string(Self.unread)], ["pause": "true"]).result)
        for method in ["aria2.tellWaiting", "aria2.tellStopped"] {
            #expect(try await bench.call(method, .integer(number), .integer(number)).status == 400)
        }
        for origin: JSONValue in ["POS_SET", "POS_CUR", "POS_END"] {
            #expect(try await bench.call("aria2.changePosition", gid, .integer(number), origin).status == 400)
        }
        #expect(try await bench.call("aria2.changeUri", gid, .integer(number), [], []).status == 400)
        await bench.end()
    }

    @Test("A download can be moved next to one with the lowest or the highest priority", arguments: [Int.min, .max])
    func priorities(priority: Int) async throws {
        let bench = try await RPCBench()
        var gids: [JSONValue] = []
        for number in 0..<3 {
            let url = JSONValue.string("\(Self.unread)\(number)")
            gids.append(try #require(try await bench.call("aria2.addUri", [url], ["pause": "true"]).result))
            let id = try #require(try await bench.manager.snapshots(.all).last?.id)
            let answer = try await bench.ask(
                "PATCH", "/v1/downloads/\(id)", #"{"priority":\#(priority)}"#, fields: [bench.bearer])
            #expect(answer.status == 200, "\(answer.text)")
        }
        for gid in gids {
            for place in 0...2 {
                #expect(
                    try await bench.call("aria2.changePosition", gid, .integer(Int64(place)), "POS_SET").status == 200)
            }
        }
        await bench.end()
    }

    @Test("The pieces of a file with the largest possible size are computed")
    func largestFile() {
        let grid = PieceGrid(total: .max)
        #expect(grid.bitfield(ByteRanges([(.max - 10)..<(.max)])).count == Int(grid.count + 7) / 8 * 2)
        #expect(grid.bitfield(ByteRanges([0..<(.max)])).hasPrefix("ffff"))
    }

    @Test("Metrics can be infinite or very large")
    func largeMetrics() {
        var text = MetricsText(isOpen: true)
        text.gauge("a", "A.", by: nil, [("", .infinity), ("", 1e300), ("", 5), ("", 0.5)])
        #expect(text.end().contains("a inf\na 1e+300\na 5\na 0.5\n"))
    }

    @Test("Wrong secrets from one IPv6 network are counted together, however its addresses are written")
    func clients() throws {
        func client(_ address: String) throws -> String {
            SecretGate.client(try SocketAddress(ipAddress: address, port: 1))
        }
        #expect(try client("2001:db8::1") == client("2001:db8::ffff:1:2:3"))
        #expect(try client("2001:db8:0:0:1::") == client("2001:db8::2"))
        #expect(try client("2001:db8:0:1::1") != client("2001:db8::1"))
        #expect(try client("::ffff:192.0.2.1") == client("192.0.2.1"))
        #expect(try client("192.0.2.1") != client("192.0.2.2"))
    }

    @Test("After twenty wrong secrets the token for metrics is not compared either")
    func metricsGuesses() async throws {
        let bench = try await RPCBench()
        let token = try #require(RPCSecret(text: bench.secret).metricsToken)
        for number in 0..<SecretGate.wrongOnes {
            _ = try await bench.ask("GET", "/metrics", fields: ["Authorization: Bearer wrong\(number)"])
        }
        #expect(try await bench.ask("GET", "/metrics", fields: ["Authorization: Bearer \(token)"]).status == 429)
        bench.time.advance(by: SecretGate.span)
        #expect(try await bench.ask("GET", "/metrics", fields: ["Authorization: Bearer \(token)"]).status == 200)
        await bench.end()
    }

    @Test("A client that sends pings and reads no answer is cut off, before it fills the memory")
    func pings() async throws {
        let bench = try await RPCBench()
        let socket = try RawWebSocket(bench.port, reads: false)
        let flood = String(repeating: "p", count: 120)
        let isCut = await Task.detached {
            // The kernel buffers some megabytes on the way.
            for _ in 0..<400_000 where !socket.sends(flood, opcode: 9) { return true }
            return false
        }.value
        #expect(isCut)
        #expect(try await bench.call("aria2.getVersion").status == 200)
        await bench.end()
    }

    @Test("If notifications come while a long answer is on its way, no connection ends")
    func noticesDuringAnswer() async throws {
        let bench = try await RPCBench()
        let server = try FaultServer.serving(Content(seed: 1, size: 10))
        let header = JSONValue.string("X-Long: " + String(repeating: "h", count: 4000))
        let urls = (0..<1500).map { "\(Self.unread)\($0)/" + String(repeating: "u", count: 4000) }
        let requests = try urls.map {
            var request = DownloadRequest(
                url: try SourceURL.parse($0).get().url, destination: Destination(folder: bench.folder("downloads")))
            request.startsPaused = true
            return request
        }
        _ = try await bench.manager.add(requests)
        let socket = try RawWebSocket(bench.port, reads: false)
        try socket.client.setBuffer(128 << 10)
        let listener = try RawWebSocket(bench.port)
        socket.send(#"{"id":5,"method":"aria2.tellWaiting","params":["token:\#(bench.secret)",0,1500]}"#)
        #expect(await socket.client.hasUnread(64 << 10, atMost: .seconds(120)))
        // These downloads cause notifications while megabytes of the answer wait for the client. The listener shows that
        // the server has sent them.
        for number in 0..<3 {
            let gid = try #require(
                try await bench.call(
                    "aria2.addUri", [.string(server.url())], ["out": .string("\(number)"), "header": header]
                ).result?.text)
            #expect(await listener.message(with: "aria2.onDownloadComplete", gid) != nil)
        }
        socket.client.startReading()
        #expect(await socket.message(with: #""id":5"#) != nil)
        #expect(await socket.message(with: "aria2.onDownloadComplete") != nil)
        await bench.end()
    }

    /// Returns a WebSocket that has shown the secret in time. On a busy machine, the first attempts may be too slow.
    private func authorized(_ bench: RPCBench) async throws -> RawWebSocket? {
        for _ in 0..<20 {
            let socket = try RawWebSocket(bench.port, fields: ["Origin: moz-extension://a"])
            socket.send(#"{"id":1,"method":"aria2.getVersion","params":["token:\#(bench.secret)"]}"#)
            let isAnswered: @Sendable (RawClient.Received) -> Bool = { $0.text.contains(#""id":1"#) }
            _ = await socket.client.received.wait { isAnswered($0) || $0.isClosed }
            if isAnswered(socket.client.received.value) { return socket }
        }
        return nil
    }

    @Test("A WebSocket that does not show the secret in time is closed, unless a program on this machine opened it")
    func silentSockets() async throws {
        var limits = RPCServer.limits
        limits.request = .milliseconds(300)
        let bench = try await RPCBench(limits: limits)
        let listener = try RawWebSocket(bench.port)
        let known = try #require(try await authorized(bench))
        let stranger = try RawWebSocket(bench.port, fields: ["Origin: moz-extension://b"])
        let proxied = try RawWebSocket(bench.port, fields: ["X-Forwarded-For: 192.0.2.1"])
        for socket in [stranger, proxied] { #expect(await socket.isClosed()) }
        known.send(#"{"id":2,"method":"aria2.getVersion","params":["token:\#(bench.secret)"]}"#)
        #expect(await known.message(with: #""id":2"#) != nil)
        listener.send("still there", opcode: 9)
        #expect(await listener.message(with: "still there") != nil)
        await bench.end()
    }

    @Test("If one document requests a long list many times, requests beyond a number of rows are refused")
    func longAnswers() async throws {
        let bench = try await RPCBench()
        let requests = try (0..<500).map {
            var request = DownloadRequest(
                url: try SourceURL.parse("\(Self.unread)\($0)").get().url,
                destination: Destination(folder: bench.folder("downloads")))
            request.startsPaused = true
            return request
        }
        _ = try await bench.manager.add(requests)
        let call = #"{"methodName":"aria2.tellWaiting","params":["token:\#(bench.secret)",0,1000,["gid"]]}"#
        let calls = Array(repeating: call, count: 100).joined(separator: ",")
        let answer = try await bench.post(#"{"id":1,"method":"system.multicall","params":[[\#(calls)]]}"#)
        let answers = try #require(answer.result?.values)
        #expect(answers.count == 100)
        #expect(answers.count { $0.values != nil } == JSONRPC.mostRows / 500)
        #expect(answers.last?.fields?["message"]?.text?.contains("too long") == true)
        await bench.end()
    }

    @Test("The options of a download are kept for getOption only if they are not too long")
    func longOptions() async throws {
        let bench = try await RPCBench()
        let long = JSONValue.string("X: " + String(repeating: "h", count: 20_000))
        let gid = try #require(
            try await bench.call(
                "aria2.addUri", [.string(Self.unread)], ["pause": "true", "header": long, "nope": "x"]
            )
            .result)
        let options = try #require(try await bench.call("aria2.getOption", gid).result?.fields)
        #expect(options["nope"] == nil && options["dir"] != nil)
        // The options are too long to keep, so getOption makes them from the record, which has the header field.
        #expect(options["split"] != nil && options["header"]?.text?.contains("hhh") == true)
        await bench.end()
    }
}
