import Foundation
import Testing

/// Runs the suites within a suite side by side, so many at a time: those that start programs mostly wait.
package struct SideBySide: SuiteTrait, TestTrait, TestScoping {
    private static let turns = Turns(max(4, ProcessInfo.processInfo.activeProcessorCount * 3))

    /// The name of the suite whose suites these are.
    let name: String

    package var isRecursive: Bool { true }

    /// Around a whole suite: its time limits begin with its tests, inside.
    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite && test.name != name ? self : nil
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Self.turns.take(isUrgent: test.traits.contains { $0 is LongSuite })
        defer { Self.turns.giveBack() }
        try await function()
    }
}

extension Trait where Self == SideBySide {
    package static func sideBySide(in name: String) -> Self { Self(name: name) }
}

/// Marks a suite that takes half a minute or more. It begins before the others: if it began last, it would run alone in the
/// end.
package struct LongSuite: SuiteTrait {}

extension Trait where Self == LongSuite {
    package static var long: Self { Self() }
}
