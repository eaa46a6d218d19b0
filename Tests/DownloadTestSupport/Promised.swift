import Foundation

/// Returns the time limit in tests for something that is promised within `limit`. It is several times as long, because
/// on a busy machine a process may not run for seconds. It is exactly `limit` if `DLM_TEST_PROMISES` is set and there
/// is no sanitizer.
package func promised(within limit: Duration) -> Duration {
    let isExact = ProcessInfo.processInfo.environment["DLM_TEST_PROMISES"] != nil && !Sanitizer.isOn
    return isExact ? limit : max(limit * 5, .seconds(20))
}
