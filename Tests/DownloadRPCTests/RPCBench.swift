import CurlTransport
import DownloadControl
import DownloadStorage
import DownloadSystem
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine
@testable import DownloadRPC

/// An RPC server at a port of its own, with a whole session on libcurl behind it.
struct RPCBench {
    let folder: TemporaryFolder
    let manager: SessionManager
    let server: RPCServer
    let secret: String
    let port: Int
    let time = HurriedTime()

    static let own = "http://127.0.0.1"

    init(
        limits: ControlLimits = RPCServer.limits, environment: [String: String] = [:],
        _ change: (inout RPCConfiguration) -> Void = { _ in }
    ) async throws {
        folder = try TemporaryFolder()
        for name in ["downloads", "state", "other"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        var parts = SessionParts(
            store: SQLiteDownloadStore.inMemory(), identifier: "background", version: "0.0",
            resources: SessionResources(start: { try CurlTransport(environment: environment) }, end: {}))
        parts.watchesWriters = false
        manager = SessionManager(parts: parts, maxConcurrent: 4, maxPerHost: 4)
        var configuration = RPCConfiguration(folders: [folder("downloads")], stateFolder: folder("state"))
        configuration.port = 0
        change(&configuration)
        server = try await RPCServer.start(
            manager, configuration, identifier: "background", limits: limits, time: time
        ) { request in
            let transport = try CurlTransport(environment: environment)
            defer { transport.shutdown() }
            return await ProbedRequest(probing: request, over: transport, userAgent: "dlm/0.0", time: SystemTime())
        }
        secret = try RPCSecret.load(from: folder("state")).text
        port = try #require(Int(server.address.split(separator: ":").last ?? ""))
    }

    func end() async {
        await server.stop()
        await manager.close()
    }

    // MARK: HTTP

    /// Sends one request, and returns everything that arrived until the server closed the connection.
    func ask(
        _ method: String, _ path: String, _ body: String = "", host: String? = nil, fields: [String] = []
    ) async throws -> RawClient.Received {
        let client = try RawClient(port: port)
        defer { client.close() }
        let head = [
            "\(method) \(path) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")", "Connection: close",
            "Content-Length: \(body.utf8.count)",
        ]
        client.send((head + fields).joined(separator: "\r\n") + "\r\n\r\n" + body)
        return try await client.answer()
    }

    var bearer: String { "Authorization: Bearer \(secret)" }

    // MARK: JSON-RPC

    struct Answer {
        let status: Int
        let document: JSONValue

        var result: JSONValue? { document.fields?["result"] }
        var error: String? { document.fields?["error"]?.fields?["message"]?.text }
    }

    func post(_ document: String, fields: [String] = []) async throws -> Answer {
        let received = try await ask("POST", "/jsonrpc", document, fields: fields)
        return Answer(
            status: received.status, document: try #require(JSONValue(Data(received.body.utf8)), "\(received.text)"))
    }

    /// Calls a method with the secret as its first parameter.
    func call(_ method: String, _ parameters: JSONValue...) async throws -> Answer {
        let call: JSONValue = [
            "jsonrpc": "2.0", "id": "x", "method": .string(method),
            "params": .array([.string("token:\(secret)")] + parameters),
        ]
        return try await post(String(decoding: call.data, as: UTF8.self))
    }

    func status(_ gid: JSONValue) async throws -> [String: JSONValue] {
        try #require(try await call("aria2.tellStatus", gid).result?.fields)
    }

    /// Requests the status until it is one of `states`, and returns its fields.
    func waitForStatus(_ gid: JSONValue, _ states: String...) async throws -> [String: JSONValue] {
        for await _ in ticks {
            let status = try await status(gid)
            if let state = status["status"]?.text, states.contains(state) { return status }
        }
        throw SystemError("the download does not become \(states)", code: ETIMEDOUT)
    }

    /// At most 1500 ticks, one every 20 ms: half a minute.
    var ticks: AsyncStream<Int> {
        let number = Observed(0)
        return AsyncStream {
            let next = number.update { number in
                number += 1
                return number
            }
            // The number does not change during this call, so the call returns after 20 ms.
            _ = await number.wait(atMost: .milliseconds(20)) { $0 > next }
            return next < 1500 ? next : nil
        }
    }

    var isEmpty: Bool { get async throws { try await manager.snapshots(.all).isEmpty } }
}
