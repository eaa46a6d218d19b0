import Foundation

/// Whether these tests run under AddressSanitizer or ThreadSanitizer (`make sanitize`).
package enum Sanitizer {
    private static let names: Set = ["ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"]

    /// The variables that tell a program where to write a sanitizer's report, or the counters of `make coverage`.
    /// Usually there are none.
    package static let environment = ProcessInfo.processInfo.environment.filter { name, _ in
        names.contains(name) || name == "LLVM_PROFILE_FILE"
    }

    /// Whether a sanitizer is on. Then programs need several times the memory and the time, so neither is measured.
    package static var isOn: Bool { environment.keys.contains { names.contains($0) } }
}
