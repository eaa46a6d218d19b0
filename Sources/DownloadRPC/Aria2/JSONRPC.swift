import DownloadCore
import Foundation

/// JSON-RPC 2.0 in aria2's form. The answer to a JSON document is a JSON document with an HTTP status.
struct JSONRPC: Sendable {
    let session: Aria2Session
    let gate: SecretGate

    struct Reply: Sendable {
        let status: Int
        let document: JSONValue
        /// Whether a call had the secret.
        let isAuthorized: Bool
    }

    static let mostCalls = 1000
    /// The number of downloads in the answers to one document after which further calls get an error. The answer that
    /// reaches this number is still complete, so the answers together may have more downloads.
    static let mostRows = 20_000

    /// The facts about the client that sent a document.
    private struct Visit {
        let client: String
        var isGranted = false
        var rows = 0
        /// The error after a wrong secret. Further secrets in the same document are not checked. Otherwise one document
        /// could try a thousand guesses for the delay of one.
        var failure: RPCError?
    }

    func answer(_ bytes: Data, from client: String) async -> Reply {
        guard let document = JSONValue(bytes) else { return reply(.parse) }
        var visit = Visit(client: client)
        switch document {
        case .object(let call):
            let (answer, error) = await answer(call, &visit)
            return Reply(status: error?.status ?? 200, document: answer, isAuthorized: visit.isGranted)
        case .array(let calls):
            guard calls.count <= Self.mostCalls else { return reply(.invalidRequest) }
            var answers: [JSONValue] = []
            for case .object(let call) in calls { answers.append(await answer(call, &visit).document) }
            return Reply(status: 200, document: .array(answers), isAuthorized: visit.isGranted)
        default: return reply(.parse)
        }
    }

    /// Calls a method for a client that speaks another protocol. Also returns whether a call had the secret.
    func call(
        _ name: String, _ parameters: [JSONValue], from client: String
    ) async -> (result: Result<JSONValue, RPCError>, isAuthorized: Bool) {
        var visit = Visit(client: client)
        do {
            return (.success(try await run(name, parameters, &visit, isNested: false)), visit.isGranted)
        } catch {
            return (.failure(RPCError(error)), visit.isGranted)
        }
    }

    private func reply(_ error: RPCError) -> Reply {
        Reply(status: error.status, document: Self.envelope(.null, error: error), isAuthorized: false)
    }

    private static func envelope(_ id: JSONValue, error: RPCError) -> JSONValue {
        ["id": id, "jsonrpc": "2.0", "error": error.object]
    }

    private func answer(
        _ call: [String: JSONValue], _ visit: inout Visit
    ) async -> (document: JSONValue, error: RPCError?) {
        var id = call["id"] ?? .null
        do {
            // The answer would have another id.
            if case .number(let number) = id, abs(number) >= 0x1p53 {
                id = .null
                throw RPCError("Invalid Request: the id has too many digits to be repeated", code: -32600)
            }
            guard call["id"] != nil, let method = call["method"]?.text else { throw RPCError.invalidRequest }
            let result = try await run(method, try Self.parameters(call), &visit, isNested: false)
            return (["id": id, "jsonrpc": "2.0", "result": result], nil)
        } catch {
            let error = RPCError(error)
            return (Self.envelope(id, error: error), error)
        }
    }

    private static func parameters(_ call: [String: JSONValue]) throws(RPCError) -> [JSONValue] {
        switch call["params"] {
        case nil: return []
        case .array(let values): return values
        default: throw .invalidParameters
        }
    }

    private func run(
        _ name: String, _ parameters: [JSONValue], _ visit: inout Visit, isNested: Bool
    ) async throws -> JSONValue {
        if name == Aria2Method.multicall {
            if isNested { throw RPCError("Recursive system.multicall forbidden.") }
            return try await multicall(parameters, &visit)
        }
        let method = Aria2Method.byName[name]
        let rest = Aria2Method.open.contains(name) ? parameters : try await authorized(parameters, &visit)
        guard let method, let run = method.run else { throw RPCError("No such method: \(name.prefix(100))") }
        guard visit.rows < Self.mostRows else {
            throw RPCError("The answer would be too long; send fewer calls at once")
        }
        if Aria2Method.reading.contains(name) {
            let result = try await run(session, Parameters(values: rest))
            visit.rows += result.values?.count ?? 0
            return result
        }
        await session.forgetLists()
        let result = try await run(session, Parameters(values: rest))
        await session.forgetLists()
        return result
    }

    /// Returns the parameters without the first, `token:SECRET`. Throws if the secret is missing or wrong.
    private func authorized(_ parameters: [JSONValue], _ visit: inout Visit) async throws(RPCError) -> [JSONValue] {
        if let failure = visit.failure { throw failure }
        let token = parameters.first?.text.flatMap { $0.hasPrefix("token:") ? String($0.dropFirst(6)) : nil }
        switch await gate.judge(token, from: visit.client) {
        case .granted:
            visit.isGranted = true
            return Array(parameters.dropFirst())
        case .refused: visit.failure = .unauthorized
        case .tooMany: visit.failure = .tooManyGuesses
        }
        throw visit.failure ?? .unauthorized
    }

    /// Answers `system.multicall`. The answer has an array with one element for each successful call, and an object for
    /// each failed call.
    private func multicall(_ parameters: [JSONValue], _ visit: inout Visit) async throws -> JSONValue {
        // AriaNg also sends its token before the list.
        let parameters = parameters.first?.text == nil ? parameters : Array(parameters.dropFirst())
        let calls = try Parameters(values: parameters).list(0)
        guard calls.count <= Self.mostCalls else { throw RPCError("More than \(Self.mostCalls) calls") }
        var answers: [JSONValue] = []
        for call in calls {
            do {
                guard let fields = call.fields else { throw RPCError("system.multicall expected struct.") }
                guard let name = fields["methodName"]?.text else { throw RPCError("Missing methodName.") }
                answers.append([try await run(name, try Self.parameters(fields), &visit, isNested: true)])
            } catch {
                answers.append(RPCError(error).object)
            }
        }
        return .array(answers)
    }
}
