import CurlTransport
import Dispatch
import DownloadCore
import DownloadTestSupport
import Foundation
import Synchronization

/// A sink that collects what it receives, and pauses or refuses the transfer as its `Behaviour` says.
final class CollectingSink: TransferSink {
    struct Record: Sendable {
        var heads: [ResponseHead] = []
        var bytes: [UInt8] = []
        /// The number of all bytes, including those that `forgets` drops.
        var count = 0
        var pieces = 0
        var pauses = 0
        var results: [TransferResult] = []
        /// The number of calls after the end.
        var late = 0

        var head: ResponseHead? { heads.first }
        var ending: TransferResult.Ending? { results.first?.ending }
    }

    struct Behaviour: Sendable {
        var head = HeadDisposition.accept
        /// Every piece whose number is a multiple of this is paused once. The transfer is then resumed from another
        /// thread.
        var pausesEvery: Int?
        /// Resumes before `.pause` is returned, so that the engine handles the resume in the same turn.
        var resumesAtOnce = false
        /// The first piece that reaches this offset is refused.
        var refusesAt: Int?
        /// Only counts bytes, for bodies that are not compared.
        var forgets = false
    }

    let record = Observed(Record())
    private let behaviour: Behaviour
    private let held = Mutex<(transfer: (any Transfer)?, resumesDue: Int)>((nil, 0))
    private let isPausing = Atomic(false)

    init(_ behaviour: Behaviour = Behaviour()) { self.behaviour = behaviour }

    /// Waits for the end, and returns nil if the end does not come in time.
    func ending(atMost limit: Duration = .seconds(45)) async -> TransferResult.Ending? {
        _ = await record.wait(atMost: limit) { !$0.results.isEmpty }
        return record.value.ending
    }

    /// From now on, resumes this transfer whenever the sink has paused it.
    func resumes(_ transfer: any Transfer) {
        let due = held.withLock { held in
            held.transfer = transfer
            return held.resumesDue
        }
        if due > 0 { transfer.resume() }
    }

    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition {
        record.update { record in
            if !record.results.isEmpty { record.late += 1 }
            record.heads.append(head)
        }
        return behaviour.head
    }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        if let every = behaviour.pausesEvery, (record.value.pieces + 1).isMultiple(of: every),
            !isPausing.exchange(true, ordering: .relaxed)
        {
            record.update { $0.pauses += 1 }
            if behaviour.resumesAtOnce { goOn() } else { DispatchQueue.global().async { [weak self] in self?.goOn() } }
            return .pause
        }
        isPausing.store(false, ordering: .relaxed)
        let piece = behaviour.forgets ? [] : Array(bytes)
        return record.update { [behaviour, count = bytes.count] record in
            if !record.results.isEmpty { record.late += 1 }
            if let limit = behaviour.refusesAt, record.bytes.count + count >= limit { return .refuse }
            record.bytes += piece
            record.count += count
            record.pieces += 1
            return .taken
        }
    }

    private func goOn() {
        let transfer = held.withLock { held in
            held.resumesDue += 1
            return held.transfer
        }
        transfer?.resume()
    }

    func transferDidFinish(_ result: TransferResult) { record.update { $0.results.append(result) } }
}

/// A transport that starts requests for a test, and is shut down at the end of the test.
final class TransportBench: Sendable {
    let transport: CurlTransport

    init(engines: Int = 1, environment: [String: String] = [:]) throws {
        transport = try CurlTransport(engines: engines, environment: environment)
    }

    deinit { transport.shutdown() }

    func start(
        _ url: String, _ sink: CollectingSink, _ change: (inout TransferRequest) -> Void = { _ in }
    ) throws -> any Transfer {
        var request = TransferRequest(url: try SourceURL.parse(url).get().url)
        change(&request)
        let transfer = transport.start(request, sink: sink)
        sink.resumes(transfer)
        return transfer
    }

    /// Runs one transfer to its end, and returns what its sink recorded.
    func run(
        _ url: String, _ behaviour: CollectingSink.Behaviour = .init(),
        _ change: (inout TransferRequest) -> Void = { _ in }
    ) async throws -> CollectingSink.Record {
        let sink = CollectingSink(behaviour)
        let transfer = try start(url, sink, change)
        _ = await sink.ending()
        withExtendedLifetime(transfer) {}
        return sink.record.value
    }
}
