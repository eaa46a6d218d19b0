import Foundation

/// Whether these tests run under AddressSanitizer or ThreadSanitizer (`make sanitize`).
package enum Sanitizer {
    private static let names: Set = ["ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"]

    /// Variables that tell a program where to write a sanitizer's report, or the counters of `make coverage`; usually empty.
    package static let environment = ProcessInfo.processInfo.environment.filter { name, _ in
        names.contains(name) || name == "LLVM_PROFILE_FILE"
    }

    /// Programs take several times the memory and the time: neither is measured then.
    package static var isOn: Bool { environment.keys.contains { names.contains($0) } }
}
