import Foundation
import Synchronization
import Testing

/// Tests that begin when few others run. Swift Testing starts all tests of all suites at once, and a time limit counts from
/// there: a test that takes a millisecond would wait a minute for its turn on the few threads that there are. The cases
/// of a test begin together: a suite of tests that compute is `.serialized`, too.
package struct InTurn: SuiteTrait, TestTrait, TestScoping {
    private static let turns = Turns(ProcessInfo.processInfo.activeProcessorCount * 2)

    package var isRecursive: Bool { true }

    /// Around all cases of a test: a time limit begins with each of them, inside.
    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite || testCase != nil ? nil : self
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Self.turns.take()
        defer { Self.turns.pass() }
        try await function()
    }
}

extension Trait where Self == InTurn {
    /// Each test of the suite waits for its turn before it begins.
    package static var inTurn: Self { Self() }
}

/// So many at a time; the others wait in the order in which they came.
private final class Turns: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func pass() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
