import DownloadCore
import Foundation
import Synchronization

/// The lines of a response that does not end, for one reader. The reader gets each line as soon as it is complete. The
/// transfer is suspended while the reader does not take the lines.
final class LineSink: TransferSink {
    typealias Failure = Exchange.Failure

    private struct State {
        var head: ResponseHead?
        var bytes = Data()
        /// The whole lines that were split off `bytes`.
        var lines: ArraySlice<Data> = []
        var ending: TransferResult.Ending?
        var transfer: (any Transfer)?
        var isPaused = false
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let changed = Signal()

    /// The number of waiting bytes at which the transfer is suspended. A line of this length is too long.
    private static let capacity = 1 << 20

    func begin(_ transfer: any Transfer) {
        let isLate = state.withLock { state in
            if state.ending == nil { state.transfer = transfer }
            return state.isCancelled
        }
        if isLate { transfer.cancel() }
    }

    func cancel() {
        let transfer = state.withLock { state in
            state.isCancelled = true
            return state.transfer
        }
        transfer?.cancel()
    }

    /// Waits for the head of the response.
    /// - Throws: ``Failure`` if the transfer ended before the head came.
    func head() async throws -> ResponseHead {
        try await wait { state in
            if let head = state.head { return .success(head) }
            return state.ending.map { .failure(Self.failure($0) ?? .transfer(.unexpected("no answer"))) }
        }
    }

    /// Returns the next line, without its line break; nil if the response is complete.
    func next() async throws -> Data? {
        try await wait { state in
            if let line = Self.takeLine(&state) { return .success(line) }
            if state.bytes.count >= Self.capacity { return .failure(.tooLarge) }
            return state.ending.map { ending in Self.failure(ending).map { .failure($0) } ?? .success(nil) }
        }
    }

    /// Returns the body of a response that is not a stream, without its line breaks. Throws ``Failure/tooLarge`` if
    /// its complete lines together are longer than a line may be.
    func rest() async throws -> Data {
        var all = Data()
        while let line = try await next() {
            all.append(line)
            if all.count > Self.capacity { throw Failure.tooLarge }
        }
        return all + state.withLock(\.bytes)
    }

    private static func takeLine(_ state: inout State) -> Data? {
        if state.lines.isEmpty, let end = state.bytes.lastIndex(of: UInt8(ascii: "\n")) {
            state.lines =
                state.bytes[..<end].split(
                    separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
            state.bytes = Data(state.bytes[(end + 1)...])
        }
        return state.lines.popFirst()
    }

    private static func failure(_ ending: TransferResult.Ending) -> Failure? {
        switch ending {
        case .complete: nil
        case .failed(let error): .transfer(error)
        case .refused, .cancelled: .cancelled
        }
    }

    private func wait<Value: Sendable>(
        _ look: @Sendable (inout State) -> Result<Value, Failure>?
    ) async throws -> Value {
        while true {
            let (result, paused, isCancelled) = state.withLock { state in
                let result = look(&state)
                let hasRoom = state.isPaused && state.bytes.count < Self.capacity && state.lines.isEmpty
                if hasRoom { state.isPaused = false }
                return (result, hasRoom ? state.transfer : nil, state.isCancelled)
            }
            paused?.resume()
            if let result { return try result.get() }
            try Task.checkCancellation()
            if isCancelled { throw Failure.cancelled }
            await withTaskCancellationHandler {
                await changed.wait()
            } onCancel: {
                cancel()
            }
        }
    }

    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition {
        state.withLock { $0.head = head }
        changed.send()
        return .accept
    }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        defer { changed.send() }
        return state.withLock { state in
            guard state.bytes.count < Self.capacity, state.lines.isEmpty else {
                state.isPaused = true
                return .pause
            }
            state.bytes.append(contentsOf: bytes)
            return .taken
        }
    }

    func transferDidFinish(_ result: TransferResult) {
        state.withLock { ($0.ending, $0.transfer) = (result.ending, nil) }
        changed.send()
    }
}
