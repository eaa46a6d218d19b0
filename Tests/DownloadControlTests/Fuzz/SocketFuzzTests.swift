import CurlTransport
import DownloadControl
import DownloadCore
import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

/// Both ends of the socket, against a peer that sends nonsense.
@Suite("Fuzzing: the control socket", .inTurn, .timeLimit(.minutes(10)))
struct SocketFuzzTests {
    private static func request(_ method: String, _ path: String, _ body: String = "") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: x\r\nDlm-Api: 1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static let requests = [
        request("GET", "/v1/session"), request("PATCH", "/v1/session", #"{"maxConcurrent":9,"rateLimit":1000}"#),
        request("POST", "/v1/downloads", WireFuzzTests.adds[0]),
        request("POST", "/v1/downloads", WireFuzzTests.adds[1]),
        request("GET", "/v1/downloads?all=true&limit=2&after=1"), request("POST", "/v1/downloads/1/pause"),
        request("PATCH", "/v1/downloads", #"{"ids":[1],"url":"http://h/new"}"#), request("GET", "/v1/events?since=0"),
        request("POST", "/v1/downloads/resume", #"{"ids":[1],"headers":[["A","b"]]}"#), request("GET", "/v1/progress"),
        request("GET", "/v1/session") + request("POST", "/v1/session/shutdown", #"{"mode":"finish"}"#),
        "POST /v1/downloads HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ]

    @Test("Any bytes from a client are answered or end the connection, and the next client is served")
    func server() async throws {
        let bench = try await ControlBench()
        let words = ["\r\n\r\n", "Content-Length: ", "Transfer-Encoding: chunked\r\n", "HTTP/1.0", "GET ", "/v1/"]
        var count = 0
        try await Fuzzing("Control requests", corpus: Self.requests, words: words).run(scale: 0.15) { input in
            let client = try bench.raw()
            client.send(input)
            client.endSending()
            guard await client.received.wait(atMost: .seconds(30), until: \.isClosed) else { return "not ended" }
            client.close()
            count += 1
            if count.isMultiple(of: 20), try await bench.ask("GET", "/v1/session").status != 200 { return "no service" }
            let possible = bench.service.state.update { state in
                defer { state.requests = [] }
                return state.requests.compactMap(WireFuzzTests.impossible).first
            }
            return possible
        }
        #expect(try await bench.ask("GET", "/v1/session").status == 200)
        await bench.end()
    }

    private static func answer(_ body: String, status: Int = 200) -> String {
        "HTTP/1.1 \(status) X\r\nDlm-Api: 1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("Whatever the peer on the socket answers, the client ends with an answer or an error")
    func client() async throws {
        let bench = try await ControlBench()
        _ = try await bench.service.add([.example()])
        // The corpus is real answers of a session, which the fuzzer changes.
        var corpus: [String] = []
        for path in ["/v1/downloads?all=true", "/v1/session", "/v1/progress"] {
            let client = try bench.raw()
            client.send("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            corpus.append(try await client.answer().text)
        }
        await bench.end()
        corpus += [
            Self.answer(
                #"{"version":1,"error":{"kind":"file","reason":"exists","message":"m","exitStatus":3}}"#, status: 409),
            Self.answer("{}"),
        ]
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder("sessions"), withIntermediateDirectories: true)
        let location = SessionLocation(stateFolder: folder.path, identifier: "background")
        let transport = try CurlTransport(environment: [:])
        let client = ControlClient(
            transport: transport, location: location, isAlive: { false }, readLog: { _ in AsyncThrowingStream { nil } })
        let server = try RawServer("", unixSocket: location.socketPath)
        try await Fuzzing("Control answers", corpus: corpus, words: ["\r\n", "Dlm-Api: 1\r\n"]).run(scale: 0.1) {
            input in
            server.reply = input
            _ = try? await client.status()
            _ = try? await client.snapshots(.all)
            return nil
        }
        server.stop()
        transport.shutdown()
    }
}
