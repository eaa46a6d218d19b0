import Foundation
import Testing

/// Runs the suites within a suite side by side, so many at a time: those that start programs mostly wait. One with the trait
/// ``Alone`` has the machine for itself, as far as these suites go.
package struct SideBySide: SuiteTrait, TestTrait, TestScoping {
    private static let turns = Turns(max(4, ProcessInfo.processInfo.activeProcessorCount * 2))

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
        let count = test.traits.contains { $0 is Alone } ? Self.turns.count : 1
        await Self.turns.take(count)
        defer { Self.turns.giveBack(count) }
        try await function()
    }
}

/// See ``SideBySide``. Only for a suite that measures time, or that uses what there is once on a machine; its comment says why.
package struct Alone: SuiteTrait {}

extension Trait where Self == SideBySide {
    package static func sideBySide(in name: String) -> Self { Self(name: name) }
}

extension Trait where Self == Alone {
    package static var alone: Self { Self() }
}
