import Foundation

/// Whether these tests run under AddressSanitizer or ThreadSanitizer (`make sanitize`).
package enum Sanitizer {
    /// What tells a sanitized program where to report; empty otherwise.
    package static let environment = ProcessInfo.processInfo.environment.filter { name, _ in
        ["ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"].contains(name)
    }

    /// Programs take several times the memory and the time: neither is measured then.
    package static var isOn: Bool { !environment.isEmpty }
}
