import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadControl

/// The document of `POST /v1/downloads`, which has an encoder and a reader of its own.
@Suite("DownloadControl: the document that adds downloads", .inTurn)
struct AddDocumentTests {
    private func request(_ path: String, folder: String = "/tmp", user: String? = nil) -> DownloadRequest {
        var request = DownloadRequest.example(path)
        request.destination.folder = folder
        request.credential = user.map { Credential(user: $0, password: "p") }
        return request
    }

    @Test(
        "A written document is read as the same requests", arguments: ["/tmp", #"/a "urls":[] b\"#, "/ü\n"],
        [nil, #""urls":[]"#] as [String?])
    func roundTrip(folder: String, user: String?) throws {
        let requests = (0..<3).map { request("\($0)", folder: folder, user: user) } + [request("other", folder: "/x")]
        let groups = RequestList(requests).runs.map(WireGroup.init)
        #expect(groups.count == 2)
        let document = try WireAdd(groups: groups, isBrief: true).json()
        let read = try WireAdd.read(document)
        #expect(read.isBrief)
        #expect(try read.groups.flatMap { try $0.requests() } == requests)
        let single = try WireAdd(groups: [groups[0]]).json()
        #expect(try WireAdd.read(single).groups[0].requests() == Array(requests[..<3]))
        #expect(try !WireAdd.read(single).isBrief)
    }

    @Test(
        "A limit of connections and a number of connections travel in separate fields",
        arguments: [DownloadRequest.Connections.upTo(64), .upTo(1), .automatic, .fixed(16)])
    func connections(_ connections: DownloadRequest.Connections) throws {
        var request = request("a")
        request.connections = connections
        let group = WireGroup(request)
        let text = try JSONText.encode(group)
        #expect(text.contains("\"connections\":16") == (connections == 16))
        #expect(text.contains("\"connectionLimit\":\(connections.limit ?? 0)") == (connections.limit != nil))
        #expect(try WireAdd.read(WireAdd(groups: [group]).json()).groups[0].requests() == [request])
        var overrides = RequestOverrides()
        overrides.connections = connections
        #expect(try WireVerb(ids: [1], overrides: overrides).overrides().connections == connections)
    }

    @Test("Every property of a request travels, including its secrets")
    func everyProperty() throws {
        let request = try DownloadRequest.unusual(secrets: true)
        let read = try WireAdd.read(WireAdd(groups: [WireGroup(request)]).json())
        #expect(try read.groups.flatMap { try $0.requests() } == [request])
        // The facts that a session finds out about a file (`described`) are not sent.
        var described = request
        try described.describe()
        #expect(try WireAdd.read(WireAdd(groups: [WireGroup(described)]).json()).groups[0].requests() == [request])
    }

    @Test("For a plain request only its URL and its folder travel")
    func plain() throws {
        let document = try WireAdd(groups: [WireGroup(request("a"))]).json()
        #expect(
            String(decoding: document, as: UTF8.self)
                == #"{"groups":[{"urls":["http://127.0.0.1:9/a"],"folder":"/tmp"}]}"#)
    }

    @Test("All fields have different names, which also differ from the names in the enclosing document")
    func names() {
        let names = WireFields.all.map(\.name)
        #expect(Set(names).count == names.count)
        let others: Set = [
            "urls", "folder", "headers", "user", "password", "checksum", "insecure", "options", "groups",
        ]
        #expect(others.isDisjoint(with: names) && !names.contains("brief"))
    }

    @Test("docs/api.md describes every field of a request")
    func documented() throws {
        let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(contentsOf: root.appending(path: "docs/api.md"), encoding: .utf8)
        let sent = try WireAdd(groups: [WireGroup(.unusual(secrets: true))]).json()
        let names = Self.names(in: try JSONSerialization.jsonObject(with: sent))
        #expect(names.isSuperset(of: ["urls", "acceptsUnverified", "minimumTLS"]))
        // The page has the fields of `options` with the name of this object. `body` is empty, and its bytes are in `data`.
        for name in names.subtracting(["options", "body"]) {
            #expect(["`\(name)`", "\"\(name)\"", "`options.\(name)`"].contains { page.contains($0) }, "\(name)")
        }
    }

    /// Returns the names of all fields in a JSON value.
    private static func names(in value: Any) -> Set<String> {
        switch value {
        case let object as [String: Any]: object.values.map(names).reduce(Set(object.keys)) { $0.union($1) }
        case let array as [Any]: array.map(names).reduce([]) { $0.union($1) }
        default: []
        }
    }

    /// The names of fields must stay, because other programs use them. This document has the fields of version 1; fields
    /// that came later are not added to it.
    @Test("Every field of version 1 is still sent and accepted")
    func versionOne() throws {
        let text = #"""
            {"urls":["https://example.org/a?x=1"],"folder":"/srv/data","file":"a.bin","ifExists":"rename",
             "createsFolders":false,"contentDisposition":false,"remoteTime":true,"continue":true,"paused":true,
             "schedule":{"start":-978307199.5,"windows":[{"days":[0,1,2,3,4],"start":1320,"end":360}],
             "timeZone":"Europe/Berlin"},"wait":2.5,"expectType":["image/*"],"expectStatus":"200,203",
             "retryOn":"403,520-529","maxSize":7,"maxTime":3600,
             "headers":[["X-Purpose","é \"quoted\" \\"],["Authorization","hunter2"]],"user":"me","password":"hunter2",
             "checksum":"md5:abababababababababababababababab","checksums":{"source":"MD5SUMS","entries":[{"folder":"",
             "name":"a","checksum":{"algorithm":"md5","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"}}]},
             "connections":4,"priority":-3,"rateLimit":500000,"insecure":true,"acceptsUnverified":true,
             "retries":9,"retryDelay":0.25,"retryMaximumDelay":"inf","connectTimeout":1.5,"stallTimeout":"inf",
             "maxRedirects":3,"onComplete":"/usr/bin/true","onError":"/usr/bin/false","urlCommand":"new link",
             "hookTimeout":1.5,"completeURL":"https://example.org/hook","completeBearerFile":"/token","notifies":true,
             "mirrors":["https://example.net/a"],"size":7,
             "pieces":{"algorithm":"md5","length":1024,"digests":"abababababababababababababababab"},
             "followMetalink":false,"location":"de","repair":true,"keepsCompleted":true,"options":{"http":{"method":"PUT","userAgent":"me",
             "referer":"","acceptsCompressed":true,"authentication":"digest","signature":"aws:amz",
             "upgradesKnownHosts":false,"body":{}},"data":"aHVudGVyMg==","secretFiles":{"netrc":"/n","bearer":"/b",
             "bearerCommand":"/bc","cookies":"/c","cookieJar":"/j"},"trust":{"verifiesServer":false,
             "authorities":"/ca","revocations":"/crl","certificate":"/cert","privateKey":"/key","pinnedKey":"/pin",
             "minimumTLS":"1.3","knownHosts":"/hosts","sshKey":"/ssh","ftpTLS":"required",
             "refusesOwnLogins":true},
             "network":{"proxy":{"url":"http://p:1","credential":{"user":"you"}},"noProxy":"a,b","interface":"lo",
             "addressFamily":"ipv6","httpVersion":"2","addresses":[{"host":"a","port":443,"address":"[::1]"}],
             "nameServer":"https://dns/q","dnsCacheTime":600,"refusesPrivateAddresses":true},"proxyPassword":"hunter2","schemes":["https"]}}
            """#
        func group(_ document: Data) throws -> Any {
            let document = try JSONSerialization.jsonObject(with: document) as? [String: Any]
            return try #require((document?["groups"] as? [Any])?.first ?? document)
        }
        let known = try #require(group(Data(text.utf8)) as? NSDictionary)
        let sent = try group(WireAdd(groups: [WireGroup(.unusual(secrets: true))]).json())
        #expect(Self.part(of: sent, like: known) as? NSDictionary == known)
        let read = try WireAdd.read(Data(text.utf8)).groups[0].requests()
        #expect(try group(WireAdd(groups: [WireGroup(read[0])]).json()) as? NSDictionary == known)
    }

    /// Returns the value without the fields that the other value lacks.
    private static func part(of value: Any, like other: Any) -> Any {
        guard let value = value as? [String: Any], let other = other as? [String: Any] else { return value }
        return value.reduce(into: [String: Any]()) { part, field in
            if let known = other[field.key] { part[field.key] = Self.part(of: field.value, like: known) }
        }
    }

    @Test(
        "Impossible numbers are refused with the name of their field",
        arguments: [
            "connections": -1, "retries": -1, "retryDelay": -1, "maxTime": 0, "wait": 0, "maxSize": -1,
            "hookTimeout": 0, "connectTimeout": 0, "maximumHostPause": -1, "maxRedirects": -1, "size": -1,
            "rateLimit": -1,
        ])
    func impossible(_ name: String, _ number: Int) {
        let text = #"{"urls":["http://h/a"],"folder":"/t","\#(name)":\#(number)}"#
        #expect {
            try WireAdd.read(Data(text.utf8))
        } throws: {
            "\($0)".contains("\(name):")
        }
    }

    @Test(
        "A value that can only fail is refused with the name of its field, for a new download and a resumed one",
        arguments: [
            ("schemes", #""schemes":[]"#), ("schemes", #""schemes":["file"]"#),
            ("schemes", #""schemes":["https","gopher"]"#), ("method", #""http":{"method":"A B"}"#),
            ("method", #""http":{"method":""}"#), ("nameServer", #""network":{"nameServer":"junk"}"#),
            ("addresses", #""network":{"addresses":[{"host":"h","port":-1,"address":"192.0.2.1"}]}"#),
            ("addresses", #""network":{"addresses":[{"host":"x\n","port":80,"address":"192.0.2.1"}]}"#),
            ("user", #"},"user":"u\n","options":{"#),
            ("timeZone", #"},"schedule":{"windows":[],"timeZone":"../../etc/passwd"},"options":{"#),
        ])
    func unusable(_ name: String, _ option: String) throws {
        let fields = #""options":{\#(option)}}"#
        #expect {
            try WireAdd.read(Data((#"{"urls":["http://h/a"],"folder":"/t","# + fields).utf8))
        } throws: {
            "\($0)".contains("\(name):")
        }
        if name == "timeZone" { return }
        #expect {
            try WireCoder.decode(WireVerb.self, Data((#"{"ids":[1],"# + fields).utf8)).overrides()
        } throws: {
            "\($0)".contains("\(name):")
        }
    }

    @Test("Impossible limits of connections are refused", arguments: [0, 65, -1])
    func impossibleConnections(limit: Int) throws {
        var verb = WireVerb(ids: [1])
        verb.connectionLimit = limit
        #expect(throws: WireProblem.self) { try verb.overrides() }
        verb.connectionLimit = nil
        #expect(try verb.overrides().connections == nil)
        verb.connections = -1
        #expect(throws: WireProblem.self) { try verb.overrides() }
    }

    @Test("Characters of a URL are escaped if JSON requires this")
    func escapes() throws {
        var group = WireGroup(request("a"))
        group.urls = [#"http://a/"b"\c"#, "http://bücher/", "http://a/\u{1}"]
        #expect(try WireAdd.read(WireAdd(groups: [group]).json()).groups[0].urls == group.urls)
    }

    @Test(
        "A document in any form is read as the generic decoder reads it",
        arguments: [
            #"{"urls":["http://a/1","http://a/2"],"folder":"/t"}"#,
            #" { "folder" : "/t" , "urls" :\#t[ "http://a/1" , "http://a/2" ]\#r\#n} "#,
            #"{"groups":[{"folder":"/t","urls":["http://a/1"]}],"brief":true}"#,
            #"{"groups":[{"folder":"/t","urls":["1"]},{"folder":"/u","urls":["2"]}]}"#,
            #"{"groups":[{"folder":"/t","urls":["1"]}],"urls":["2"],"folder":"/u"}"#,
            #"{"folder":"/t","urls":["1"],"urls":["2"]}"#, #"{"folder":"/t","urls":[]}"#,
            #"{"folder":"/t","urls":["http:\/\/a\/1"]}"#, #"{"folder":"/t","\u0075rls":["1"]}"#,
            #"{"folder":"/t","\u0075rls":["1"],"x":{"urls":["2"]}}"#, #"{"folder":"/t","urls":["ü"]}"#,
            #"{"folder":"urls","urls":["urls"]}"#, #"{"folder":"/t","x":"urls","urls":["1"]}"#,
            #"{"folder":"/t","x":{"urls":["2"]}}"#, #"{"folder":"/t","urls":"1"}"#, #"{"folder":"/t","urls":["1",]}"#,
            #"{"folder":"/t","urls":["1" "2"]}"#, #"{"folder":"/t","urls":[1]}"#, #"{"folder":"/t","urls":["1""#,
            #"{"folder":"/t","urls":["1"]"#, #"{"folder":"/t","urls":["1"]}}"#, #"{"urls":["1"]}"#, #"["urls":["1"]]"#,
            #""urls":["1"]"#, "", #"{"folder":"/t","urls":["1"],"brief":7}"#,
        ])
    func forms(_ text: String) throws {
        let document = Data(text.utf8)
        guard let expected = try? WireCoder.decode(WireAdd.self, document) else {
            #expect(throws: (any Error).self) { try WireAdd.read(document) }
            return
        }
        let read = try WireAdd.read(document)
        #expect(read.isBrief == expected.isBrief)
        #expect(read.groups.map(\.urls) == expected.groups.map(\.urls))
        #expect(read.groups.map(\.folder) == expected.groups.map(\.folder))
    }

    @Test("The array of URLs is also found in a slice of data")
    func slice() throws {
        let text = Data(#"xx{"folder":"/t","urls":["1","2"]}"#.utf8)
        let array = try #require(URLArray(in: text.dropFirst(2)))
        #expect(array.urls == ["1", "2"])
        #expect(String(decoding: array.rest, as: UTF8.self) == #"{"folder":"/t","urls":[]}"#)
    }
}
