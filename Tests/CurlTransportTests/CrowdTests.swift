import CurlTransport
import Dispatch
import DownloadCore
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

/// Many transfers on many threads. They also end at awkward moments.
@Suite("CurlTransport: many transfers", .inTurn, .timeLimit(.minutes(2)), .serialized)
struct CrowdTests {
    @Test("Three hundred concurrent transfers all complete", arguments: [1, 3])
    func threeHundred(engines: Int) async throws {
        let server = try FaultServer { request in
            let number = Int(request.target.dropFirst()) ?? 0
            return FaultReply(Content(seed: UInt64(number), size: 20_000 + Int64(number)))
        }
        let bench = try TransportBench(engines: engines)
        let sinks = try (0..<300).map { number in
            let sink = CollectingSink(.init(pausesEvery: number.isMultiple(of: 3) ? 2 : nil))
            _ = try bench.start(server.url("/\(number)"), sink)
            return sink
        }
        for (number, sink) in sinks.enumerated() {
            #expect(await sink.ending() == .complete)
            let content = Content(seed: UInt64(number), size: 20_000 + Int64(number))
            #expect(sink.record.value.bytes == content.bytes(0..<content.size))
        }
    }

    @Test("130 slow transfers from one server all run at once, and none times out in a queue")
    func manyFromOneServer() async throws {
        let server = try FaultServer { _ in
            FaultReply(Content(seed: 1, size: 100_000)).with { $0.bytesPerSecond = 50_000 }
        }
        let bench = try TransportBench()
        let sinks = try (0..<130).map { _ in
            let sink = CollectingSink(.init(forgets: true))
            _ = try bench.start(server.url(), sink) { $0.options.connectTimeout = 1 }
            return sink
        }
        for sink in sinks { #expect(await sink.ending() == .complete) }
        #expect(server.log.peakConnections == 130)
    }

    @Test("A cancelled transfer ends exactly once, as cancelled, in whatever phase it is")
    func cancel() async throws {
        let server = try FaultServer { request in
            FaultReply(Content(seed: 1, size: 1_000_000)).with {
                $0.cut = request.target == "/head" ? .stall(after: 0) : .stall(after: 500_000)
            }
        }
        let bench = try TransportBench()
        let atOnce = CollectingSink()
        try bench.start(server.url(), atOnce).cancel()
        #expect(await atOnce.ending() == .cancelled)

        let inBody = CollectingSink()
        let body = try bench.start(server.url(), inBody)
        #expect(await inBody.record.wait { $0.bytes.count == 500_000 })
        body.cancel()
        #expect(await inBody.ending() == .cancelled)

        let paused = CollectingSink(.init(pausesEvery: 2))
        let held = bench.transport.start(
            TransferRequest(url: try SourceURL.parse(server.url()).get().url), sink: paused)
        #expect(await paused.record.wait { $0.pauses == 1 })
        held.cancel()
        #expect(await paused.ending() == .cancelled)
        held.cancel()
        held.resume()

        let resolving = CollectingSink()
        let name = try bench.start("http://no-such-host-\(UInt32.random(in: 0 ... .max)).invalid/", resolving)
        let begun = ContinuousClock.now
        name.cancel()
        #expect(await resolving.ending() != nil)
        // The cancelled transfer does not wait until the resolver gives up.
        #expect(ContinuousClock.now - begun < promised(within: .seconds(4)))
        for sink in [atOnce, inBody, paused, resolving] {
            #expect(sink.record.value.results.count == 1)
            #expect(sink.record.value.late == 0)
        }
    }

    @Test("With starts and cancels from several threads, each transfer ends once, and no call follows its end")
    func races() async throws {
        let server = try FaultServer { request in
            FaultReply(Content(seed: 1, size: Int64(1 + request.number % 50 * 2000)))
        }
        let bench = try TransportBench(engines: 2)
        let transport = bench.transport
        let url = try SourceURL.parse(server.url()).get().url
        let sinks = await withTaskGroup(of: [CollectingSink].self) { group in
            for thread in 0..<8 {
                group.addTask {
                    var random = SystemRandomNumberGenerator()
                    return (0..<150).map { number in
                        let sink = CollectingSink(.init(pausesEvery: number.isMultiple(of: 4) ? 2 : nil, forgets: true))
                        var request = TransferRequest(url: url)
                        request.prefersMultiplexing = thread.isMultiple(of: 2)
                        let transfer = transport.start(request, sink: sink)
                        sink.resumes(transfer)
                        if number.isMultiple(of: 2) {
                            DispatchQueue.global().asyncAfter(
                                deadline: .now() + .microseconds(Int.random(in: 0...3000, using: &random))
                            ) { transfer.cancel() }
                        }
                        return sink
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for sink in sinks {
            let ending = try #require(await sink.ending())
            #expect([.complete, .cancelled].contains(ending))
        }
        transport.shutdown()
        #expect(sinks.allSatisfy { $0.record.value.results.count == 1 && $0.record.value.late == 0 })
    }

    @Test("A shutdown cancels the transfers that run and those not yet started, and returns soon", arguments: [1, 3])
    func shutdown(engines: Int) async throws {
        let server = try FaultServer { _ in
            FaultReply(Content(seed: 1, size: 1_000_000)).with { $0.cut = .stall(after: 300_000) }
        }
        let bench = try TransportBench(engines: engines)
        let running = try (0..<40).map { _ in
            let sink = CollectingSink()
            _ = try bench.start(server.url(), sink)
            return sink
        }
        for sink in running { #expect(await sink.record.wait { $0.bytes.count == 300_000 }) }
        let starting = try (0..<40).map { _ in
            let sink = CollectingSink()
            _ = try bench.start(server.url(), sink)
            return sink
        }
        let begun = ContinuousClock.now
        bench.transport.shutdown()
        #expect(ContinuousClock.now - begun < promised(within: .seconds(2)))
        for sink in running + starting { #expect(sink.record.value.results.map(\.ending) == [.cancelled]) }
        let late = CollectingSink()
        let transfer = try bench.start(server.url(), late)
        #expect(late.record.value.results.map(\.ending) == [.cancelled])
        transfer.cancel()
        transfer.resume()
    }

    @Test("Every transfer ends if a shutdown comes while other threads start and cancel")
    func shutdownRaces() async throws {
        let server = try FaultServer.serving(Content(seed: 1, size: 30_000))
        for _ in 0..<30 {
            let bench = try TransportBench()
            let transport = bench.transport
            let url = try SourceURL.parse(server.url()).get().url
            let sinks = await withTaskGroup(of: [CollectingSink].self) { group in
                for thread in 0..<4 {
                    group.addTask {
                        (0..<20).map { number in
                            let sink = CollectingSink(.init(forgets: true))
                            let transfer = transport.start(TransferRequest(url: url), sink: sink)
                            if number.isMultiple(of: 5) { transfer.cancel() }
                            if thread == 0, number == 10 { transport.shutdown() }
                            return sink
                        }
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            for sink in sinks { #expect(await sink.ending() != nil) }
        }
    }

    @Test("The transport releases a sink at the end of its transfer, even if the handle is kept")
    func letsGo() async throws {
        let server = try FaultServer.serving(Content(seed: 1, size: 1000))
        let bench = try TransportBench()
        weak var forgotten: CollectingSink?
        var transfer: (any Transfer)?
        do {
            let sink = CollectingSink()
            forgotten = sink
            transfer = bench.transport.start(
                TransferRequest(url: try SourceURL.parse(server.url()).get().url), sink: sink)
            #expect(await sink.ending() == .complete)
        }
        bench.transport.shutdown()
        #expect(forgotten == nil)
        _ = transfer
    }
}
