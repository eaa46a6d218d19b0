import DownloadControl
import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadRPC

@Suite("aria2's RPC over a WebSocket, and clients that misbehave", .inTurn, .timeLimit(.minutes(2)))
struct SocketTests {
    private func addition(_ bench: RPCBench, _ options: String = #"{"pause":"true"}"#) -> String {
        #"{"id":0,"method":"aria2.addUri","params":["token:\#(bench.secret)",["http://127.0.0.1:9/x"],\#(options)]}"#
    }

    @Test("Calls are answered, and permitted WebSockets get events that name only the GID")
    func notifications() async throws {
        let bench = try await RPCBench()
        let server = try FaultServer.serving(Content(seed: 1, size: 10))
        let listener = try RawWebSocket(bench.port)
        let named = try RawWebSocket(bench.port, fields: ["Origin: http://127.0.0.1:\(bench.port)"])
        #expect(await named.status() == 101)
        #expect(await listener.status() == 101)
        let page = try RawWebSocket(bench.port, fields: ["Origin: moz-extension://x"])
        page.send(#"{"id":0,"method":"aria2.getVersion","params":["token:\#(bench.secret)"]}"#)
        #expect(await page.message(with: #""id":0"#)?.contains("1.37.0") == true)
        let stranger = try RawWebSocket(bench.port, fields: ["Origin: moz-extension://y"])
        #expect(await stranger.status() == 101)
        // Events are read only after a WebSocket has begun to listen. Therefore downloads are added until one event
        // arrives.
        var gid: JSONValue?
        for await number in bench.ticks {
            gid = try await bench.call(
                "aria2.addUri", [.string(server.url())], ["out": .string("\(number).bin")]
            ).result
            let text = try #require(gid?.text)
            let isTold: @Sendable (RawClient.Received) -> Bool = { $0.text.contains(text) }
            if await listener.client.received.wait(atMost: .milliseconds(500), until: isTold) { break }
        }
        let text = try #require(gid?.text)
        for socket in [listener, named, page] {
            for event in ["Start", "Complete"] {
                let message = #"{"jsonrpc":"2.0","method":"aria2.onDownload\#(event)","params":[{"gid":"\#(text)"}]}"#
                #expect(await socket.message(with: message) == message)
            }
        }
        #expect(RawWebSocket.messages(stranger.client.received.value).isEmpty)
        await bench.end()
    }

    @Test("Pings, fragments and the end of a connection follow RFC 6455")
    func frames() async throws {
        let bench = try await RPCBench()
        let socket = try RawWebSocket(bench.port)
        socket.send("hello", opcode: 9)
        #expect(await socket.message(with: "hello") == "hello")
        socket.send(#"{"id":7,"method":"#, isLast: false)
        socket.send(#""system.listMethods"}"#, opcode: 0)
        #expect(await socket.message(with: #""id":7"#) != nil)
        socket.send(addition(bench), opcode: 2)
        #expect(await socket.message(with: #""id":0"#) != nil)
        socket.send("", opcode: 8)
        #expect(await socket.isClosed())
        await bench.end()
    }

    @Test("A frame that is too large, endless fragments or invalid frames end the connection")
    func badFrames() async throws {
        let bench = try await RPCBench()
        let large = try RawWebSocket(bench.port)
        #expect(await large.status() == 101)
        large.send("", length: SocketUpgrade.longestMessage + 1)
        #expect(await large.isClosed())
        let many = try RawWebSocket(bench.port)
        #expect(await many.status() == 101)
        many.send("x", isLast: false)
        for _ in 0..<200 { many.send("x", opcode: 0, isLast: false) }
        #expect(await many.isClosed())
        let noise = try RawWebSocket(bench.port)
        #expect(await noise.status() == 101)
        noise.client.send([UInt8](repeating: 0xFF, count: 20))
        #expect(await noise.isClosed())
        for first in [0x81, 0x01, 0x89] as [UInt8] {
            let unmasked = try RawWebSocket(bench.port)
            #expect(await unmasked.status() == 101)
            unmasked.client.send([first, 2] + Array("{}".utf8))
            #expect(await unmasked.isClosed())
            #expect(RawWebSocket.messages(unmasked.client.received.value).isEmpty)
        }
        let half = try RawWebSocket(bench.port)
        #expect(await half.status() == 101)
        half.send("", length: 1000)
        #expect(try await bench.call("aria2.getVersion").status == 200)
        await bench.end()
    }

    @Test("A WebSocket over the limit closes the oldest one without the secret, and gets 503 if all have shown it")
    func manySockets() async throws {
        let bench = try await RPCBench()
        let call = #"{"id":7,"method":"aria2.getVersion","params":["token:\#(bench.secret)"]}"#
        var sockets: [RawWebSocket] = []
        for _ in 0...SocketHub.most {
            let socket = try RawWebSocket(bench.port)
            #expect(await socket.status() == 101)
            sockets.append(socket)
        }
        #expect(await sockets.removeFirst().isClosed())
        for socket in sockets {
            socket.send(call)
            #expect(await socket.message(with: #""id":7"#) != nil)
        }
        let more = try RawWebSocket(bench.port)
        #expect(await more.status() == 503)
        #expect(try await bench.call("aria2.getVersion").status == 200)
        await bench.end()
        for socket in sockets { #expect(await socket.isClosed()) }
    }

    @Test("A large head or body is refused, and half a request times out")
    func sizes() async throws {
        var limits = RPCServer.limits
        limits.linger = .milliseconds(50)
        let bench = try await RPCBench(limits: limits)
        #expect(
            try await bench.ask("GET", "/", fields: ["X: " + String(repeating: "a", count: 20 << 10)]).status == 431)
        let client = try RawClient(port: bench.port)
        client.send("POST /jsonrpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \((2 << 20) + 1)\r\n\r\n")
        #expect(try await client.answer().status == 413)
        await bench.end()
        limits.request = .milliseconds(300)
        let hurried = try await RPCBench(limits: limits)
        for half in [
            "POST /jsonrpc HTTP/1.1\r\nHost: 127.0.0.1\r\n",
            "POST /jsonrpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
        ] {
            let slow = try RawClient(port: hurried.port)
            slow.send(half)
            #expect(try await slow.answer().status == 408)
        }
        await hurried.end()
    }

    @Test("Hundreds of connections without a request leave room for one with a request")
    func manyConnections() async throws {
        let bench = try await RPCBench()
        let silent = try (0..<300).map { _ in try RawClient(port: bench.port, reads: false) }
        #expect(try await bench.call("aria2.getVersion").status == 200)
        for client in silent { client.close() }
        await bench.end()
    }

    @Test("A WebSocket of a stranger makes room before that of a program on this machine")
    func strangersFirst() async throws {
        let bench = try await RPCBench()
        let own = try RawWebSocket(bench.port)
        #expect(await own.status() == 101)
        var strangers: [RawWebSocket] = []
        for _ in 0..<SocketHub.most {
            let stranger = try RawWebSocket(bench.port, fields: ["Origin: moz-extension://b"])
            #expect(await stranger.status() == 101)
            strangers.append(stranger)
        }
        #expect(await strangers[0].isClosed())
        own.send("still there", opcode: 9)
        #expect(await own.message(with: "still there") != nil)
        await bench.end()
    }

    @Test("A connection without the right secret is closed after its answer, and leaves room for another client")
    func staleClients() async throws {
        let bench = try await RPCBench()
        func call(_ secret: String, _ method: String = "aria2.getVersion") -> String {
            let body = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":["token:\#(secret)"]}"#
            return "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        let requests = [
            call("stale"), "GET /v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx",
        ]
        for request in requests {
            let client = try RawClient(port: bench.port)
            client.send(request)
            #expect(try await client.answer().text.contains("Connection: close"))
        }
        let stale = try (0..<80).map { _ in try RawClient(port: bench.port) }
        for client in stale { client.send(call("stale")) }
        let good = try RawClient(port: bench.port)
        for count in 1...2 {
            good.send(call(bench.secret))
            let isAnswered = await good.received.wait { $0.text.components(separatedBy: "\"result\"").count > count }
            #expect(isAnswered)
        }
        good.close()
        await bench.end()
    }

    @Test("Clients that send half a request, and wait, leave room for one with a request")
    func manyHalves() async throws {
        var limits = RPCServer.limits
        // Longer than the limit of this test, so that no half request makes room by timing out.
        limits.request = .seconds(600)
        let bench = try await RPCBench(limits: limits)
        let halves = try (0..<100).map { _ in try RawClient(port: bench.port, reads: false) }
        for client in halves { client.send("POST /jsonrpc HTTP/1.1\r\nHost: 127.0.0.1\r\n") }
        #expect(try await bench.call("aria2.getVersion").status == 200)
        for client in halves { client.close() }
        await bench.end()
    }

    @Test("A handshake without one key of 16 bytes is answered with status 400")
    func keys() async throws {
        let bench = try await RPCBench()
        let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
        for keys in [[], [key, key], ["Sec-WebSocket-Key: !!!"], ["Sec-WebSocket-Key: c2hvcnQ="]] {
            let answer = try await bench.ask(
                "GET", "/jsonrpc",
                fields: ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"] + keys)
            #expect(answer.status == 400 && answer.text.contains("Sec-WebSocket-Key"), "\(keys) \(answer.text)")
        }
        await bench.end()
    }

    @Test("HTTP/1.0 and POST cannot ask for a WebSocket", arguments: [("GET", "1.0", 405), ("POST", "1.1", 500)])
    func plainRequests(method: String, version: String, status: Int) async throws {
        let bench = try await RPCBench()
        let client = try RawClient(port: bench.port)
        let head = [
            "\(method) /jsonrpc HTTP/\(version)", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade, close",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", "Content-Length: 0",
        ]
        client.send(head.joined(separator: "\r\n") + "\r\n\r\n")
        #expect(try await client.answer().status == status)
        await bench.end()
    }

    @Test("An answer to HTTP/1.0 is not chunked, and ends with the connection")
    func oldVersion() async throws {
        let bench = try await RPCBench()
        for connection in ["close", "keep-alive"] {
            let client = try RawClient(port: bench.port)
            client.send(
                "GET / HTTP/1.0\r\nHost: localhost\r\nConnection: \(connection)\r\nAccept-Encoding: gzip\r\n\r\n")
            let answer = try await client.answer()
            #expect(answer.status == 200 && !answer.text.lowercased().contains("transfer-encoding"), "\(connection)")
            let end = try #require(answer.bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound)
            // The body begins with the mark of gzip, not with the size of a chunk.
            #expect(answer.bytes[end...].prefix(2) == [0x1F, 0x8B])
        }
        await bench.end()
    }

    @Test("A client that speaks another version of WebSocket learns which version to use")
    func version() async throws {
        let bench = try await RPCBench()
        let answer = try await bench.ask(
            "GET", "/jsonrpc",
            fields: [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Version: 12",
            ])
        #expect(answer.status == 426 && answer.text.contains("Sec-WebSocket-Version: 13"), "\(answer.text)")
        await bench.end()
    }

    @Test("Documents that are deep or have very many parts are refused before they are read")
    func bombs() async throws {
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        #expect(JSONValue(Data(deep.utf8)) == nil)
        #expect(JSONValue(Data(("[" + String(repeating: "1,", count: 200_000) + "1]").utf8)) == nil)
        #expect(JSONValue(Data(#"["[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[","\"[{"]"#.utf8)) != nil)
        #expect(JSONValue(Data("[1e308]".utf8)) == [.number(1e308)])
        #expect(JSONValue(Data("[1e999]".utf8)) == nil)
    }

    @Test("A taken port is an error of one line; the address of a server is nil after its end")
    func taken() async throws {
        let bench = try await RPCBench()
        #expect(RPCServer.runningAddress(in: bench.folder("other")) == nil)
        var configuration = RPCConfiguration(folders: ["/tmp"], stateFolder: bench.folder("state"))
        configuration.port = bench.port
        let taken = configuration
        let error = await #expect(throws: DownloadError.self) {
            _ = try await RPCServer.start(
                bench.manager, taken, identifier: "x", time: bench.time, probe: { _ in ProbedRequest() },
                report: { _ in })
        }
        let text = try #require(error?.description)
        #expect(
            !text.contains("\n") && text.contains("127.0.0.1, port \(bench.port): Address already in use"), "\(text)")
        #expect(RPCServer.runningAddress(in: bench.folder("state")) == bench.server.address)
        await bench.end()
        #expect(RPCServer.runningAddress(in: bench.folder("state")) == nil)
    }

    @Test("The port is free again at once, even if connections of the last server still linger")
    func again() async throws {
        let bench = try await RPCBench()
        let socket = try RawWebSocket(bench.port)
        #expect(await socket.status() == 101)
        await bench.server.stop()
        var configuration = RPCConfiguration(folders: ["/tmp"], stateFolder: bench.folder("state"))
        configuration.port = bench.port
        let server = try await RPCServer.start(
            bench.manager, configuration, identifier: "x", time: bench.time, probe: { _ in ProbedRequest() },
            report: { _ in })
        #expect(server.address == bench.server.address)
        await server.stop()
        await bench.end()
    }
}
