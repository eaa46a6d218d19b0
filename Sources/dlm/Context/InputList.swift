import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The lines of `-i`, read as they come: a list of any length, or a pipe that is still being written.
final class InputList: Sendable {
    struct Line: Equatable, Sendable {
        let number: Int
        var text: String
        /// False when its bytes are no UTF-8: they would not be asked for as they were written.
        var isReadable = true
        /// The lines below it that are about it.
        var options: [Line] = []
        /// Among the URLs of the list, from 0; set by ``ListReader``.
        var position = 0
    }

    private struct State {
        let descriptor: Int32
        var splitter = LineSplitter()
        var waiting: ArraySlice<Line> = []
        /// The last of those waiting may have options in lines that are still to come.
        var isOpen = false
        var isAtEnd = false
        /// Told once the lines before it are through.
        var failure: (any Error)?

        /// Lines whose options are all known.
        var ready: Int { waiting.count - (isOpen ? 1 : 0) }
    }

    private static let bufferSize = 1 << 16
    /// Milliseconds that the last line of a pipe waits for its options; who writes a URL alone and waits for its file
    /// must get it.
    private static let patience: Int32 = 1000

    let name: String
    private let state: Mutex<State>
    /// Why what came is not the whole list; asked at the end of what came.
    private let failure: @Sendable () -> (any Error)?
    private let isCancelled = Atomic(false)

    /// - Parameter path: `-` is standard input.
    init(path: String) throws(DownloadError) {
        name = Self.name(path)
        let descriptor = path == "-" ? STDIN_FILENO : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw .fileFailed(.system(operation: "open", errno: errno), path: path) }
        state = Mutex(State(descriptor: descriptor))
        failure = { nil }
    }

    /// - Parameter descriptor: is closed at the end.
    init(descriptor: Int32, name: String, failure: @escaping @Sendable () -> (any Error)?) {
        self.name = name
        self.failure = failure
        state = Mutex(State(descriptor: descriptor))
    }

    deinit {
        let (descriptor, isAtEnd) = state.withLock { ($0.descriptor, $0.isAtEnd) }
        if !isAtEnd, descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// In messages.
    static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

    /// At least one line, at most `limit`; nil at the end. Waiting for a pipe holds up a thread of its own, not the
    /// downloads.
    /// - Throws: `CancellationError` when the task is cancelled while it waits for a pipe.
    func next(_ limit: Int) async throws -> [Line]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { [self] in
                    continuation.resume(with: Result { try read(limit) })
                }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
    }

    private func read(_ limit: Int) throws -> [Line]? {
        try state.withLock { state in
            while state.ready < limit, !state.isAtEnd, state.failure == nil,
                state.waiting.isEmpty || Self.isReadable(state.descriptor, within: state.ready > 0 ? 0 : Self.patience)
            {
                do { try fill(&state) } catch { state.failure = error }
            }
            if state.ready == 0 || state.failure != nil { state.isOpen = false }
            if state.waiting.isEmpty, let failure = state.failure { throw failure }
            let count = min(limit, state.ready)
            let lines = Array(state.waiting.prefix(count))
            state.waiting = state.waiting.dropFirst(count)
            return lines.isEmpty ? nil : lines
        }
    }

    /// What a pipe has brought so far is not held back for long.
    private static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, milliseconds) > 0
    }

    /// Options belong to the line above them, unless that has been given out; then, and without one, they stand alone.
    private static func take(_ lines: [Line], _ state: inout State) {
        for line in lines {
            let isOption = OptionText.isOption(line.text)
            if isOption, state.isOpen {
                state.waiting[state.waiting.endIndex - 1].options.append(line)
            } else {
                state.waiting.append(line)
                state.isOpen = !isOption
            }
        }
    }

    /// Milliseconds after which a cancelled wait for a pipe ends.
    private static let cancellationLatency: Int32 = 200

    private func fill(_ state: inout State) throws {
        let descriptor = state.descriptor
        while !Self.isReadable(descriptor, within: Self.cancellationLatency) {
            if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
        }
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.bufferSize) { buffer, count in
            let got = Glibc.read(descriptor, buffer.baseAddress, Self.bufferSize)
            failure = got < 0 ? errno : 0
            count = max(0, got)
        }
        if failure == EINTR { return }
        if failure != 0 { throw DownloadError.fileFailed(.system(operation: "read", errno: failure), path: name) }
        if bytes.isEmpty {
            state.isAtEnd = true
            state.failure = self.failure()
            // A line without a line break at the end of a list that was cut short may be the beginning of a longer URL.
            let last = state.splitter.end()
            if state.failure == nil { Self.take(last, &state) }
            state.isOpen = false
            if state.descriptor != STDIN_FILENO { close(state.descriptor) }
        } else {
            Self.take(state.splitter.split(bytes), &state)
            if state.splitter.isWithinURL { state.isOpen = false }
            if let number = state.splitter.overlong {
                throw DownloadError.requestInvalid(.malformedURL("\(name): line \(number), longer than 8 MiB"))
            }
        }
    }
}
