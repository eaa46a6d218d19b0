import DownloadCore
import Foundation
import Synchronization

/// A bounded buffer of lines between the log and one client. The client takes all lines in the buffer at once.
final class LineBuffer: Sendable {
    private struct State {
        var bytes = Data()
        var isEnded = false
        var isQuiet = true
        /// The task that waits for lines.
        var taker: CheckedContinuation<Void, Never>?
        /// The task that waits for room.
        var filler: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    private static let capacity = AnswerWriter.pieceSize / 2

    /// Appends an event as a line, after waiting for room.
    func append(_ event: WireEvent) async throws {
        var line = try WireCoder.encode(event)
        line.append(UInt8(ascii: "\n"))
        await withCheckedContinuation { continuation in
            let isFull = state.withLock { state in
                if state.isEnded || state.bytes.count < Self.capacity { return false }
                state.filler = continuation
                return true
            }
            if !isFull { continuation.resume() }
        }
        try Task.checkCancellation()
        put(line)
    }

    /// Appends an empty line, if the buffer is empty and no event has come since the last call.
    func appendHeartbeat() {
        let isQuiet = state.withLock { state in
            defer { state.isQuiet = true }
            return state.isQuiet && state.bytes.isEmpty
        }
        if isQuiet { put(Data("\n".utf8)) }
        state.withLock { $0.isQuiet = true }
    }

    /// Waits for lines and returns all of them; nil after the end.
    func take() async -> Data? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if !state.bytes.isEmpty || state.isEnded { return true }
                    state.taker = continuation
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            close()
        }
        let (bytes, filler) = state.withLock { state in
            defer {
                state.bytes = Data()
                state.filler = nil
            }
            return (state.bytes, state.filler)
        }
        filler?.resume()
        return bytes.isEmpty ? nil : bytes
    }

    /// Ends the buffer: no more lines follow. The client can still take the lines in the buffer.
    func end() { finish(dropping: false) }

    /// Ends the buffer and drops its lines, because the client takes no more lines.
    func close() { finish(dropping: true) }

    private func put(_ line: Data) {
        let taker = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.isEnded { return nil }
            state.bytes.append(line)
            state.isQuiet = false
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume()
    }

    private func finish(dropping: Bool) {
        let waiting = state.withLock { state in
            state.isEnded = true
            if dropping { state.bytes = Data() }
            defer {
                state.taker = nil
                state.filler = nil
            }
            return [state.taker, state.filler]
        }
        for continuation in waiting { continuation?.resume() }
    }
}
