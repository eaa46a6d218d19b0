import Foundation
import Testing

/// Lets tests begin only while few other tests run. Swift Testing starts all tests of all suites at once, and a time
/// limit counts from this start. A test that takes a millisecond could wait a minute for one of the few threads. All
/// cases of a test begin together, so a suite whose tests need much processor time is also `.serialized`.
package struct InTurn: SuiteTrait, TestTrait, TestScoping {
    private static let turns = Turns(ProcessInfo.processInfo.activeProcessorCount * 2)

    package var isRecursive: Bool { true }

    /// Returns a scope around all cases of a test. The time limit of each case is inside, so it begins with the case.
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
    /// Makes each test of the suite wait for its turn before it begins.
    package static var inTurn: Self { Self() }
}
