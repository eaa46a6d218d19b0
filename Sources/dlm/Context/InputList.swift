import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The lines of `-i`, read as they come: a list of any length, or a pipe that is still being written.
final class InputList: Sendable {
    struct Line: Equatable, Sendable {
        let number: Int
        let text: String
        /// False when its bytes are no UTF-8: they would not be asked for as they were written.
        var isReadable = true
    }

    private struct State {
        let descriptor: Int32
        var splitter = LineSplitter()
        var waiting: ArraySlice<Line> = []
        var isAtEnd = false
        /// Told once the lines before it are through.
        var failure: (any Error)?
    }

    private static let bufferSize = 1 << 16

    private let name: String
    private let state: Mutex<State>

    /// - Parameter path: `-` is standard input.
    init(path: String) throws(DownloadError) {
        name = path == "-" ? "standard input" : path
        let descriptor = path == "-" ? STDIN_FILENO : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw .fileFailed(.system(operation: "open", errno: errno), path: path) }
        state = Mutex(State(descriptor: descriptor))
    }

    /// At least one line, at most `limit`; nil at the end. Waiting for a pipe holds up a thread of its own, not the
    /// downloads.
    func next(_ limit: Int) async throws -> [Line]? {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [self] in
                continuation.resume(with: Result { try read(limit) })
            }
        }
    }

    private func read(_ limit: Int) throws -> [Line]? {
        try state.withLock { state in
            while state.waiting.count < limit, !state.isAtEnd, state.failure == nil,
                state.waiting.isEmpty || Self.isReadable(state.descriptor)
            {
                do { try fill(&state) } catch { state.failure = error }
            }
            if state.waiting.isEmpty, let failure = state.failure { throw failure }
            let lines = Array(state.waiting.prefix(limit))
            state.waiting = state.waiting.dropFirst(limit)
            return lines.isEmpty ? nil : lines
        }
    }

    /// Without waiting: what a pipe has brought so far is not held back.
    private static func isReadable(_ descriptor: Int32) -> Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, 0) > 0
    }

    private func fill(_ state: inout State) throws {
        let descriptor = state.descriptor
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
            state.waiting += state.splitter.end()
            if state.descriptor != STDIN_FILENO { close(state.descriptor) }
        } else {
            state.waiting += state.splitter.split(bytes)
            if let number = state.splitter.overlong {
                throw DownloadError.requestInvalid(.malformedURL("\(name): line \(number), longer than 8 MiB"))
            }
        }
    }
}

/// Cuts bytes into numbered lines, and drops blank ones and `#` comments. Pure.
struct LineSplitter {
    private var rest: [UInt8] = []
    private var number = 0

    /// Bytes; a line without end (of a file that is no list) must not fill the memory.
    private static let longest = 8 << 20

    /// The number of the line that is being read, when it is too long to be one.
    var overlong: Int? { rest.count > Self.longest ? number + 1 : nil }

    mutating func split(_ bytes: [UInt8]) -> [InputList.Line] {
        var lines: [InputList.Line] = []
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if rest.isEmpty {
                append(bytes[start..<end], to: &lines)
            } else {
                append((rest + bytes[start..<end])[...], to: &lines)
                rest = []
            }
            start = end + 1
        }
        rest += bytes[start...]
        return lines
    }

    /// The last line may lack its line break.
    mutating func end() -> [InputList.Line] {
        var lines: [InputList.Line] = []
        if !rest.isEmpty { append(rest[...], to: &lines) }
        rest = []
        return lines
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>, to lines: inout [InputList.Line]) {
        number += 1
        if let first = bytes.first, Self.isLetter(first), bytes.allSatisfy(Self.isVisible) {
            return lines.append(InputList.Line(number: number, text: String(decoding: bytes, as: UTF8.self)))
        }
        let decoded = String(validating: bytes, as: UTF8.self)
        var text = decoded ?? String(decoding: bytes, as: UTF8.self)
        if number == 1, text.hasPrefix("\u{FEFF}") { text.removeFirst() }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        let start = text.drop(while: \.isWhitespace)
        if !start.isEmpty, start.first != "#" {
            lines.append(InputList.Line(number: number, text: text, isReadable: decoded != nil))
        }
    }

    /// Most lines begin so and are of such bytes only: nothing to cut off, and no comment.
    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    private static func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }
}
