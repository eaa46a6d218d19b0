import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadRPC

/// The calls of AriaNg 1.3, as its services make them (aria2RpcService.js, aria2TaskService.js) and as they were
/// observed on the wire. Every call has a text as its id. Empty `params` are left out. The calls for lists name the
/// requested keys.
@Suite("What AriaNg sends, over HTTP and over a WebSocket", .inTurn, .timeLimit(.minutes(2)))
struct AriaNgTests {
    enum Way: CaseIterable, Sendable { case http, socket }

    private static let origin = "http://ariang.example:8080"
    private static let basic: JSONValue = [
        "gid", "totalLength", "completedLength", "uploadSpeed", "downloadSpeed", "connections", "numSeeders", "seeder",
        "status", "errorCode", "verifiedLength", "verifyIntegrityPending",
    ]
    private static let full = JSONValue.array((basic.values ?? []) + ["files", "bittorrent", "infoHash"])

    /// Plays AriaNg. Its page has another origin than the RPC server, and the user has named the page's origin in
    /// rpc-origins.
    private final class Page: Sendable {
        let bench: RPCBench
        private let socket: RawWebSocket?
        private let number = Observed(0)

        init(_ way: Way) async throws {
            bench = try await RPCBench { $0.origins = [AriaNgTests.origin] }
            socket = way == .socket ? try RawWebSocket(bench.port, fields: ["Origin: \(AriaNgTests.origin)"]) : nil
        }

        /// - Returns: the document, and the status if the call went over HTTP.
        func send(_ method: String, _ parameters: [JSONValue]) async throws -> (answer: JSONValue, status: Int?) {
            let id = number.update { number in
                number += 1
                return "AriaNg_\(number)_0123456789"
            }
            var call: [String: JSONValue] = ["jsonrpc": "2.0", "method": .string(method), "id": .string(id)]
            if !parameters.isEmpty { call["params"] = .array(parameters) }
            let text = String(decoding: JSONValue.object(call).data, as: UTF8.self)
            if let socket {
                socket.send(text)
                let message = try #require(await socket.message(with: #""id":"\#(id)""#))
                return (try #require(JSONValue(Data(message.utf8))), nil)
            }
            let fields = ["Origin: \(AriaNgTests.origin)", "Content-Type: application/json;charset=utf-8"]
            let asked = try await bench.ask(
                "OPTIONS", "/jsonrpc",
                fields: [
                    fields[0], "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type",
                ])
            #expect(
                asked.status == 204 && asked.text.contains("Access-Control-Allow-Origin: \(AriaNgTests.origin)\r\n"))
            let received = try await bench.ask("POST", "/jsonrpc", text, fields: fields)
            #expect(received.text.contains("Access-Control-Allow-Origin: \(AriaNgTests.origin)\r\n"))
            let answer = try #require(JSONValue(Data(received.body.utf8)), "\(received.text)")
            #expect(answer.fields?["id"] == .string(id))
            return (answer, received.status)
        }

        /// Calls a method with the secret. Methods of `system` are called without the secret.
        func call(_ method: String, _ parameters: JSONValue...) async throws -> JSONValue {
            let token: [JSONValue] = method.hasPrefix("system.") ? [] : [.string("token:\(bench.secret)")]
            let (answer, status) = try await send(method, token + parameters)
            #expect(status ?? 200 == 200, "\(method): \(answer)")
            return try #require(answer.fields?["result"], "\(method): \(answer)")
        }

        func inner(_ method: String, _ gid: JSONValue) -> JSONValue {
            ["methodName": .string(method), "params": [.string("token:\(bench.secret)"), gid]]
        }

        func gids(_ list: JSONValue) -> [JSONValue] { list.values?.compactMap { $0.fields?["gid"] } ?? [] }

        func isTold(_ event: String, _ gid: JSONValue) async -> Bool {
            guard let socket else { return true }
            return await socket.message(
                with: #""method":"aria2.onDownload\#(event)","params":[{"gid":"\#(gid.text ?? "")"}]"#)
                != nil
        }
    }

    @Test("AriaNg without the secret is refused in a way that it understands", arguments: Way.allCases)
    func refused(way: Way) async throws {
        let page = try await Page(way)
        let (answer, status) = try await page.send("aria2.getGlobalStat", [])
        #expect(answer.fields?["error"]?.fields?["message"] == "Unauthorized")
        // AriaNg treats every status below 400 as a success.
        #expect(status ?? 400 >= 400)
        await page.bench.end()
    }

    @Test("Lists, details, options, order, pause, retry and removal", arguments: Way.allCases)
    func life(way: Way) async throws {
        let page = try await Page(way)
        let content = Content(seed: 5, size: 3_000_000)
        let gate = Gate(after: 1_500_000)
        let server = try FaultServer { request in
            request.target.hasPrefix("/gone")
                ? FaultReply(status: 404) : FaultReply(content, etag: "\"a\"").with { $0.gate = gate }
        }
        #expect(try await page.call("aria2.getVersion").fields?["enabledFeatures"]?.values?.isEmpty == false)
        #expect(try await page.call("aria2.getGlobalStat").fields?["numActive"] == "0")
        let gid = try await page.call(
            "aria2.addUri", [.string(server.url())],
            [
                "split": "1", "header": "X-A: 1\nX-B: 2", "max-download-limit": "0",
                "dir": .string(page.bench.folder("downloads")),
            ])
        #expect(await page.isTold("Start", gid))
        _ = try await page.bench.waitForStatus(gid, "active")
        #expect(page.gids(try await page.call("aria2.tellActive", Self.full)) == [gid])
        #expect(page.gids(try await page.call("aria2.tellWaiting", .integer(0), .integer(1000), Self.basic)) == [])
        #expect(page.gids(try await page.call("aria2.tellStopped", .integer(-1), .integer(1000), Self.full)) == [])
        try await details(page, gid)
        #expect(try await page.call("aria2.changeOption", gid, ["max-download-limit": "10M"]) == "OK")
        #expect(try await page.call("aria2.getOption", gid).fields?["max-download-limit"] == "10485760")
        #expect(try await page.call("aria2.forcePause", gid) == gid)
        #expect(await page.isTold("Pause", gid))
        let held = try await page.call("aria2.addUri", [.string(server.url("/b"))], ["pause": "true"])
        #expect(try await page.call("aria2.changePosition", held, .integer(0), "POS_SET") == .integer(0))
        #expect(
            page.gids(try await page.call("aria2.tellWaiting", .integer(0), .integer(1000), Self.full)) == [held, gid])
        gate.open()
        #expect(try await page.call("aria2.unpause", gid) == gid)
        #expect(await page.isTold("Complete", gid))
        #expect(try await page.bench.waitForStatus(gid, "complete")["totalLength"] == "3000000")
        #expect(try await page.call("aria2.forceRemove", held) == held)
        try await retry(page, server)
        try await settings(page)
        await page.bench.end()
    }

    /// AriaNg's window of details requests all fields, and draws the pieces.
    private func details(_ page: Page, _ gid: JSONValue) async throws {
        let answers = try await page.call("system.multicall", [page.inner("aria2.tellStatus", gid)])
        let status = try #require(answers.values?.first?.values?.first?.fields)
        let pieces = Int(status["numPieces"]?.text ?? "") ?? 0
        #expect(pieces == 3 && status["bitfield"]?.text?.count == 2 && status["pieceLength"] == "1048576")
        let file = try #require(status["files"]?.values?.first?.fields)
        #expect(file["path"]?.text?.hasSuffix("/file.bin") == true && file["selected"] == "true")
        let options = try await page.call("aria2.getOption", gid)
        #expect(options.fields?["header"] == "X-A: 1\nX-B: 2")
    }

    /// AriaNg adds the failed download again with the options that getOption has returned, and removes the failed
    /// download from the list.
    private func retry(_ page: Page, _ server: FaultServer) async throws {
        let url = JSONValue.string(server.url("/gone/x"))
        let gid = try await page.call("aria2.addUri", [url], ["split": "2", "out": "again.bin"])
        #expect(await page.isTold("Error", gid))
        _ = try await page.bench.waitForStatus(gid, "error")
        let answers = try await page.call(
            "system.multicall", [page.inner("aria2.tellStatus", gid), page.inner("aria2.getOption", gid)])
        let status = try #require(answers.values?.first?.values?.first?.fields)
        let options = try #require(answers.values?.last?.values?.first)
        let uris = status["files"]?.values?.first?.fields?["uris"]?.values?.compactMap { $0.fields?["uri"] } ?? []
        #expect(status["errorCode"] == "3" && uris == [url] && options.fields?["out"] == "again.bin")
        let again = try await page.call("aria2.addUri", .array(uris), options)
        #expect(again != gid)
        #expect(try await page.call("aria2.removeDownloadResult", gid) == "OK")
        _ = try await page.bench.waitForStatus(again, "error")
        #expect(
            page.gids(try await page.call("aria2.tellStopped", .integer(-1), .integer(1000), Self.full)).contains(again)
        )
        #expect(try await page.call("aria2.purgeDownloadResult") == "OK")
        #expect(page.gids(try await page.call("aria2.tellStopped", .integer(-1), .integer(1000), Self.full)) == [])
    }

    /// Makes the calls of AriaNg's pages for the settings and for the state of the server.
    private func settings(_ page: Page) async throws {
        #expect(try await page.call("aria2.getGlobalOption").fields?["max-overall-download-limit"] == "0")
        #expect(try await page.call("aria2.changeGlobalOption", ["max-overall-download-limit": "1M"]) == "OK")
        #expect(try await page.call("aria2.changeGlobalOption", ["user-agent": "AriaNg"]) == "OK")
        #expect(try await page.call("aria2.getGlobalOption").fields?["max-overall-download-limit"] == "1048576")
        #expect(try await page.call("aria2.getSessionInfo").fields?["sessionId"]?.text?.count == 40)
        #expect(try await page.call("aria2.saveSession") == "OK")
        #expect(try await page.call("system.listMethods").values?.count == 36)
        #expect(try await page.call("aria2.getGlobalStat").fields?.count == 6)
    }
}
