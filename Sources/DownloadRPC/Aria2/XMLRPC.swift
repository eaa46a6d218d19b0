import DownloadCore
import Foundation

/// XML-RPC in aria2's form (xmlrpc.com/spec.md): the methods, parameters and results of JSON-RPC in another notation.
struct XMLRPC: Sendable {
    let rpc: JSONRPC

    func answer(
        _ bytes: Data, from client: String
    ) async -> (status: Int, document: Data, isAuthorized: Bool) {
        let call: (name: String, parameters: [JSONValue])
        do { call = try Self.call(bytes) } catch {
            return (400, Self.fault(RPCError("Not an XML-RPC call: \(error.message)")), false)
        }
        let (result, isAuthorized) = await rpc.call(call.name, call.parameters, from: client)
        switch result {
        case .success(var result):
            if call.name == Aria2Method.multicall { result = .array((result.values ?? []).map(Self.inner)) }
            let document = Self.document("<params><param>\(Self.text(of: result))</param></params>")
            return (200, document, isAuthorized)
        case .failure(let error):
            // As in aria2, the status tells nothing of a failed call, except that clients must wait.
            return (error == .tooManyGuesses ? error.status : 200, Self.fault(error), isAuthorized)
        }
    }

    private static func fault(_ error: RPCError) -> Data { document("<fault>\(text(of: inner(error.object)))</fault>") }

    /// Returns the result of one of several calls. An error, which is the only object here, gets the names of a fault.
    private static func inner(_ result: JSONValue) -> JSONValue {
        guard let error = result.fields else { return result }
        return ["faultCode": error["code"] ?? .null, "faultString": error["message"] ?? .null]
    }

    private static func document(_ content: String) -> Data {
        Data("<?xml version=\"1.0\"?>\n<methodResponse>\(content)</methodResponse>\n".utf8)
    }

    // MARK: Values to text

    private static func text(of value: JSONValue) -> String { "<value>\(content(of: value))</value>" }

    private static func content(of value: JSONValue) -> String {
        switch value {
        case .null: "<string></string>"
        case .bool(let truth): "<boolean>\(truth ? 1 : 0)</boolean>"
        case .integer(let number): Int32(exactly: number).map { "<i4>\($0)</i4>" } ?? "<i8>\(number)</i8>"
        case .number(let number): "<double>\(number)</double>"
        case .string(let text): "<string>\(escaped(text))</string>"
        case .array(let values): "<array><data>\(values.map(text(of:)).joined())</data></array>"
        case .object(let fields):
            "<struct>"
                + fields.sorted { $0.key < $1.key }
                .map { "<member><name>\(escaped($0.key))</name>\(text(of: $0.value))</member>" }.joined() + "</struct>"
        }
    }

    /// Escapes markup, and replaces characters that XML 1.0 does not have.
    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": result += "&lt;".unicodeScalars
            case ">": result += "&gt;".unicodeScalars
            case "&": result += "&amp;".unicodeScalars
            case "\t", "\n": result.append(scalar)
            case "\r": result += "&#13;".unicodeScalars
            case "\0"..<" ", "\u{FFFE}", "\u{FFFF}": result.append("\u{FFFD}")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    // MARK: Text to values

    private struct Node {
        let name: String
        var text = ""
        var children: [Node] = []
    }

    private static func call(_ bytes: Data) throws(RPCError) -> (String, [JSONValue]) {
        let root = try tree(bytes)
        guard root.name == "methodCall", let name = root.children.first, name.name == "methodName" else {
            throw RPCError("it begins with no <methodName> in a <methodCall>")
        }
        let parameters = root.children.dropFirst().flatMap(\.children)
        return (trimmed(name), try values(parameters.flatMap(\.children)))
    }

    private static func tree(_ bytes: Data) throws(RPCError) -> Node {
        var open = [Node(name: "")]
        var parts = 0
        do throws(XMLReader.Failure) {
            var reader = try XMLReader(Array(bytes))
            while let token = try reader.next() {
                parts += 1
                if parts > JSONValue.mostParts { break }
                switch token {
                case .start(let name, _): open.append(Node(name: name))
                case .text(let text): open[open.count - 1].text += text
                case .end:
                    let done = open.removeLast()
                    open[open.count - 1].children.append(done)
                }
            }
        } catch {
            throw RPCError(error.message)
        }
        guard parts <= JSONValue.mostParts, let root = open[0].children.first else {
            throw RPCError("it has too many elements")
        }
        return root
    }

    private static func values(_ nodes: [Node]) throws(RPCError) -> [JSONValue] {
        var values: [JSONValue] = []
        // aria2 ignores a <nil/>, which XML-RPC does not have.
        for node in nodes where node.children.first?.name != "nil" { values.append(try value(node)) }
        return values
    }

    private static func value(_ node: Node) throws(RPCError) -> JSONValue {
        guard node.name == "value" else { throw RPCError("<\(node.name.prefix(40))> instead of <value>") }
        guard let typed = node.children.first else { return .string(node.text) }
        switch typed.name {
        case "string": return .string(typed.text)
        case "int", "i4", "i8":
            if let number = Int64(trimmed(typed)) { return .integer(number) }
        case "boolean":
            if let truth = ["0": false, "1": true][trimmed(typed)] { return .bool(truth) }
        case "double":
            if let number = Double(trimmed(typed)) { return .number(number) }
        // The methods take Base64 as text, as in JSON.
        case "base64": return .string(typed.text.filter { !$0.isWhitespace })
        case "array": return .array(try values(typed.children.flatMap(\.children)))
        case "struct":
            var fields: [String: JSONValue] = [:]
            for member in typed.children {
                guard member.children.count == 2, member.children[0].name == "name" else {
                    throw RPCError("a <member> without a name and a value")
                }
                fields[member.children[0].text] = try values([member.children[1]]).first
            }
            return .object(fields)
        default: break
        }
        throw RPCError("a <\(typed.name.prefix(40))> that cannot be read")
    }

    private static func trimmed(_ node: Node) -> String {
        node.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
