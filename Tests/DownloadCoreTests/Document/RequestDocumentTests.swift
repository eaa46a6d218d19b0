import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("RequestDocument", .inTurn)
struct RequestDocumentTests {
    private func unusual(secrets: Bool = false) throws -> DownloadRequest {
        var request = try DownloadRequest.unusual(secrets: secrets)
        try request.describe()
        return request
    }

    private func readAgain(_ request: DownloadRequest) throws -> DownloadRequest {
        try RequestDocument(text: RequestDocument(request).text()).request
    }

    @Test("The document has a field for every property of a request")
    func everyProperty() throws {
        let (unusual, baseline) = (try unusual(), RequestDocument.baseline)
        #expect(try readAgain(unusual) == unusual)
        // For properties that the sample does not change, the test tries values. Each field has the name of its
        // property.
        // Requests for documents beside a file have origins. No such request is recorded.
        for path in unusual.sameProperties(as: baseline) where path != "redirect.origins" {
            let isRead = try Self.values.contains { value in
                let parts = path.split(separator: ".")
                let text = parts.reversed().reduce(value) { "{\"\($1)\":\($0)}" }
                guard let request = try? RequestDocument(text: text).request, request != baseline else { return false }
                return try readAgain(request) == request
            }
            #expect(isRead, "\(path) has no field, or needs a value in DownloadRequest.unusual")
        }
    }

    /// One value of each simple kind, and for `true` also `false`.
    private static let values = ["true", "false", "3", "2.5", #""de""#, #""http://h/a""#, #"["a"]"#]

    @Test("A document with one field is read and written with that field only")
    func eachField() throws {
        let unusual = try unusual()
        let written = try #require(
            JSONSerialization.jsonObject(with: Data(RequestDocument(unusual).text().utf8)) as? [String: Any])
        for field in DownloadRequest.documentFields {
            guard let value = written[field.name] else { continue }
            let text = try JSONSerialization.data(withJSONObject: [field.name: value])
            let read = try RequestDocument(text: String(decoding: text, as: UTF8.self)).request
            #expect(read != RequestDocument.baseline, "\(field.name)")
            let again = try JSONSerialization.jsonObject(with: Data(RequestDocument(read).text().utf8))
            #expect((again as? [String: Any])?.keys.map(\.self) == [field.name])
        }
    }

    @Test("The document of a plain request is empty")
    func empty() throws {
        #expect(try RequestDocument(RequestDocument.baseline).text() == "{}")
        #expect(try RequestDocument(text: " { } ").request == RequestDocument.baseline)
    }

    @Test("The document never contains a secret")
    func secrets() throws {
        let text = try RequestDocument(unusual(secrets: true)).text()
        #expect(!text.contains("hunter2"))
        var expected = try unusual()
        expected.headers.append(RequestHeader(name: "Authorization", value: nil))
        #expect(try RequestDocument(text: text).request == expected)
    }

    @Test(
        "Absent fields have fixed values, which do not change with later defaults",
        arguments: ["{}", #"{"retry":{},"destination":{}}"#])
    func baseline(_ text: String) throws {
        let request = try RequestDocument(text: text).request
        #expect(
            request.retry
                == RetryPolicy(
                    limit: 5, delay: .seconds(1), maximumDelay: .seconds(60), maximumHostPause: .seconds(600),
                    statuses: nil))
        #expect(request.redirect == RedirectPolicy(limit: 20, schemes: nil))
        #expect(request.timeouts == DownloadRequest.Timeouts(connect: .seconds(15), stall: .seconds(30), total: nil))
        #expect(request.validation == ResponseValidation(types: [], statuses: nil, maximumSize: nil))
        let destination = request.destination
        #expect(destination == Destination(folder: "", fileName: nil, ifExists: .fail, createsFolders: true))
        #expect(destination.takesServerName && !destination.keepsRemoteTime && !destination.continues)
        #expect(destination.followsLinks && request.followsMetalink)
        #expect(request.connections == .automatic && request.priority == 0 && request.rateLimit == nil)
        #expect(request.trust == .system && request.hooks == nil && request.schedule == nil)
        #expect(!request.allowsRollback && !request.trustsFirstUse)
        #expect(!request.acceptsUnverified && !request.startsPaused && !request.repairs && !request.keepsCompleted)
    }

    @Test(
        "A fixed number of connections and a limit for an automatic one are in different fields",
        arguments: [
            (DownloadRequest.Connections.automatic, "{}"), (.upTo(64), #"{"connectionLimit":64}"#),
            (.upTo(1), #"{"connectionLimit":1}"#), (.fixed(16), #"{"connections":16}"#),
        ])
    func connections(_ connections: DownloadRequest.Connections, _ text: String) throws {
        var request = RequestDocument.baseline
        request.connections = connections
        #expect(try RequestDocument(request).text() == text)
        #expect(try readAgain(request).connections == connections)
    }

    @Test("Unknown fields are ignored, and a document of a later format is refused")
    func later() throws {
        let text = #"{"rateLimit":7,"foo":{"bar":[1]},"retry":{"limit":1,"foo":true}}"#
        let request = try RequestDocument(text: text).request
        #expect(request.rateLimit == 7 && request.retry.limit == 1 && request.retry.delay == .seconds(1))
        #expect(try RequestDocument(text: #"{"version":1,"rateLimit":7}"#).request.rateLimit == 7)
        #expect(throws: DecodingError.self) { try RequestDocument(text: #"{"version":2,"rateLimit":7}"#) }
    }

    @Test(
        "An impossible number is reported with the name of its field",
        arguments: [
            (#"{"connections":65}"#, "connections"), (#"{"connections":-1}"#, "connections"),
            (#"{"connectionLimit":0}"#, "connectionLimit"), (#"{"connectionLimit":65}"#, "connectionLimit"),
            (#"{"rateLimit":0}"#, "rateLimit"), (#"{"size":-1}"#, "size"), (#"{"retry":{"limit":-1}}"#, "retry.limit"),
            (#"{"retry":{"delay":"nan"}}"#, "retry.delay"), (#"{"retry":{"maximumDelay":-1}}"#, "retry.maximumDelay"),
            (#"{"redirect":{"limit":-1}}"#, "redirect.limit"), (#"{"timeouts":{"connect":0}}"#, "timeouts.connect"),
            (#"{"timeouts":{"stall":"nan"}}"#, "timeouts.stall"), (#"{"timeouts":{"total":1e10}}"#, "timeouts.total"),
            (#"{"pacing":0}"#, "pacing"), (#"{"validation":{"maximumSize":-1}}"#, "validation.maximumSize"),
            (#"{"hooks":{"timeLimit":"inf"}}"#, "hooks.timeLimit"),
        ])
    func impossible(_ text: String, _ field: String) throws {
        #expect(RequestDocument.impossibleField(of: try RequestDocument(text: text).request) == field)
    }

    @Test("Neither a plain nor an unusual request is reported as impossible, nor an infinite time")
    func possible() throws {
        let endless = try RequestDocument(text: #"{"timeouts":{"stall":"inf"},"retry":{"maximumDelay":1e300}}"#).request
        #expect(endless.timeouts.stall == .seconds(1e15) && endless.retry.maximumDelay == .seconds(1e15))
        #expect(RequestDocument.impossibleField(of: endless) == nil)
        #expect(RequestDocument.impossibleField(of: RequestDocument.baseline) == nil)
        #expect(RequestDocument.impossibleField(of: try unusual(secrets: true)) == nil)
    }

    @Test("Records with every field are read")
    func fullRecord() throws {
        let text = """
            {"id":1,"state":{"queued":{}},"isFinishing":false,"resume":{"validators":{"lastModifiedIsStrong":false},\
            "acceptsRanges":false,"written":[],"durable":[]},"attempts":[],"created":0,"updated":0,\
            "request":{"url":"http://h/a","destination":{"folder":"/d","ifExists":"skip","createsFolders":true,\
            "takesServerName":true,"keepsRemoteTime":false,"continues":false},"mirrors":[],"followsMetalink":true,\
            "repairs":false,"headers":[],"http":{},"secretFiles":{},"connections":8,"priority":2,\
            "retry":{"limit":5,"delay":1,"maximumDelay":60},"redirect":{"limit":20},\
            "trust":{"verifiesServer":false},"network":{},\
            "timeouts":{"connect":15,"stall":30},"acceptsUnverified":false,"validation":{"types":[]},\
            "startsPaused":false,"hooks":{"onComplete":"/yes"}}}
            """
        let url = try SourceURL.parse("http://h/a").get().url
        var request = DownloadRequest(url: url, destination: Destination(folder: "/d", ifExists: .skip))
        request.connections = 8
        request.priority = 2
        request.trust = .insecure
        request.hooks = Hooks(onComplete: "/yes")
        #expect(try JSONText.decode(DownloadRecord.self, text).request == request)
    }

    @Test("Any choice of fields is read as it was written", arguments: 1...60 as ClosedRange<UInt64>)
    func anyFields(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var document = try #require(
            JSONSerialization.jsonObject(with: Data(RequestDocument(unusual()).text().utf8)) as? [String: Any])
        for (name, value) in document where Bool.random(using: &random) {
            guard let object = value as? [String: Any], Bool.random(using: &random), name != "pieces",
                ["destination", "retry", "redirect", "timeouts", "validation", "hooks"].contains(name)
            else {
                document[name] = nil
                continue
            }
            document[name] = object.filter { _ in Bool.random(using: &random) }
        }
        let text = String(decoding: try JSONSerialization.data(withJSONObject: document), as: UTF8.self)
        let request = try RequestDocument(text: text).request
        #expect(try readAgain(request) == request)
    }

    @Test("A hostile document is refused, or is read as a request that can be written and read again")
    func hostile() throws {
        let corpus = [
            try RequestDocument(unusual()).text(), "{}", #"{"trust":{"verifiesServer":false}}"#, #"{"connections":-5}"#,
        ]
        let words = ["\"inf\"", "\"nan\"", "{}", "null", "\"retry\":", "\"version\":", "[[", "-1", "\"hooks\":{"]
        Fuzzing("Request documents", corpus: corpus, words: words).run { input in
            guard let text = String(validating: input, as: UTF8.self),
                let request = try? RequestDocument(text: text).request,
                RequestDocument.impossibleField(of: request) == nil
            else { return nil }
            return (try? readAgain(request)) == request ? nil : "not read again"
        }
    }
}
