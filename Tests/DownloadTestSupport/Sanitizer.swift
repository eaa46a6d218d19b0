import Foundation

/// Whether these tests run under AddressSanitizer or ThreadSanitizer (`make sanitize`).
package enum Sanitizer {
    private static let names: Set = ["ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"]

    /// The environment variables with the places for the report of a sanitizer or the counters of `make coverage`.
    /// There are usually none.
    package static let environment = ProcessInfo.processInfo.environment.filter { name, _ in
        names.contains(name) || name == "LLVM_PROFILE_FILE"
    }

    /// Whether a sanitizer is used. Programs then take several times the memory and the time, so neither is measured.
    package static var isOn: Bool { environment.keys.contains { names.contains($0) } }
}
