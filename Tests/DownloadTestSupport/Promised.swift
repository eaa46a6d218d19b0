import Foundation

/// Returns how long a test lets something take that is promised within `limit`. The result is several times the limit,
/// because on a busy machine a process may stop for seconds. With `DLM_TEST_PROMISES` set and no sanitizer on, it is
/// exactly the limit.
package func promised(within limit: Duration) -> Duration {
    let isExact = ProcessInfo.processInfo.environment["DLM_TEST_PROMISES"] != nil && !Sanitizer.isOn
    return isExact ? limit : max(limit * 5, .seconds(20))
}
