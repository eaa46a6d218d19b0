import Foundation
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
        defer { Self.turns.giveBack() }
        try await function()
    }
}

extension Trait where Self == InTurn {
    /// Each test of the suite waits for its turn before it begins.
    package static var inTurn: Self { Self() }
}
