import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The lines of `-i`, read as they come. The list may have any length, or be a pipe that is still being written.
final class InputList: Sendable {
    struct Line: Equatable, Sendable {
        let number: Int
        var text: String
        /// Whether the line is UTF-8. Other bytes could not be requested as they were written.
        var isReadable = true
        /// The lines of options below this line.
        var options: [Line] = []
        /// The position among the URLs of the list, counted from 0. Set by ``ListReader``.
        var position = 0
    }

    private struct State {
        let descriptor: Int32
        var splitter = LineSplitter()
        var waiting: ArraySlice<Line> = []
        /// Whether the last waiting line may still get options from the next lines.
        var isOpen = false
        var isAtEnd = false
        /// An error, which is thrown after the lines before it were returned.
        var failure: (any Error)?

        /// The number of waiting lines whose options are all known.
        var ready: Int { waiting.count - (isOpen ? 1 : 0) }
    }

    private static let bufferSize = 1 << 16
    /// The time for which the last line of a pipe waits for its options, in milliseconds. A program that writes one URL
    /// and waits for its file must get the file.
    private static let patience: Int32 = 1000

    let name: String
    private let state: Mutex<State>
    /// Returns why the list is incomplete, if it is. Called at the end of the input.
    private let failure: @Sendable () -> (any Error)?
    private let isCancelled = Atomic(false)

    /// Opens a list.
    /// - Parameter path: The path of the list. `-` is standard input.
    init(path: String) throws(DownloadError) {
        name = Self.name(path)
        let descriptor = path == "-" ? STDIN_FILENO : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw .fileFailed(.system(operation: "open", errno: errno), path: path) }
        state = Mutex(State(descriptor: descriptor))
        failure = { nil }
    }

    /// Creates a list from an open descriptor.
    /// - Parameter descriptor: The descriptor, which is closed at the end.
    init(descriptor: Int32, name: String, failure: @escaping @Sendable () -> (any Error)?) {
        self.name = name
        self.failure = failure
        state = Mutex(State(descriptor: descriptor))
    }

    deinit {
        let (descriptor, isAtEnd) = state.withLock { ($0.descriptor, $0.isAtEnd) }
        if !isAtEnd, descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// Returns the name of a list in messages.
    static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

    /// Returns at least one line and at most `limit` lines, or nil at the end. The wait for a pipe blocks a thread of
    /// its own, not the downloads.
    /// - Throws: `CancellationError` if the task is cancelled while it waits for a pipe.
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

    /// Returns whether the descriptor becomes readable within a time. So lines from a pipe are not kept back for long.
    private static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, milliseconds) > 0
    }

    /// Adds lines. Options belong to the line above them. If that line was returned already, or there is none, they are
    /// a line of their own.
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

    /// The time after which a cancelled wait for a pipe ends, in milliseconds.
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
