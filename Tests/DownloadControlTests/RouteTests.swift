import DownloadControl
import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

/// Every route except `GET /v1/events`, as a client with a socket and JSON sees it.
@Suite("DownloadControl: routes", .inTurn, .timeLimit(.minutes(1)))
struct RouteTests {
    private func bench(_ count: Int = 3) async throws -> ControlBench {
        let bench = try await ControlBench()
        _ = try await bench.service.add((0..<count).map { .example("\($0).bin") })
        bench.service.state.update { $0.requests = [] }
        return bench
    }

    @Test("GET and PATCH /v1/session")
    func session() async throws {
        let bench = try await bench()
        let (status, json) = try await bench.ask("GET", "/v1/session")
        #expect(status == 200)
        #expect(json["version"] as? Int == 1)
        #expect(json["identifier"] as? String == "background")
        #expect(json["started"] as? String == "1970-01-01T00:00:12.345Z")
        #expect(json["queued"] as? Int == 3)
        #expect(json["maxPerHost"] as? Int == 2 && json["programVersion"] as? String == "9.9")
        let pause = (json["hostPauses"] as? [[String: Any]])?.first
        #expect(pause?["until"] as? String == "1970-01-01T00:00:07.500Z" && pause?["status"] as? Int == 503)
        let changed = try await bench.ask("PATCH", "/v1/session", #"{"maxConcurrent":9,"rateLimit":1000}"#)
        #expect(changed.status == 200)
        #expect(changed.json["maxConcurrent"] as? Int == 9)
        #expect(bench.service.state.value.settings == SessionSettings(maxConcurrent: 9, rateLimit: 1000))
        for number in [0, 1001] {
            for name in ["maxConcurrent", "maxPerHost"] {
                #expect(try await bench.ask("PATCH", "/v1/session", "{\"\(name)\":\(number)}").status == 400)
            }
        }
        await bench.end()
    }

    @Test("POST /v1/session/shutdown")
    func shutdown() async throws {
        let bench = try await bench()
        #expect(try await bench.ask("POST", "/v1/session/shutdown", #"{"mode":"finish"}"#).status == 202)
        #expect(bench.service.state.value.shutdown == .finish)
        #expect(try await bench.ask("POST", "/v1/session/shutdown").status == 202)
        #expect(bench.service.state.value.shutdown == .pause)
        #expect(try await bench.ask("POST", "/v1/session/shutdown", #"{"mode":"now"}"#).status == 400)
        await bench.end()
    }

    @Test("GET /v1/downloads filters and pages, says if there are more, and refuses impossible queries")
    func list() async throws {
        let bench = try await bench(12)
        bench.service.state.update { state in
            state.records[2]?.state = .running
            state.records[3]?.state = .completed
            state.records[4]?.state = .failed(.serverRefused(status: 404, phrase: "Not Found"))
        }
        func ids(_ query: String, more: Bool = false) async throws -> [Int] {
            let (status, json) = try await bench.ask("GET", "/v1/downloads\(query)")
            #expect(status == 200 && json["more"] as? Bool == more, "\(query): \(json)")
            return (json["downloads"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? Int }
        }
        #expect(try await ids("") == [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        #expect(try await ids("?all=true&limit=2", more: true) == [11, 12])
        #expect(try await ids("?all=true&limit=12") == Array(1...12))
        #expect(try await ids("?all=true&limit=2&after=3", more: true) == [4, 5])
        #expect(try await ids("?all=true&limit=2&after=10") == [11, 12])
        #expect(try await ids("?all=true&limit=2&after=11") == [12])
        let selection = DownloadSelection(.all, limit: 2, after: 3)
        #expect(try await bench.client.snapshots(selection).map(\.id) == [4, 5])
        #expect(try await ids("?ids=1,5-7") == [1, 5, 6, 7])
        #expect(try await ids("?ids=1%2C5") == [1, 5])
        #expect(try await ids("?state=running,failed") == [2, 4])
        let failed = try await bench.ask("GET", "/v1/downloads/4").json
        #expect(failed["state"] as? String == "failed")
        #expect((failed["error"] as? [String: Any])?["reason"] as? String == "status404")
        #expect(failed["url"] as? String == "http://127.0.0.1:9/3.bin")
        #expect(failed["record"] is [String: Any])
        for bad in ["ids=1,99", "ids=99"] {
            #expect(try await bench.ask("GET", "/v1/downloads?\(bad)").status == 404)
        }
        for bad in [
            "ids=", "ids=a", "ids=3-1", "ids=0", "ids=1-9223372036854775807", "limit=-1", "after=x", "state=sleeping",
        ] {
            #expect(try await bench.ask("GET", "/v1/downloads?\(bad)").status == 400, "\(bad)")
        }
        #expect(try await bench.ask("GET", "/v1/downloads/99").status == 404)
        await bench.end()
    }

    @Test("An answer has at most the permitted number of rows, and says whether there are more")
    func paging() async throws {
        var limits = ControlLimits()
        limits.rows = 5
        let bench = try await ControlBench(limits: limits)
        _ = try await bench.service.add((0..<6).map { .example("\($0).bin") })
        let cut = try await bench.ask("GET", "/v1/downloads?all=true").json
        #expect(cut["more"] as? Bool == true)
        #expect((cut["downloads"] as? [Any])?.count == 5)
        func ids(_ query: String) async throws -> ([Int], Bool?) {
            let json = try await bench.ask("GET", "/v1/downloads?all=true&\(query)").json
            let rows = json["downloads"] as? [[String: Any]] ?? []
            return (rows.compactMap { $0["id"] as? Int }, json["more"] as? Bool)
        }
        #expect(try await ids("limit=6") == ([2, 3, 4, 5, 6], true))
        #expect(try await ids("limit=2") == ([5, 6], true))
        #expect(try await ids("after=0") == ([1, 2, 3, 4, 5], true))
        #expect(try await ids("after=5&limit=9") == ([6], false))
        #expect(try await ids("after=2&limit=2") == ([3, 4], true))
        #expect(try await ids("after=6") == ([], false))
        await bench.end()
    }

    @Test("POST /v1/downloads accepts URLs with common properties, and groups of such URLs")
    func add() async throws {
        let bench = try await ControlBench()
        let (status, json) = try await bench.ask(
            "POST", "/v1/downloads",
            """
            {"urls":["http://h.example/a","http://u:p@h.example/b"],"folder":"/tmp/d","ifExists":"rename",
             "headers":[["X-A","1"],["Authorization","Bearer s3cret"]],"checksum":"md5:\(String(repeating: "a", count: 32))",
             "connections":4,"priority":-2,"rateLimit":1000,"insecure":true,"retries":9,"retryDelay":0.5,
             "connectTimeout":3,"stallTimeout":"inf","maxRedirects":1}
            """)
        #expect(status == 200, "\(json)")
        let rows = json["downloads"] as? [[String: Any]] ?? []
        #expect(rows.map { $0["kind"] as? String } == ["inserted", "inserted"])
        #expect(rows.map { $0["id"] as? Int } == [1, 2])
        #expect(!"\(json)".contains("s3cret"))
        let requests = bench.service.state.value.requests
        #expect(requests.map(\.url.string) == ["http://h.example/a", "http://h.example/b"])
        #expect(requests.last?.credential == Credential(user: "u", password: "p"))
        let first = try #require(requests.first)
        #expect(first.destination == Destination(folder: "/tmp/d", ifExists: .rename))
        #expect(first.headers.map(\.value) == ["1", "Bearer s3cret"])
        #expect(first.connections == 4 && first.priority == -2 && first.rateLimit == 1000)
        #expect(first.trust == .insecure && first.retry.limit == 9 && first.retry.delay == .seconds(0.5))
        #expect(first.timeouts == .init(connect: .seconds(3), stall: .seconds(1e15)) && first.redirect.limit == 1)
        let groups =
            #"{"groups":[{"urls":["http://h.example/a"],"folder":"/x"},{"urls":["http://h.example/c"],"folder":"/y"}]}"#
        let again = try await bench.ask("POST", "/v1/downloads", groups)
        let kinds = (again.json["downloads"] as? [[String: Any]] ?? []).map { $0["kind"] as? String }
        #expect(kinds == ["joined", "inserted"])
        await bench.end()
    }

    @Test(
        "An invalid document is refused, with the reason and without any secret",
        arguments: [
            ("{", "not JSON"), ("[]", "the body: not an object"), ("{}", "urls: missing"),
            (#"{"urls":5}"#, "urls: not an array"), (#"{"urls":[5]}"#, "urls[0]: not a string"),
            (#"{"urls":["http://h/a"],"folder":"/","insecure":1}"#, "insecure: not true or false"),
            (#"{"urls":["http://h/a"],"folder":"/","retries":1e30}"#, "retries: not a whole number"),
            (#"{"urls":["http://h/a"],"folder":"/","priority":1.5}"#, "priority: not a whole number"),
            (#"{"urls":["http://h/a"],"folder":"/","retries":"3"}"#, "retries: not a whole number"),
            (#"{"urls":["http://h/a"]}"#, "folder: missing"), (#"{"urls":[],"folder":"/"}"#, "urls"),
            (#"{"urls":["http://h/a"],"folder":"x"}"#, "absolute"),
            (#"{"urls":["me:s3cret@h/a"],"folder":"/"}"#, "not a URL"),
            (#"{"urls":["gopher://me:s3cret@h/a"],"folder":"/"}"#, "unsupported scheme"),
            (#"{"urls":["http://h/a"],"folder":"/","file":"../x"}"#, "file"),
            (#"{"urls":["http://h/a"],"folder":"/","connections":65}"#, "connections"),
            (#"{"urls":["http://h/a"],"folder":"/","stallTimeout":0}"#, "stallTimeout"),
            (#"{"urls":["http://h/a"],"folder":"/","checksum":"s3cret"}"#, "checksum"),
            (#"{"urls":["http://h/a"],"folder":"/","headers":[["A","s3cret\r\nB: c"]]}"#, "headers"),
            (#"{"urls":["http://h/a"],"folder":"/","headers":[["A:B","s3cret"]]}"#, "headers"),
            (#"{"urls":["http://h/a"],"folder":"/","ifExists":"s3cret"}"#, "ifExists"),
            (
                #"{"urls":["http://h/a"],"folder":"/","options":{"network":{"proxy":{"url":"me:s3cret@a b:::"}}}}"#,
                "options.network.proxy.url: the host"
            ),
        ])
    func nonsense(_ body: String, _ word: String) async throws {
        let bench = try await ControlBench()
        let (status, json) = try await bench.ask("POST", "/v1/downloads", body)
        #expect(status == 400)
        let message = (json["error"] as? [String: Any])?["message"] as? String
        #expect(message?.contains(word) == true, "\(json)")
        #expect(!"\(json)".contains("s3cret"))
        #expect(bench.service.calls.isEmpty)
        await bench.end()
    }

    @Test("POST pause, cancel, resume and remove, with ids in the body or in the path")
    func verbs() async throws {
        let bench = try await bench()
        let paused = try await bench.ask("POST", "/v1/downloads/pause", #"{"ids":[1,2]}"#)
        #expect(paused.status == 200)
        let rows = paused.json["downloads"] as? [[String: Any]] ?? []
        #expect(rows.map { $0["state"] as? String } == ["paused", "paused"])
        #expect(rows.map { $0["changed"] as? Bool } == [true, true])
        let again = try await bench.ask("POST", "/v1/downloads/1/pause").json["downloads"] as? [[String: Any]]
        #expect(again?.first?["changed"] as? Bool == false)
        let cancelled = try await bench.ask("POST", "/v1/downloads/3/cancel", "{}")
        #expect(cancelled.status == 200)
        #expect(bench.service.state.value.records[3]?.state == .cancelled)
        let resumed = try await bench.ask(
            "POST", "/v1/downloads/resume", #"{"ids":[1],"headers":[["A","b"]],"insecure":true,"connections":3}"#)
        #expect((resumed.json["downloads"] as? [[String: Any]])?.first?["kind"] as? String == "claimed")
        let overrides = bench.service.state.value.overrides
        #expect(overrides?.headers == [RequestHeader(name: "A", value: "b")])
        #expect(overrides?.trust == .insecure && overrides?.connections == 3)
        #expect(try await bench.ask("POST", "/v1/downloads/2/remove", #"{"deleteFile":true}"#).status == 200)
        #expect(bench.service.calls.contains("remove [2] true"))
        #expect(try await bench.ask("POST", "/v1/downloads/pause", #"{"ids":[99]}"#).status == 404)
        for bad in ["", "{}", #"{"ids":[]}"#, #"{"ids":["1"]}"#, "nonsense"] {
            #expect(try await bench.ask("POST", "/v1/downloads/pause", bad).status == 400)
        }
        #expect(try await bench.ask("POST", "/v1/downloads/1/pause", #"{"ids":[2]}"#).status == 400)
        await bench.end()
    }

    @Test("PATCH /v1/downloads changes exactly one property")
    func patch() async throws {
        let bench = try await bench()
        #expect(try await bench.ask("PATCH", "/v1/downloads", #"{"ids":[1,2],"priority":5}"#).status == 200)
        #expect(try await bench.ask("PATCH", "/v1/downloads/1", #"{"rateLimit":500}"#).status == 200)
        #expect(bench.service.state.value.records[1]?.request.rateLimit == 500)
        #expect(try await bench.ask("PATCH", "/v1/downloads/1", #"{"rateLimit":0}"#).status == 200)
        #expect(bench.service.state.value.records[1]?.request.rateLimit == nil)
        #expect(bench.service.state.value.records[2]?.request.priority == 5)
        let moved = try await bench.ask(
            "PATCH", "/v1/downloads/1", #"{"url":"http://other.example/a","user":"u","password":"s3cret"}"#)
        #expect(moved.status == 200 && !"\(moved.json)".contains("s3cret"))
        let request = bench.service.state.value.records[1]?.request
        #expect(request?.url.string == "http://other.example/a")
        #expect(request?.credential == Credential(user: "u", password: "s3cret"))
        for bad in ["{}", #"{"priority":1,"rateLimit":1}"#, #"{"rateLimit":-1}"#, #"{"url":"x"}"#] {
            #expect(try await bench.ask("PATCH", "/v1/downloads/1", bad).status == 400)
        }
        await bench.end()
    }

    @Test("GET /v1/progress lists the running downloads")
    func progress() async throws {
        let bench = try await bench()
        bench.service.state.update { $0.records[2]?.state = .running }
        let rows = try await bench.ask("GET", "/v1/progress").json["downloads"] as? [[String: Any]] ?? []
        #expect(rows.map { $0["id"] as? Int } == [2])
        await bench.end()
    }

    @Test("GET /v1 names the session and its process")
    func hello() async throws {
        let bench = try await bench()
        let answer = try await bench.ask("GET", "/v1")
        #expect(answer.status == 200)
        #expect(answer.json["identifier"] as? String == "background")
        #expect(answer.json["pid"] as? Int == Int(getpid()))
        try await bench.client.checkAvailability()
        await bench.end()
    }

    @Test("Unknown paths, methods and versions are refused with different errors")
    func unknown() async throws {
        let bench = try await bench()
        for path in [
            "/", "/v1/x", "/v1/downloads/1/eat", "/v1/downloads/x/pause", "/v1/downloads/pause/1", "/vx/session",
        ] {
            #expect(try await bench.ask("GET", path).status == 404, "\(path)")
        }
        for (method, path) in [("DELETE", "/v1/session"), ("PUT", "/v1/downloads"), ("GET", "/v1/downloads/pause")] {
            #expect(try await bench.ask(method, path).status == 405, "\(method) \(path)")
        }
        for (path, fields) in [("/v2/session", ""), ("/v1/session", "Dlm-Api: 2\r\n"), ("/v0/x", "")] {
            let (status, json) = try await bench.ask("GET", path, fields: fields)
            let error = json["error"] as? [String: Any]
            #expect(status == 400)
            #expect(error?["kind"] as? String == "session" && error?["reason"] as? String == "incompatible")
            #expect(error?["version"] as? Int == 1)
        }
        #expect(try await bench.ask("GET", "/v1/session", fields: "Dlm-Api: 1\r\n").status == 200)
        await bench.end()
    }

    @Test(
        "Each error of the service has a suitable status",
        arguments: [
            (DownloadError.noSuchDownload(7), 404), (.sessionUnavailable(.ownedElsewhere(1, session: "x")), 409),
            (.sessionUnavailable(.shuttingDown), 503), (.requestInvalid(.malformedURL("x")), 400),
            (.unexpected("x"), 500),
        ])
    func errors(_ error: DownloadError, _ expected: Int) async throws {
        let bench = try await ControlBench()
        bench.service.state.update { $0.failure = error }
        let (status, json) = try await bench.ask("GET", "/v1/session")
        #expect(status == expected)
        #expect((json["error"] as? [String: Any])?["exitStatus"] as? Int32 == error.exitStatus)
        await #expect(throws: error) { try await bench.client.status() }
        await bench.end()
    }
}
