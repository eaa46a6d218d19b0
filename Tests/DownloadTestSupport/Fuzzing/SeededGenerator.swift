import Foundation

/// Random numbers that a failed test can be repeated with: `$DLM_TEST_SEED`, else a new seed, printed.
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
