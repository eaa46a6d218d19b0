import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadControl

/// Invalid documents of clients and sessions.
@Suite("Fuzzing: documents of the control API", .inTurn)
struct WireFuzzTests {
    static let adds = [
        #"{"urls":["http://h/a","https://u:p@h/b"],"folder":"/tmp","connections":4,"priority":-3,"rateLimit":1000}"#,
        #"{"groups":[{"urls":["http://h/a"],"folder":"/","file":"a.bin","ifExists":"rename","createsFolders":false}]}"#,
        #"{"urls":["http://h/a"],"folder":"/x","headers":[["A","b"],["Authorization"]],"user":"u","password":"p"}"#,
        #"{"urls":["http://h/a"],"folder":"/x","retries":3,"retryDelay":0.5,"retryMaximumDelay":60,"connectTimeout":15,"#
            + #""stallTimeout":"inf","maxRedirects":10,"insecure":true,"checksum":"md5:00000000000000000000000000000000"}"#,
    ]

    @Test("Requests that are read have possible values, and are the same when they are sent and read again")
    func add() {
        let words = ["\"inf\"", "\"nan\"", "\"urls\":", "\"stallTimeout\":", "\"retryDelay\":", "[[", "{\"groups\":"]
        let fuzzing = Fuzzing("POST downloads", corpus: Self.adds, words: words)
        fuzzing.run { input in
            guard let document = try? WireCoder.decode(WireAdd.self, Data(input)) else { return nil }
            for group in document.groups {
                guard let requests = try? group.requests() else { continue }
                for request in requests {
                    if let why = Self.impossible(request) { return why }
                    guard let sent = try? WireAdd(groups: [WireGroup(request)]).json(),
                        let again = try? WireAdd.read(sent).groups.first?.requests(), again == [request]
                    else {
                        return "\(request) became another one"
                    }
                }
            }
            return nil
        }
    }

    static func impossible(_ request: DownloadRequest) -> String? {
        let connections = request.connections
        if !(1...64).contains(connections.fixed ?? connections.limit ?? 1) { return "\(connections) connections" }
        if (request.rateLimit ?? 1) < 1 { return "a limit of \(request.rateLimit ?? 0)" }
        if request.retry.limit < 0 || !(0...1e9).contains(request.retry.delay.inSeconds) { return "\(request.retry)" }
        if !(request.timeouts.connect > .zero) || !(request.timeouts.stall > .zero) { return "\(request.timeouts)" }
        if !request.destination.folder.hasPrefix("/") { return "folder \(request.destination.folder)" }
        if let name = request.destination.fileName, !FileNaming.isUsable(name) { return "name \(name)" }
        let fields = request.headers.map { $0.name + ($0.value ?? "") }.joined()
        return fields.utf8.contains { [0, 10, 13].contains($0) } ? "a line break in a field" : nil
    }

    @Test("Changes that are read have possible values")
    func verb() {
        let corpus = [
            #"{"ids":[1,2],"priority":5}"#, #"{"ids":[1],"rateLimit":0}"#, #"{"ids":[1],"url":"http://u:p@h/"}"#,
            #"{"ids":[3],"headers":[["Cookie","a=b"]],"insecure":true,"connections":8,"deleteFile":true}"#,
        ]
        Fuzzing("PATCH downloads", corpus: corpus).run { input in
            guard let wish = try? WireCoder.decode(WireVerb.self, Data(input)) else { return nil }
            let connections = (try? wish.overrides())?.connections
            if !(1...64).contains(connections?.fixed ?? connections?.limit ?? 1) { return "\(wish)" }
            guard let change = try? wish.change() else { return nil }
            if case .rateLimit(let limit?) = change, limit < 1 { return "a limit of \(limit)" }
            return nil
        }
    }

    @Test("At most 100 ids are read from a query, and they are the same when they are written and read again")
    func ids() {
        let fuzzing = Fuzzing("Ids", corpus: ["1", "1,5-8", "3-3,2,1", "1-100"], words: [",", "-", "1-"])
        fuzzing.run { input in
            guard let ids = try? IDList.parse(String(decoding: input, as: UTF8.self), atMost: 100) else { return nil }
            guard ids.count <= 100, ids.allSatisfy({ $0 > 0 }) else { return "\(ids)" }
            return try? IDList.parse(ids.ranges.text(separator: ","), atMost: 100) == ids ? nil : "\(ids) became others"
        }
        fuzzing.runsInLinearTime { _ = try? IDList.parse(String(decoding: $0, as: UTF8.self), atMost: 10_000) }
    }

    @Test("A path is never longer than its target, and any target is split in linear time")
    func target() {
        let corpus = ["/v1/downloads?ids=1,2&limit=5", "/v1/downloads/3/pause", "*", "http://dlm/v1?a=b&a=c&=&x", ""]
        let fuzzing = Fuzzing("Targets", corpus: corpus, words: ["&", "?", "%2F", "+", "%"])
        fuzzing.run { input in
            let target = String(decoding: input, as: UTF8.self)
            let request = ControlRequest(method: "GET", target: target)
            return request.path.count > target.utf8.count ? "\(request.path)" : nil
        }
        fuzzing.runsInLinearTime {
            _ = ControlRequest(method: "GET", target: String(decoding: $0, as: UTF8.self))
        }
    }
}
