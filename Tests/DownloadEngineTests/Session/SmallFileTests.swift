import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// New files that arrive whole in one buffer, and get their final name without a partial file.
@Suite("SessionManager: small files", .inTurn, .timeLimit(.minutes(1)))
struct SmallFileTests {
    private static let content = Content(seed: 40, size: 5000)
    private static let reply = FaultReply(content, etag: "\"v1\"")

    @Test("The record is saved durably before the file gets its name; no other file is ever in the folder")
    func order() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: Self.reply)
        let path = bench.folder.path
        store.change { trouble in
            trouble.beforeSave = { records in
                let names = try FileManager.default.contentsOfDirectory(atPath: path)
                for record in records where record.isFinishing { #expect(names.isEmpty) }
                for record in records where record.state == .completed { #expect(names == ["file.bin"]) }
            }
        }
        let id = try await bench.add()
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed)
        #expect(try bench.holds("file.bin", Self.content))
        #expect(record.completed?.validators.etag?.opaque == "v1")
        #expect(record.attempts.map(\.received) == [5000])
        #expect(bench.words(id) == ["add", "start 0", "complete"])
        #expect(store.durable.filter(\.isFinishing).map(\.id) == [id])
        #expect(store.records.count == 2)
    }

    @Test(
        "Small files obey the settings for the connection and for the answer", arguments: [true, false])
    func settings(isWithin: Bool) async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: Self.reply)
        let folder = bench.folder
        store.change { trouble in
            trouble.beforeSave = { [weak folder] records in
                if records.contains(where: \.isFinishing) { #expect(folder?.names() == []) }
            }
        }
        let id = try await bench.add { request in
            request.trust.authorities = "/authorities.pem"
            request.trust.minimumTLS = .tls13
            request.connections = 8
            request.http.signature = "aws:amz:eu:s3"
            request.credential = Credential(user: "me", password: "secret")
            request.network.addressFamily = .ipv4
            request.network.proxy = ProxyAddress(url: "http://proxy.example:3128")
            request.network.addresses = ["192.0.2.1", "192.0.2.2"].map {
                PinnedAddress(host: "example.org", port: 80, address: $0)
            }
            request.redirect.schemes = ["http", "https"]
            request.validation.maximumSize = isWithin ? 5000 : 4999
        }
        let record = try await bench.ending(of: id)
        let request = try #require(bench.transport.requests.first)
        #expect(bench.transport.requests.count == 1)
        #expect(request.range == "0-4194303")
        #expect(request.options.signature == "aws:amz:eu:s3")
        #expect(request.options.trust.authorities == "/authorities.pem")
        #expect(request.options.network.proxy?.url == "http://proxy.example:3128")
        #expect(request.options.network.addresses?.first?.address == "192.0.2.1")
        if isWithin {
            #expect(store.records.count == 2)
            #expect(try bench.holds("file.bin", Self.content))
        } else {
            #expect(record.failure == .verificationFailed(.tooLarge(limit: 4999, size: 5000)))
            #expect(folder.names().isEmpty)
        }
    }

    @Test("The next attempt uses the next of several addresses of a host")
    func addressesInTurn() async throws {
        let bench = try await SessionBench { _, asked in
            asked.number == 1 ? .failure(.serverRefused(status: 503, phrase: "busy")) : .reply(Self.reply)
        }
        let id = try await bench.add { request in
            request.network.addresses = ["192.0.2.1", "192.0.2.2"].map {
                PinnedAddress(host: "example.org", port: 80, address: $0)
            }
        }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(
            bench.transport.requests.map { $0.options.network.addresses?.first?.address } == ["192.0.2.1", "192.0.2.2"])
    }

    @Test(
        "With several connections, a file completes whether it is smaller or larger than its first part",
        arguments: [0, 1, 5 << 20])
    func severalConnections(size: Int64) async throws {
        let content = Content(seed: 41, size: size)
        let bench = try await SessionBench(serving: FaultReply(content, etag: "\"v1\""))
        let id = try await bench.add { $0.connections = 8 }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(try bench.holds("file.bin", content))
        #expect(bench.transport.requests.first?.range == "0-4194303")
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test("Without multiplexing, a large file is requested from its start only once", arguments: [1, 8])
    func begunOnce(connections: Int) async throws {
        let content = Content(seed: 42, size: 5 << 20)
        let bench = try await SessionBench(maxConcurrent: 1) { _, _ in .reply(FaultReply(content, etag: "\"v1\"")) }
        let requests = try (0..<3).map { number in
            let url = try SourceURL.parse("https://example.org/\(number)").get().url
            return try bench.request { request in
                request.url = url
                request.connections = .fixed(connections)
                request.network.httpVersion = connections == 1 ? .http1 : nil
            }
        }
        for id in try await bench.manager.add(requests).map(\.record.id) {
            #expect(try await bench.ending(of: id).state == .completed)
        }
        let begun = bench.transport.requests.filter { $0.range?.hasPrefix("0-") == true }
        #expect(begun.map(\.url.path) == ["/0", "/1", "/2"])
        #expect(begun.allSatisfy { !$0.prefersMultiplexing })
    }

    @Test("A URL with a scheme that is not permitted is not requested")
    func schemeNotAllowed() async throws {
        let bench = try await SessionBench(serving: Self.reply)
        let id = try await bench.add { $0.redirect.schemes = ["https"] }
        #expect(try await bench.ending(of: id).failure?.exitStatus == 2)
        #expect(bench.transport.requests.isEmpty)
    }

    @Test("A completed small file that was deleted is fetched as a small file again, with a new list of attempts")
    func again() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: Self.reply)
        let id = try await bench.add()
        for round in 1...3 {
            #expect(try await bench.ending(of: id, times: round).state == .completed)
            #expect(try bench.holds("file.bin", Self.content))
            #expect(store.records.count == 2 * round)
            #expect(try await bench.record(id).attempts.map(\.outcome) == ["completed"])
            try FileManager.default.removeItem(atPath: bench.folder("file.bin"))
            if round < 3 { #expect(try await bench.add() == id) }
        }
    }

    @Test("A failed second request keeps what is known of the completed file")
    func againInVain() async throws {
        let bench = try await SessionBench { _, asked in
            asked.number == 1 ? .reply(Self.reply) : .failure(.authenticationFailed(status: 401))
        }
        let id = try await bench.add()
        let first = try await bench.ending(of: id)
        #expect(try await bench.add() == id)
        let record = try await bench.ending(of: id, times: 2)
        #expect(record.failure != nil)
        #expect(record.completed == first.completed)
    }

    @Test("A second request finds the completed file, or another program's partial file")
    func againWithFile() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: Self.reply)
        let id = try await bench.add()
        let first = try await bench.ending(of: id).completed
        #expect(try await bench.add() == id)
        let record = try await bench.ending(of: id, times: 2)
        #expect(record.completed?.wasCurrent == true)
        #expect(record.completed?.identity == first?.identity)
        #expect(record.attempts.count == 1)

        try FileManager.default.removeItem(atPath: bench.folder("file.bin"))
        try bench.folder.write("another's", to: "file.bin.part")
        #expect(try await bench.add() == id)
        #expect(try await bench.ending(of: id, times: 3).failure?.exitStatus == 3)
        #expect(try bench.folder.read("file.bin.part") == "another's")
    }

    @Test(
        "If the name is taken before the rename, the request decides what happens",
        arguments: Destination.IfExists.allCases)
    func nameTaken(ifExists: Destination.IfExists) async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: Self.reply)
        let folder = bench.folder
        store.change { trouble in
            trouble.beforeSave = { [weak folder] records in
                if let folder, records.contains(where: \.isFinishing), !folder.exists("file.bin") {
                    try folder.write("mine", to: "file.bin")
                }
            }
        }
        let id = try await bench.add { $0.destination.ifExists = ifExists }
        let record = try await bench.ending(of: id)
        switch ifExists {
        case .fail:
            #expect(record.failure?.exitStatus == 3)
            #expect(try folder.read("file.bin") == "mine")
        case .skip:
            #expect(record.state == .completed)
            #expect(try folder.read("file.bin") == "mine")
        case .rename:
            #expect(record.state == .completed)
            #expect(try folder.read("file.bin") == "mine")
            #expect(try bench.holds("file (1).bin", Self.content))
        case .overwrite, .newer:
            #expect(record.state == .completed)
            #expect(try bench.holds("file.bin", Self.content))
        }
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test("Many files with one name get different names")
    func sameNames() async throws {
        let bench = try await SessionBench(serving: Self.reply)
        let requests = try (0..<20).map { number in
            try bench.request("/\(number)/file.bin") { $0.destination.ifExists = .rename }
        }
        let ids = try await bench.manager.add(requests).map(\.record.id)
        for id in ids { #expect(try await bench.ending(of: id).state == .completed) }
        let names = ["file.bin"] + (1..<20).map { "file (\($0)).bin" }
        for name in names { #expect(try bench.holds(name, Self.content)) }
    }

    @Test("If a chosen name is taken before the partial file exists, the file gets the next number")
    func nameTakenMeanwhile() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: Self.reply)
        let folder = bench.folder
        try folder.write("mine", to: "file.bin")
        store.change { trouble in
            trouble.beforeSave = { [weak folder] records in
                let isNamed = records.contains { $0.fileName == "file (1).bin" }
                if let folder, isNamed, !folder.exists("file (1).bin") {
                    try folder.write("another's", to: "file (1).bin")
                }
            }
        }
        let id = try await bench.add { request in
            request.destination.ifExists = .rename
            // A small file cannot have a time limit.
            request.timeouts.total = .seconds(600)
        }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(try bench.holds("file (2).bin", Self.content))
        #expect(Set(folder.names()) == ["file.bin", "file (1).bin", "file (2).bin"])
        #expect(try folder.read("file (1).bin") == "another's")
    }

    @Test("Files that are next in line can be paused, cancelled and removed like all others")
    func changedInLine() async throws {
        let bench = try await Self.oneAtATime()
        let requests = try (0..<100).map { try bench.request("/\($0)") }
        let ids = try await bench.manager.add(requests).map(\.record.id)
        #expect(await bench.transport.taken.wait { $0 == 1 })
        #expect(await bench.manager.progress().map(\.id) == [ids[0]])
        #expect(try await bench.manager.snapshots(.ids([ids[1]])).map(\.record.state) == [.queued])
        #expect(try await bench.manager.pause([ids[3]]).map(\.didChange) == [true])
        #expect(try await bench.manager.cancel([ids[4]]).map(\.didChange) == [true])
        try await bench.manager.remove([ids[5]], deletesFile: false)
        let late = try await bench.add("/late") { $0.priority = 1 }
        _ = try await bench.manager.cancel([ids[0]])
        for id in ids where ![ids[0], ids[3], ids[4], ids[5]].contains(id) {
            #expect(try await bench.ending(of: id).state == .completed)
        }
        #expect(try await bench.record(late).state == .completed)
        let order = bench.transport.requests.map(\.url.path)
        #expect(order == ["/0", "/late", "/1", "/2"] + (6..<100).map { "/\($0)" })
        #expect(bench.transport.mostAtOnce == 1)
    }

    @Test("When the session ends, the files that are next in line are paused and belong to no session")
    func endInLine() async throws {
        let bench = try await Self.oneAtATime()
        let ids = try await bench.manager.add((0..<100).map { try bench.request("/\($0)") }).map(\.record.id)
        #expect(await bench.transport.taken.wait { $0 == 1 })
        await bench.manager.pauseAll(.interrupt)
        let left = try await bench.store.records(.ids(ids))
        #expect(left.allSatisfy { $0.state == .paused(.interrupt) && $0.session == nil })
        #expect(bench.transport.requests.count == 1)
    }

    @Test(
        "A small file that begins right before or after a tick has until the next tick; then it is an ordinary attempt")
    func ticks() async throws {
        let bench = try await SessionBench(serving: Self.reply.with { $0.cut = .stall(after: 1000) })
        try await bench.manager.begin()
        let context = try #require(await bench.manager.context)
        let lane = SmallFileLane(context: context, files: SmallFileQueue(), mostByFiles: 8, for: bench.manager)
        let record = DownloadRecord(id: 1, request: try bench.request(), created: Date())
        let attempt = try #require(lane.attempt(at: DownloadEntry(record), prefersMultiplexing: false))
        attempt.attend()
        #expect(attempt.handles(.tick))
        attempt.begin()
        #expect(attempt.handles(.tick))
        #expect(!attempt.handles(.tick))
        await bench.manager.close()
    }

    /// Returns a session with one slot. The download of "/0" never ends by itself.
    private static func oneAtATime() async throws -> SessionBench {
        try await SessionBench(maxConcurrent: 1) { request, _ in
            .reply(request.url.path == "/0" ? reply.with { $0.cut = .stall(after: 1) } : reply)
        }
    }

    @Test("If the store refuses the file, the download fails, and nothing is left over")
    func storeFails() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: Self.reply)
        store.change { $0.beforeSave = { _ in throw DownloadError.unexpected("full") } }
        let id = try await bench.add { $0.retry.limit = 0 }
        #expect(await bench.ends.wait { $0[id, default: 0] >= 1 })
        #expect(bench.words(id).last?.hasPrefix("fail") == true)
        #expect(bench.folder.names().isEmpty)
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test(
        "If the store fails after the rename, the download is complete, and is saved when the store works again",
        arguments: [Self.content, Content(seed: 8, size: 1_000_000)])
    func storeFailsAtTheEnd(content: Content) async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: FaultReply(content, etag: "\"v1\""))
        store.change { trouble in
            trouble.beforeSave = { records in
                if records.contains(where: { $0.state == .completed }) { throw DownloadError.unexpected("full") }
            }
        }
        let id = try await bench.add()
        #expect(await bench.ends.wait { $0[id, default: 0] >= 1 })
        #expect(bench.words(id).last?.hasPrefix("complete") == true)
        #expect(try bench.holds("file.bin", content))
        #expect(try await bench.store.records(.ids([id])).first?.isFinishing == true)
        store.change { $0.beforeSave = nil }
        try await bench.manager.saveUnsaved()
        #expect(try await bench.store.records(.ids([id])).first?.state == .completed)
        #expect(bench.transport.requests.count == 1)
    }

    @Test("If the folder is moved away meanwhile, the download does not complete with a wrong path")
    func folderMoved() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: Self.reply)
        let folder = bench.folder
        let moved = Observed(false)
        store.change { trouble in
            trouble.beforeSave = { [weak folder] records in
                guard let folder, records.contains(where: \.isFinishing), !moved.value else { return }
                moved.update { $0 = true }
                try FileManager.default.moveItem(atPath: folder("in"), toPath: folder("out"))
            }
        }
        let id = try await bench.add { $0.destination.folder = folder("in") }
        let record = try await bench.ending(of: id)
        #expect(record.state != .completed || folder.exists("in/file.bin"))
    }
}
