import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The lines of the list of `-i`, which are read as they arrive. The list may have any length, and may be a pipe to
/// which another program is still writing.
final class InputList: Sendable {
    struct Line: Equatable, Sendable {
        let number: Int
        var text: String
        /// Whether the line is UTF-8. Other lines are refused, because dlm could not request such a URL as written.
        var isReadable = true
        var options: [Line] = []
        /// The position among the URLs of the list, counted from 0. ``ListReader`` sets it.
        var position = 0
    }

    private struct State {
        let descriptor: Int32
        var splitter = LineSplitter()
        var waiting: ArraySlice<Line> = []
        /// Whether the last waiting line may still get options from the next lines.
        var isOpen = false
        var isAtEnd = false
        /// An error that is thrown after all lines that were read before the error have been returned.
        var failure: (any Error)?

        /// The number of waiting lines whose options are all known.
        var ready: Int { waiting.count - (isOpen ? 1 : 0) }
    }

    private static let bufferSize = 1 << 16
    /// The time in milliseconds for which the last line of a pipe waits for option lines below it. Without this limit,
    /// a program that writes one URL and waits for the file would wait forever.
    private static let patience: Int32 = 1000

    let name: String
    private let state: Mutex<State>
    /// Returns the reason why the list is incomplete, at the end of the input; nil if it is complete.
    private let failure: @Sendable () -> (any Error)?
    private let isCancelled = Atomic(false)

    /// Opens a list. The path `-` is standard input.
    convenience init(path: String) throws(DownloadError) {
        let descriptor = path == "-" ? STDIN_FILENO : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw .fileFailed(.system(operation: "open", errno: errno), path: path) }
        self.init(descriptor: descriptor, name: Self.name(path)) { nil }
    }

    /// Creates a list from an open descriptor, which is closed at the end.
    init(descriptor: Int32, name: String, failure: @escaping @Sendable () -> (any Error)?) {
        self.name = name
        self.failure = failure
        state = Mutex(State(descriptor: descriptor))
    }

    deinit {
        let (descriptor, isAtEnd) = state.withLock { ($0.descriptor, $0.isAtEnd) }
        if !isAtEnd, descriptor != STDIN_FILENO { close(descriptor) }
    }

    static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

    /// Returns at least one line and at most `limit` lines, or nil at the end. Waiting for a pipe blocks a separate
    /// thread instead of the downloads, and ends with a `CancellationError` if the task is cancelled.
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

    private static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, milliseconds) > 0
    }

    /// Adds lines. A line with an option belongs to the URL above it. If that URL was already returned, or if there is
    /// no URL above, the option becomes a separate line.
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
            // If the list was cut short, a last line without a line break may be only the beginning of a URL.
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
