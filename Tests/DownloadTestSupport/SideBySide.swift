import Foundation
import Testing

/// Runs the suites of a suite at the same time, up to a limit. The limit is above the number of cores, because suites
/// that start programs mostly wait.
package struct SideBySide: SuiteTrait, TestTrait, TestScoping {
    private static let turns = Turns(max(4, ProcessInfo.processInfo.activeProcessorCount * 3))

    /// The name of the suite that contains these suites.
    let name: String

    package var isRecursive: Bool { true }

    /// Returns a scope around a whole suite. The time limits of the suite are inside, so they begin with its tests.
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

/// Marks a suite that takes half a minute or more. Such a suite begins before the others. If it began last, it would
/// run alone at the end.
package struct LongSuite: SuiteTrait {}

extension Trait where Self == LongSuite {
    package static var long: Self { Self() }
}
