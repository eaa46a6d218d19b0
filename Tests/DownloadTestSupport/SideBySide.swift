import Foundation
import Testing

/// A trait that runs the suites within a suite in parallel, a certain number at a time. Suites that start programs
/// mostly wait.
package struct SideBySide: SuiteTrait, TestTrait, TestScoping {
    private static let turns = Turns(max(4, ProcessInfo.processInfo.activeProcessorCount * 3))

    /// The name of the outer suite.
    let name: String

    package var isRecursive: Bool { true }

    /// The scope is around a whole suite. Time limits begin with its tests, inside of the scope.
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

/// A mark for a suite that takes half a minute or more. It begins before the others, because otherwise it would run
/// alone at the end.
package struct LongSuite: SuiteTrait {}

extension Trait where Self == LongSuite {
    package static var long: Self { Self() }
}
