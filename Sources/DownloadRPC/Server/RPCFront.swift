import DownloadControl
import DownloadCore
import Foundation
import NIOCore
import NIOHTTP1

/// The part of the server that answers all HTTP requests: for the page, aria2's RPC, dlm's own API and the metrics. It
/// checks `Host` and `Origin` before everything else in a request.
struct RPCFront: Sendable {
    let access: AccessRule
    let gate: SecretGate
    let rpc: JSONRPC
    let routes: Routes
    let metrics: Metrics
    let folders: FolderRule
    let preview: FilePreview

    func answer(_ request: ControlRequest) async -> ControlAnswer {
        var hosts = request.headers["host"]
        guard hosts.count == 1 else { return .refusal(400, "give one Host field (RFC 9112 section 3.2)") }
        // The authority of a target in absolute form takes the place of the field (RFC 9112 section 3.2.2).
        if let authority = request.authority { hosts = [authority] }
        guard access.answersTo(hosts) else {
            return .refusal(421, "this host name is not one of the server's; see rpc-hosts in config.yaml")
        }
        let origins = request.headers["origin"]
        guard access.permits(origins, host: hosts) else {
            return .refusal(403, "requests from this web page are not allowed; see rpc-origins in config.yaml")
        }
        var answer = request.method == "OPTIONS" ? preflight(origins) : await respond(request)
        answer.headers.add(name: "X-Content-Type-Options", value: "nosniff")
        if !answer.headers.contains(name: "Cache-Control") {
            answer.headers.add(name: "Cache-Control", value: "no-store")
        }
        answer.headers.add(name: "Cross-Origin-Resource-Policy", value: "same-origin")
        answer.headers.add(name: "Vary", value: "Origin")
        answer.compress(for: request)
        if let origin = origins.first { answer.headers.add(name: "Access-Control-Allow-Origin", value: origin) }
        return answer
    }

    /// Answers the CORS preflight, which a browser sends before a request from a page of another origin (Fetch
    /// standard).
    private func preflight(_ origins: [String]) -> ControlAnswer {
        var answer = ControlAnswer(status: 204, contentType: "text/plain", body: .whole(Data()))
        guard !origins.isEmpty else { return answer }
        answer.headers.add(name: "Access-Control-Allow-Methods", value: "GET, POST, PATCH")
        answer.headers.add(name: "Access-Control-Allow-Headers", value: "Authorization, Content-Type, Dlm-Api")
        answer.headers.add(name: "Access-Control-Allow-Private-Network", value: "true")
        answer.headers.add(name: "Access-Control-Max-Age", value: "600")
        return answer
    }

    private func respond(_ request: ControlRequest) async -> ControlAnswer {
        switch request.path.first {
        case "jsonrpc" where request.path.count == 1: return await callMethods(request)
        case "rpc" where request.path.count == 1:
            guard request.method == "POST" else { return .refusal(405, "call XML-RPC by POST") }
            let reply = await XMLRPC(rpc: rpc).answer(request.body, from: SecretGate.client(request.peer))
            var answer = ControlAnswer(status: reply.status, contentType: "text/xml", body: .whole(reply.document))
            answer.endsConnection = !reply.isAuthorized
            return answer
        case let first? where Routes.isVersion(first): return await withSecret(request) { await ownRoute(request) }
        case "metrics" where request.path.count == 1:
            return await withSecret(request, also: metrics.token) {
                request.method == "GET"
                    ? await metrics.answer(request.headers["accept"].joined(separator: ","))
                    : .refusal(405, "only GET")
            }
        default:
            guard ["GET", "HEAD"].contains(request.method), let file = PageFile.named(request.path) else {
                return .refusal(404, "there is no such page")
            }
            return file.answer
        }
    }

    /// Calls aria2's methods. Only POST is accepted, because a link or a picture on any page could send a GET.
    private func callMethods(_ request: ControlRequest) async -> ControlAnswer {
        let asksSocket = ["Sec-WebSocket-Key", "Sec-WebSocket-Version"].contains(where: request.headers.contains)
        if asksSocket, request.target == SocketUpgrade.path, request.method == "GET", !request.isOld {
            return refusedSocket(request)
        }
        guard request.method == "POST" else {
            return .refusal(405, "call aria2's RPC by POST, or over a WebSocket")
        }
        let reply = await rpc.answer(request.body, from: SecretGate.client(request.peer))
        var answer = ControlAnswer(
            status: reply.status, contentType: "application/json-rpc", body: .whole(reply.document.data))
        answer.endsConnection = !reply.isAuthorized
        return answer
    }

    /// Answers a client that asked for a WebSocket and did not get one.
    private func refusedSocket(_ request: ControlRequest) -> ControlAnswer {
        guard request.headers["sec-websocket-version"] == [SocketUpgrade.version] else {
            return .refusal(
                426, "this server speaks version 13 of WebSocket",
                fields: ["Sec-WebSocket-Version": SocketUpgrade.version])
        }
        guard SocketUpgrade.hasKey(request.headers) else {
            return .refusal(400, "give one Sec-WebSocket-Key: 16 bytes in base64 (RFC 6455 section 4.2.1)")
        }
        return .refusal(503, "too many WebSockets are open", fields: ["Retry-After": "10"])
    }

    /// Returns what `body` answers if the request has the secret. Otherwise the connection is closed after the answer:
    /// clients with an old secret that repeat their requests could take all connections.
    private func withSecret(
        _ request: ControlRequest, also other: String? = nil, _ body: () async -> ControlAnswer
    ) async -> ControlAnswer {
        let given = request.headers["authorization"].first.flatMap { field -> String? in
            let words = field.split(separator: " ", maxSplits: 1)
            return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
        }
        var refusal: ControlAnswer
        switch await gate.judge(given, from: SecretGate.client(request.peer), or: other) {
        case .granted: return await body()
        case .refused:
            refusal = .refusal(
                401, "give the secret as a bearer token; it is in the file rpc-secret of the state folder",
                fields: ["WWW-Authenticate": "Bearer"])
        case .tooMany:
            let seconds = "\(SecretGate.span.components.seconds)"
            refusal = .refusal(429, "too many wrong secrets; wait a minute", fields: ["Retry-After": seconds])
        }
        refusal.endsConnection = true
        return refusal
    }

    private func ownRoute(_ request: ControlRequest) async -> ControlAnswer {
        if request.path == ["v1", "folders"], request.method == "GET" { return folderList }
        if request.path == ["v1", "probe"], request.method == "POST" {
            return await answerPreview(request)
        }
        guard request.path == ["v1", "downloads"], request.method == "POST" else { return await routes.answer(request) }
        var request = request
        do { request.body = try MetalinkBody.expanded(request.body) ?? request.body } catch {
            return .refusal(400, RPCError(error).message)
        }
        return await routes.answer(request)
    }

    private func answerPreview(_ request: ControlRequest) async -> ControlAnswer {
        do {
            return ControlAnswer(body: .whole(try await preview.document(request.body).data))
        } catch is FilePreview.TooMany {
            return .refusal(503, "too many servers are being asked", fields: ["Retry-After": "10"])
        } catch {
            return .refusal(error is WireProblem ? 400 : 502, RPCError(error).message)
        }
    }

    /// The answer to `GET /v1/folders`: the permitted folders for downloads, and their free space in bytes.
    private var folderList: ControlAnswer {
        let folders = folders.roots.map { folder -> JSONValue in
            var room = statvfs()
            let isThere = statvfs(folder, &room) == 0
            let free = Int64(clamping: UInt64(room.f_bavail) &* UInt64(room.f_frsize))
            return ["path": .string(folder), "free": isThere ? .integer(free) : .null]
        }
        let document: JSONValue = ["version": .integer(1), "folders": .array(folders)]
        return ControlAnswer(body: .whole(document.data))
    }
}

extension ControlAnswer {
    static func refusal(_ status: Int, _ message: String, fields: HTTPHeaders = [:]) -> ControlAnswer {
        var answer = ControlAnswer(
            status: status, contentType: "text/plain; charset=utf-8", body: .whole(Data("\(message)\n".utf8)))
        answer.headers = fields
        return answer
    }
}
