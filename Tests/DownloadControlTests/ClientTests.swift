import DownloadControl
import DownloadCore
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

/// A session looks the same from another process as from its own.
@Suite("DownloadControl: client", .inTurn, .timeLimit(.minutes(1)))
struct ClientTests {
    private func full() -> DownloadRequest {
        var request = DownloadRequest.example("näme with %20.bin?x=1&y=2")
        request.destination = Destination(folder: "/tmp/ü", fileName: "b.bin", ifExists: .newer, createsFolders: false)
        request.headers = [
            RequestHeader(name: "X-A", value: "ä: \"b\""), RequestHeader(name: "Authorization", value: "Bearer s3cret"),
            RequestHeader(name: "X-Empty", value: ""), RequestHeader(name: "Cookie", value: nil),
        ]
        request.credential = Credential(user: "me", password: "s3cret")
        request.checksum = Checksum("sha256:" + String(repeating: "0f", count: 32))
        request.connections = 8
        request.priority = -3
        request.rateLimit = 12345
        request.retry = RetryPolicy(limit: 9, delay: .seconds(0.25), maximumDelay: .seconds(7))
        request.redirect = RedirectPolicy(limit: 3)
        request.trust = .insecure
        request.timeouts = .init(connect: .seconds(1.5), stall: .seconds(1e15), total: .seconds(60))
        request.validation = ResponseValidation(
            types: [MediaRange("image/*"), MediaRange("a/b")].compactMap(\.self), statuses: StatusCodes("200,203"),
            maximumSize: 7)
        request.retry.statuses = StatusCodes("403")
        request.destination.takesServerName = false
        request.destination.keepsRemoteTime = true
        request.destination.continues = true
        return request
    }

    @Test("A request arrives as it was made, with its secrets, and its record looks the same on both sides")
    func add() async throws {
        let bench = try await ControlBench()
        var last = full()
        last.url = DownloadRequest.example("d").url
        let wanted = [full(), .example("b"), .example("c"), last]
        let added = try await bench.client.add(wanted)
        #expect(bench.service.state.value.requests == wanted)
        #expect(added.map(\.kind) == [.inserted, .inserted, .inserted, .inserted])
        #expect(added.map(\.record.id) == [1, 2, 3, 4])
        #expect(added.map(\.record.request) == wanted)
        #expect(added.allSatisfy { $0.record.session == "background" && $0.record.state == .queued })
        bench.service.state.update {
            $0.records[2]?.state = .paused(.terminate)
            $0.records[2]?.resume.written.insert(5..<50)
        }
        let joined = try await bench.client.add([.example("b")])
        #expect(joined.first?.kind == .joined)
        #expect(joined.first?.record == bench.service.state.value.records[2])
        #expect(try await bench.client.add([]).isEmpty)
        await bench.end()
    }

    @Test("A long list is sent in groups, and the answer is in the order of the list")
    func addMany() async throws {
        let bench = try await ControlBench()
        var requests = (0..<11_203).map { DownloadRequest.example("\($0)") }
        for index in stride(from: 0, to: 11_203, by: 100) { requests[index].priority = 1 }
        let added = try await bench.client.add(requests)
        #expect(added.map(\.record.request.url) == requests.map(\.url))
        #expect(bench.service.state.value.requests == requests)
        #expect(bench.service.calls == ["add 5000", "add 5000", "add 1203"])
        let long = (0..<40).map { DownloadRequest.example(String(repeating: "x", count: 60_000) + "\($0)") }
        #expect(try await bench.client.add(long).count == 40)
        await bench.end()
    }

    @Test("A list of new and known downloads comes back in the order of the request")
    func addMixed() async throws {
        let bench = try await ControlBench()
        _ = try await bench.client.add([.example("3"), .example("8")])
        let requests = (0..<10).map { DownloadRequest.example("\($0)") }
        let added = try await bench.client.add(requests)
        #expect(added.map(\.record.request.url) == requests.map(\.url))
        #expect(added.map(\.record.id) == [3, 4, 5, 1, 6, 7, 8, 9, 2, 10])
        #expect(added.map { $0.kind == .joined } == (0..<10).map { $0 == 3 || $0 == 8 })
        await bench.end()
    }

    @Test("Snapshots are the same on both sides")
    func snapshots() async throws {
        let bench = try await ControlBench()
        _ = try await bench.service.add((0..<8).map { .example("\($0)") })
        let failure = DownloadError.fileFailed(.noSpace(needed: 5), path: "/x")
        bench.service.state.update { state in
            state.records[1]?.state = .running
            state.records[1]?.speed = 1.5
            state.records[2]?.state = .waiting(.retry(failure), until: Date(timeIntervalSince1970: 1_000_000_000.123))
            state.records[3]?.state = .failed(failure)
            state.records[4]?.state = .completed
            state.records[5]?.attempts = [AttemptRecord(started: Date())]
        }
        let local = try await bench.service.snapshots(.all)
        let page = DownloadSelection(.all, limit: 3, after: 2)
        #expect(try await bench.client.snapshots(page) == Array(local[2...4]))
        #expect(try await bench.client.snapshots(.all) == local)
        #expect(try await bench.client.snapshots(.ids([2, 3])) == Array(local[1...2]))
        #expect(try await bench.client.snapshots(.ids([])).isEmpty)
        #expect(
            try await bench.client.snapshots(DownloadSelection(.states([.running, .failed]))) == [local[0], local[2]])
        #expect(try await bench.client.snapshots(DownloadSelection(.states([]))).isEmpty)
        #expect(try await bench.client.snapshots(DownloadSelection(.all, limit: 2)) == Array(local.suffix(2)))
        bench.service.state.update {
            $0.connections = [ConnectionProgress(origin: "https://a", position: 5, speed: 2.5)]
        }
        let detailed = DownloadSelection.ids([1, 3], isDetailed: true)
        #expect(try await bench.client.snapshots(detailed) == bench.service.snapshots(detailed))
        #expect(try await bench.client.snapshots(.ids([1])).map(\.activeConnections) == [nil])
        #expect(await bench.client.progress() == bench.service.progress())
        await #expect(throws: DownloadError.noSuchDownload(99)) { try await bench.client.snapshots(.ids([1, 99])) }
        await bench.end()
    }

    @Test("Every command of the client reaches the service")
    func verbs() async throws {
        let bench = try await ControlBench()
        _ = try await bench.service.add((0..<4).map { .example("\($0)") })
        bench.service.state.update { $0.records[4]?.state = .completed }
        let paused = try await bench.client.pause([1, 2])
        #expect(paused.map(\.didChange) == [true, true])
        #expect(paused.map(\.snapshot) == (try await bench.service.snapshots(.ids([1, 2]))))
        #expect(try await bench.client.pause([1]).map(\.didChange) == [false])
        #expect(try await bench.client.cancel([3]).first?.snapshot.record.state == .cancelled)
        _ = try await bench.client.change([1], .priority(7))
        _ = try await bench.client.change([1], .rateLimit(70))
        #expect(bench.service.state.value.records[1]?.request.rateLimit == 70)
        _ = try await bench.client.change([1], .rateLimit(nil))
        let record = bench.service.state.value.records[1]
        #expect(record?.request.priority == 7 && record?.request.rateLimit == nil)
        let other = DownloadRequest.example("other").url
        _ = try await bench.client.change([2], .url(other, Credential(user: "u", password: "p")))
        #expect(bench.service.state.value.records[2]?.request.url == other)
        #expect(bench.service.state.value.records[2]?.request.credential == Credential(user: "u", password: "p"))
        var overrides = RequestOverrides()
        overrides.headers = [RequestHeader(name: "Cookie", value: "s3cret")]
        overrides.trust = .system
        (overrides.acceptsUnverified, overrides.allowsRollback, overrides.trustsFirstUse) = (true, true, true)
        let claimed = try await bench.client.resume([1, 4], overrides: overrides)
        #expect(claimed.map(\.record.id) == [1, 4])
        #expect(claimed[1].kind == .completed)
        #expect(bench.service.state.value.overrides == overrides)
        try await bench.client.remove([3], deletesFile: true)
        #expect(bench.service.calls.last == "remove [3] true")
        try await bench.client.configure(SessionSettings(maxConcurrent: 3, rateLimit: 0))
        #expect(bench.service.state.value.settings == SessionSettings(maxConcurrent: 3, rateLimit: 0))
        #expect(try await bench.client.status() == (try await bench.service.status()))
        try await bench.client.shutdown(.finish)
        #expect(bench.service.state.value.shutdown == .finish)
        await bench.client.close()
        await #expect(throws: DownloadError.sessionUnavailable(.shuttingDown)) { try await bench.client.status() }
        await bench.end()
    }

    @Test("Six thousand ids travel in more than one request")
    func manyIDs() async throws {
        let bench = try await ControlBench()
        _ = try await bench.service.add((0..<6_000).map { .example("\($0)") })
        let ids = Array(DownloadID(1)...6_000)
        #expect(try await bench.client.change(ids, .priority(1)).map(\.snapshot.id) == ids)
        #expect(bench.service.calls.suffix(2) == ["priority(1) 5000", "priority(1) 1000"])
        let odd = ids.filter { $0.rawValue % 2 == 1 }
        #expect(try await bench.client.snapshots(.ids(odd)).map(\.id) == odd)
        #expect(try await bench.client.snapshots(.all).map(\.id) == ids)
        let newest = DownloadSelection(.states([.queued]), limit: 5_000)
        #expect(try await bench.client.snapshots(newest).map(\.id) == Array(ids.suffix(5_000)))
        await bench.end()
    }

    @Test("An error of the service arrives at the client as the same error")
    func errors() async throws {
        let bench = try await ControlBench()
        for error: DownloadError in [
            .noSuchDownload(3), .sessionUnavailable(.ownedElsewhere(4, session: "x")), .cancelled,
            .requestInvalid(.missingSecrets(["a"])), .fileFailed(.system(operation: "open", errno: 13), path: "/p"),
        ] {
            bench.service.state.update { $0.failure = error }
            await #expect(throws: error) { try await bench.client.pause([1]) }
        }
        await bench.end()
    }

    @Test("An event carries the current snapshot of its download")
    func events() async throws {
        let bench = try await ControlBench()
        _ = try await bench.service.add([.example(), .example("b")])
        var events = await bench.client.events().makeAsyncIterator()
        #expect(await bench.service.state.wait { $0.openLogs == 1 })
        bench.service.state.update { state in
            state.records[1]?.state = .running
            state.events = [.example(1), .example(2, .removed, id: 99, state: nil)]
        }
        guard case .didStart(let snapshot, atOffset: 7)? = await events.next() else {
            Issue.record("no start")
            return
        }
        #expect(snapshot == (try await bench.service.snapshots(.ids([1])).first))
        guard case .didRemove(let removed)? = await events.next() else {
            Issue.record("no removal")
            return
        }
        #expect(removed.id == 99 && removed.record.displayName == "a.bin")
        bench.service.state.update { $0.isLogEnded = true }
        #expect(await events.next() == nil)
        await bench.end()
    }
}
