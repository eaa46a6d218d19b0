import Foundation
import Testing

/// Gives random inputs to a parser. In `make test` there are usually 200 inputs, and they are always the same. In
/// `make fuzz` they differ each time, and there are as many as fit into `$DLM_FUZZ_SECONDS`. `$DLM_TEST_SEED` repeats a
/// run.
package struct Fuzzing: Sendable {
    package let name: String
    private let corpus: [String]
    private let words: [String]

    /// The seconds for each parser. Nil means the short run of `make test`.
    package static let seconds = number("DLM_FUZZ_SECONDS").map { Double($0) }
    private static let seed = number("DLM_TEST_SEED") ?? (seconds == nil ? 1 : UInt64.random(in: 1...1_000_000_000))
    private static let shortRun = 200

    /// - Parameters:
    ///   - name: one word for the parser.
    ///   - corpus: valid inputs, and odd inputs that once failed.
    ///   - words: the elements of the syntax.
    package init(_ name: String, corpus: [String], words: [String] = []) {
        self.name = name
        self.corpus = corpus
        self.words = words
    }

    /// Checks the property on each input until an input breaks it. Then that input is made shorter.
    /// - Parameter property: returns what is wrong, or nil.
    package func run(
        scale: Double = 1, sourceLocation: SourceLocation = #_sourceLocation, _ property: ([UInt8]) -> String?
    ) {
        var run = Run(self, scale)
        while let input = run.next() {
            var complaint: String?
            let time = Self.processorTime { complaint = property(input) }
            if time > .seconds(5) { return report(input, { _ in "took \(time)" }, sourceLocation) }
            if complaint != nil { return report(shortened(input, property), property, sourceLocation) }
        }
        run.end()
    }

    /// Checks an asynchronous property in the same way.
    package func run(
        scale: Double = 1, sourceLocation: SourceLocation = #_sourceLocation,
        isolation: isolated (any Actor)? = #isolation, _ property: ([UInt8]) async throws -> String?
    ) async throws {
        var run = Run(self, scale)
        while let input = run.next() {
            if let complaint = try await property(input) {
                return report(input, { _ in complaint }, sourceLocation)
            }
        }
        run.end()
    }

    /// Checks that reading takes time in proportion to the length of the input. In `make fuzz`, an input of twice the
    /// length may take 2.5 times as long. `make test` compares no times. It reads one long input, which must take less
    /// than 10 seconds. If the time grew with the square of the length, this would take minutes.
    /// - Parameter prefixes: texts that the repeated patterns may follow, such as the beginning of a URL.
    package func runsInLinearTime(
        after prefixes: [String] = [""], sourceLocation: SourceLocation = #_sourceLocation, _ body: ([UInt8]) -> Void
    ) {
        let patterns = (words + corpus).map { Array($0.utf8.prefix(64)) }.filter { !$0.isEmpty }
        for prefix in prefixes {
            for pattern in Self.seconds == nil ? patterns.prefix(1) : patterns[...] {
                func input(_ length: Int) -> [UInt8] {
                    Array(prefix.utf8) + repeatElement(pattern, count: length / pattern.count).joined()
                }
                if Self.seconds == nil {
                    let time = Self.processorTime { body(input(Self.longInput)) }
                    #expect(time < .seconds(10), "\(name): \(text(pattern)): \(time)", sourceLocation: sourceLocation)
                    continue
                }
                func time(_ length: Int) -> Duration {
                    let input = input(length)
                    return (0..<3).map { _ in Self.processorTime { body(input) } }.min() ?? .zero
                }
                let (half, whole) = (time(Self.longInput / 2), time(Self.longInput))
                // Times of a few milliseconds cannot be measured well.
                #expect(
                    whole < half * 2.5 + .milliseconds(25),
                    "\(name): \(text(pattern)) after \(prefix): half \(half), whole \(whole)",
                    sourceLocation: sourceLocation)
            }
        }
    }

    private static let longInput = 64 << 10

    /// Returns the processor time of this thread, so that other work at the same time does not count.
    private static func processorTime(_ body: () -> Void) -> Duration {
        func now() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        let begin = now()
        body()
        return now() - begin
    }

    private func report(_ input: [UInt8], _ property: ([UInt8]) -> String?, _ location: SourceLocation) {
        let complaint = property(input) ?? "not again"
        Issue.record("\(name), seed \(Self.seed): \(complaint): \(text(input))", sourceLocation: location)
    }

    private func text(_ input: [UInt8]) -> String {
        let text = String(validating: input, as: UTF8.self).map(\.debugDescription) ?? "\(input)"
        return String(text.prefix(2000))
    }

    /// Returns the input without the parts that the failure does not need. Takes about 10 seconds at most.
    private func shortened(_ input: [UInt8], _ property: ([UInt8]) -> String?) -> [UInt8] {
        var input = input
        var size = input.count / 2
        let deadline = ContinuousClock.now + .seconds(10)
        while size > 0 {
            var start = 0
            while start < input.count, ContinuousClock.now < deadline {
                var shorter = input
                shorter.removeSubrange(start..<min(input.count, start + size))
                if property(shorter) != nil { input = shorter } else { start += size }
            }
            size /= 2
        }
        return input
    }

    private static func number(_ variable: String) -> UInt64? {
        ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) }
    }

    /// The inputs of one run.
    private struct Run {
        private let name: String
        private var mutator: Mutator
        private var count = 0
        private let limit: Int
        private let begin = ContinuousClock.now
        /// The descriptor of a file with the current input, which remains after a crash. -1 means that no file is
        /// written.
        private let note: Int32

        init(_ fuzzing: Fuzzing, _ scale: Double) {
            name = fuzzing.name
            let salt = fuzzing.name.utf8.reduce(Fuzzing.seed) { $0 &* 31 &+ UInt64($1) }
            mutator = Mutator(corpus: fuzzing.corpus, words: fuzzing.words, seed: salt)
            limit = Fuzzing.seconds == nil ? Int(Double(Fuzzing.shortRun) * scale) : .max
            let folder = ProcessInfo.processInfo.environment["DLM_FUZZ_NOTES"]
            let path = folder.map { "\($0)/\(fuzzing.name.replacing("/", with: "-").replacing(" ", with: "-"))" }
            note = path.map { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) } ?? -1
        }

        mutating func next() -> [UInt8]? {
            if let seconds = Fuzzing.seconds, ContinuousClock.now - begin > .seconds(seconds) { return nil }
            if count >= limit { return nil }
            count += 1
            let input = mutator.next()
            if note >= 0 {
                _ = input.withUnsafeBytes { pwrite(note, $0.baseAddress, $0.count, 0) }
                ftruncate(note, off_t(input.count))
            }
            return input
        }

        func end() {
            if note >= 0 { close(note) }
            if Fuzzing.seconds != nil { print("\(name): \(count) inputs in \(ContinuousClock.now - begin)") }
        }
    }
}
