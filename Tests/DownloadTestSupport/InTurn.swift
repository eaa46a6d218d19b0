import Foundation
import Testing

/// A trait of tests that begin when few others run. Swift Testing starts all tests of all suites at once, and their
/// time limits begin then. A test of a millisecond could wait a minute for one of the few threads. All cases of a test
/// begin together, so a suite of tests that compute is also `.serialized`.
package struct InTurn: SuiteTrait, TestTrait, TestScoping {
    private static let turns = Turns(ProcessInfo.processInfo.activeProcessorCount * 2)

    package var isRecursive: Bool { true }

    /// The scope is around all cases of a test. The time limit begins with each case, inside of the scope.
    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite || testCase != nil ? nil : self
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Self.turns.take()
        defer { Self.turns.giveBack() }
        try await function()
    }
}

extension Trait where Self == InTurn {
    /// Each test of the suite waits for its turn before it begins.
    package static var inTurn: Self { Self() }
}
