import DownloadCore
import Foundation
import Synchronization

/// A bounded buffer of lines between the log and one client. The client takes all lines in the buffer at once.
final class LineBuffer: Sendable {
    private struct State {
        var bytes = Data()
        var isEnded = false
        var isQuiet = true
    }

    private let state = Mutex(State())
    private let (hasLines, hasRoom) = (Signal(), Signal())

    private static let capacity = AnswerWriter.pieceSize / 2

    /// Appends an event as a line, after waiting for room.
    func append(_ event: WireEvent) async throws {
        var line = try WireCoder.encode(event)
        line.append(UInt8(ascii: "\n"))
        while state.withLock({ !$0.isEnded && $0.bytes.count >= Self.capacity }) {
            try Task.checkCancellation()
            await hasRoom.wait()
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

    /// Waits for lines and returns all of them; nil after the end, or if the task is cancelled.
    func take() async -> Data? {
        while !Task.isCancelled {
            let (bytes, isEnded) = state.withLock { state in
                defer { state.bytes = Data() }
                return (state.bytes, state.isEnded)
            }
            if !bytes.isEmpty {
                hasRoom.send()
                return bytes
            }
            if isEnded { return nil }
            await hasLines.wait()
        }
        return nil
    }

    /// Ends the buffer: no more lines follow. The client can still take the lines in the buffer.
    func end() {
        state.withLock { $0.isEnded = true }
        hasLines.send()
        hasRoom.send()
    }

    private func put(_ line: Data) {
        state.withLock { state in
            if state.isEnded { return }
            state.bytes.append(line)
            state.isQuiet = false
        }
        hasLines.send()
    }
}
