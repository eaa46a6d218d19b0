import Foundation

/// Random numbers that can be repeated after a failed test. The seed is `$DLM_TEST_SEED`, or else a new one, which is
/// printed.
package struct SeededGenerator: RandomNumberGenerator {
    private var numbers: SplitMix64

    package init(for test: String) {
        let given = ProcessInfo.processInfo.environment["DLM_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 1...UInt64(UInt32.max))
        numbers = SplitMix64(seed: seed)
        print("\(test): DLM_TEST_SEED=\(seed)")
    }

    package mutating func next() -> UInt64 { numbers.next() }
}
