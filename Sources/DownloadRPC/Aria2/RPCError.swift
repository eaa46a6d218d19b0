import DownloadControl
import DownloadCore

/// An error in the answer of JSON-RPC. As in aria2, every error of a method has the code 1.
struct RPCError: Error, Sendable, Equatable {
    let code: Int64
    let message: String
    /// The status of the HTTP answer. It is not used if the call is one of several in a list.
    let status: Int

    init(_ message: String, code: Int64 = 1, status: Int = 400) {
        self.code = code
        self.message = message
        self.status = status
    }

    static let parse = RPCError("Parse error.", code: -32700, status: 500)
    static let invalidRequest = RPCError("Invalid Request.", code: -32600)
    static let invalidParameters = RPCError("Invalid params.", code: -32602, status: 500)
    static let unauthorized = RPCError("Unauthorized")
    static let tooManyGuesses = RPCError("Too many wrong secrets; wait a minute", status: 429)

    init(_ error: any Error) {
        switch error {
        case let error as RPCError: self = error
        case let problem as WireProblem: self.init(Self.words(problem.error))
        case let error as DownloadError: self.init(Self.words(error))
        default: self.init("\(error)")
        }
    }

    private static func words(_ error: DownloadError) -> String {
        if case .sessionUnavailable(.badExchange(_, let message)) = error { return message }
        return error.description
    }

    var object: JSONValue { ["code": .integer(code), "message": .string(message)] }
}
